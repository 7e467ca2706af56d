import { listView, VIEW_KEYS } from '../views/views.ts';
import {
  addLine,
  deleteLine,
  driftLine,
  editLine,
  editTextLine,
  exportLine,
  jumpLine,
  useLine,
} from '../table/commands.ts';
import type { Keymap } from '../state.ts';
import {
  isAsked,
  noAdd,
  noDelete,
  noDevice,
  noList,
  noRow,
  noSet,
  noSetOfMarked,
  noUndo,
  nothingFound,
  nothingMarked,
  nothingToCompare,
  oneDevice,
  onlyInList,
  type Reason,
} from './disabled-keys.ts';
import { key, keysOf, lineKey, startKey } from './bind.ts';
import { FORM_KEYS, PROMPT_KEYS, QUESTION_KEYS } from './prompt-keys.ts';

/** Texts have at least a line, and the help asks here while it is made: they are not looked at. */
const nothingToPage: Reason = (state) => {
  if (state.overlay.kind === 'none') return noRow(state);
  const list = listView(state);
  return list?.count === 0 ? list.empty : undefined;
};

/** The table, and its filter. */
const TABLE_KEYS: Keymap = [
  ...keysOf('table', 'In the table', [
    key([':', 'i'], 'go-prompt', 'to the prompt', { hint: [1, 'prompt'] }),
    key(
      ['escape'],
      'back',
      'clear the filter and the marks; else back to the view before; then nothing',
    ),
    key(['down', 'j'], 'down', 'down'),
    key(['up', 'k'], 'up', 'up'),
    key(['left', 'h'], 'left', 'columns to the left'),
    key(['right', 'l'], 'right', 'columns to the right'),
    key(['g', 'home'], 'first', 'first row'),
    key(['G', 'end'], 'last', 'last row'),
    key(['pagedown', 'ctrl-f'], 'page-down', 'a page down'),
    key(['pageup', 'ctrl-b'], 'page-up', 'a page up'),
    key(['ctrl-d'], 'half-down', 'half a page down'),
    key(['ctrl-u'], 'half-up', 'half a page up'),
    key(['/'], 'filter', 'filter as you type', {
      hint: [3, 'filter'],
      command: 'user list FILTER',
      disabled: noDevice,
    }),
    key(['s'], 'sort', 'sort by the next column', {
      hint: [8, 'sort'],
      command: 'user list --sort FIELD',
      disabled: noList,
    }),
    key(['S'], 'sort-more', 'sort by one more column, after those before', {
      command: 'user list --sort FIELD,FIELD',
    }),
    key(['o'], 'reverse', 'turn the order of the last sorted column around', {
      command: 'user list --sort -FIELD',
      disabled: noList,
    }),
    key(['f'], 'fold', 'fold records that are the same on several devices', {
      hint: [9, 'fold'],
      command: 'user list --fold',
      disabled: oneDevice,
    }),
    key(['w'], 'watch', 'read again every 5 s, and show what changed; again: no longer', {
      command: 'user list --watch',
    }),
    key(['z'], 'fold-row', 'unfold this row alone, or fold it again'),
    key(['space'], 'mark', 'mark the row on all its devices', {
      hint: [7, 'mark'],
      disabled: noRow,
    }),
    key(['v'], 'mark-range', 'mark all rows that the cursor passes; again: that is all'),
    key(['shift-down'], 'range-down', 'mark from here down'),
    key(['shift-up'], 'range-up', 'mark from here up'),
    key(['*'], 'mark-all', 'mark all rows shown, or none of them', { disabled: noRow }),
    key(['~'], 'mark-invert', 'mark the rows shown that are not marked, and no others'),
    key(['enter'], 'details', 'every field, device by device', {
      hint: [2, 'details'],
      command: 'user show KEY',
      disabled: noRow,
    }),
    key(['a'], 'add-form', 'add a record, in a form', {
      hint: [4, 'add'],
      command: 'user add FIELD=VALUE…',
      disabled: noAdd,
    }),
    key(
      ['e'],
      'edit-form',
      'change the record, in a form; several marked ones, as text in $EDITOR',
      { hint: [5, 'edit'], command: 'user set KEY FIELD=VALUE…', disabled: noSet },
    ),
    lineKey(
      ['E'],
      'edit-text',
      'change the marked records, or this one, as text in $EDITOR',
      editTextLine,
      { command: 'user edit KEY…', disabled: noSetOfMarked },
    ),
    lineKey(['d'], 'delete', 'delete the marked records, or this one', deleteLine, {
      hint: [6, 'delete'],
      command: 'user delete KEY…',
      disabled: noDelete,
    }),
    lineKey(['u'], 'undo', 'take the last run back', () => 'undo', {
      hint: [6.5, 'undo'],
      command: 'undo',
      disabled: noUndo,
    }),
    lineKey(['R'], 'runs', 'the runs, to resume, retry or undo', () => 'runs', {
      hint: [9.5, 'runs'],
      command: 'runs',
    }),
    lineKey(['tab'], 'next-device', 'the next device, then all', (state) => useLine(state, 1), {
      hint: [10, 'device'],
      command: 'use DEVICE',
      disabled: oneDevice,
    }),
    lineKey(['shift-tab'], 'previous-device', 'the device before', (state) => useLine(state, -1), {
      command: 'use DEVICE',
      disabled: oneDevice,
    }),
    lineKey(
      ['1', '2', '3', '4', '5', '6', '7', '8', '9'],
      'jump-device',
      'the first device, the second…',
      jumpLine,
      { command: 'use DEVICE', disabled: noDevice },
    ),
    lineKey(['0'], 'all-devices', 'all devices', () => 'use all', {
      command: 'use all',
      disabled: noDevice,
    }),
    key(['r'], 'refresh', 'read again, failed devices too', {
      hint: [11, 'refresh'],
      command: 'user list',
      disabled: noDevice,
    }),
    key(['y'], 'copy', 'copy the marked records, or this one, as commands', {
      disabled: nothingMarked,
    }),
    key(['|'], 'page-out', 'the whole table in $PAGER, nothing cut off', {
      disabled: nothingToPage,
    }),
    startKey(['x'], 'export', 'write what the table shows to a file', exportLine, {
      command: 'export RESOURCE FILTER --output FILE',
      disabled: noDevice,
    }),
    startKey(['A'], 'add', 'add a record, at the prompt', addLine, { disabled: noAdd }),
    startKey(['C'], 'edit-record', 'change the record, at the prompt', editLine, {
      disabled: noSet,
    }),
    lineKey(['D'], 'devices', 'the connected devices', () => 'devices', {
      hint: [10.2, 'devices'],
      command: 'devices',
      disabled: noDevice,
    }),
    lineKey(['b'], 'resources', 'browse what else the devices have', () => 'resources', {
      hint: [10.4, 'resources'],
      command: 'resources',
      disabled: noDevice,
    }),
    lineKey(['c'], 'drift', 'compare the devices, record by record', driftLine, {
      hint: [10.6, 'compare'],
      command: 'user list --drift',
      disabled: nothingToCompare,
    }),
    key(['m'], 'messages', 'all messages of this session', { hint: [12, 'messages'] }),
    key(['?', 'f1'], 'help', 'this help', { hint: [3.5, 'help'], command: 'help' }),
    key(['q'], 'quit', 'leave', { hint: [13, 'leave'], command: 'quit' }),
  ]),
];

/** Every key but those that edit a line (`line.ts`). Footer and help are made from it, in this order. */
export const KEYMAP: Keymap = [
  ...TABLE_KEYS,
  ...PROMPT_KEYS,
  ...keysOf('filter', 'While typing a filter', [
    key(['enter'], 'keep-filter', 'keep the filter', { hint: [1, 'keep'] }),
    key(['escape', 'ctrl-c'], 'clear-filter', 'clear the filter', { hint: [2, 'clear'] }),
    key(['down'], 'down', 'down'),
    key(['up'], 'up', 'up'),
  ]),
  ...FORM_KEYS,
  ...QUESTION_KEYS,
  ...VIEW_KEYS,
  ...keysOf('find', 'While searching in a view', [
    key(['enter'], 'keep-find', 'keep what was found; n and N go on', {
      hint: [1, 'keep, then n and N'],
    }),
    key(['escape', 'ctrl-c'], 'clear-find', 'search no more', { hint: [2, 'clear'] }),
    key(['down'], 'next-found', 'the next line that has it', {
      hint: [3, 'next'],
      disabled: nothingFound,
    }),
    key(['up'], 'previous-found', 'the line before that has it', { disabled: nothingFound }),
  ]),
  ...keysOf('overlay', 'In texts like this one, and in lists', [
    key(['escape', 'q', 'enter'], 'close', 'back; what was searched for goes first', {
      hint: [1, 'back'],
    }),
    key(['down', 'j'], 'down', 'down', { hint: [2, 'scroll'] }),
    key(['up', 'k'], 'up', 'up'),
    key(['pagedown', 'space', 'ctrl-f'], 'page-down', 'a page down', { hint: [3, 'page'] }),
    key(['pageup', 'ctrl-b'], 'page-up', 'a page up'),
    key(['ctrl-d'], 'half-down', 'half a page down'),
    key(['ctrl-u'], 'half-up', 'half a page up'),
    key(['g', 'home'], 'first', 'to the start'),
    key(['G', 'end'], 'last', 'to the end'),
    key(['/'], 'find', 'search as you type; a list shows only what has it', {
      hint: [4, 'search'],
    }),
    key(['n'], 'next-found', 'the next line that has it', { disabled: nothingFound }),
    key(['N'], 'previous-found', 'the line before that has it', { disabled: nothingFound }),
    key(['&'], 'only-found', 'of a text only the lines that have it, or all again', {
      disabled: onlyInList,
    }),
    key(['s'], 'sort', 'sort a list by the next column', { disabled: noList }),
    key(['o'], 'reverse', 'turn the order of a list around', { disabled: noList }),
    key(['|'], 'page-out', 'the same text or list in $PAGER', { disabled: nothingToPage }),
    key([':', 'i'], 'go-prompt', 'to the prompt', { hint: [6, 'prompt'] }),
    key(['?', 'f1'], 'help', 'this help', { hint: [9, 'help'] }),
    lineKey(['D'], 'devices', 'the connected devices', () => 'devices', {
      command: 'devices',
      disabled: noDevice,
    }),
    lineKey(['b'], 'resources', 'browse what else the devices have', () => 'resources', {
      command: 'resources',
      disabled: noDevice,
    }),
    lineKey(['R'], 'runs', 'the runs', () => 'runs', { command: 'runs' }),
  ]),
  ...keysOf('anywhere', 'Everywhere', [
    key(
      ['ctrl-c'],
      'interrupt',
      'stop a write; else clear the line; else stop reading; at rest twice: leave',
    ),
    key(['ctrl-l'], 'repaint', 'draw the screen anew'),
    key(['ctrl-z'], 'suspend', 'back to the shell that started devsh; "fg" returns'),
    key(['f2'], 'questions', 'the certificates and logins that devices wait for', {
      command: 'questions',
      disabled: isAsked,
    }),
  ]),
];
