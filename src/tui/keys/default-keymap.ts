import type { Keymap, Overlay, State } from '../state.ts';
import type { Key } from './key-binding.ts';
import {
  firstOf,
  isAsked,
  key,
  keysOf,
  lineKey,
  noAdd,
  noDelete,
  noDevice,
  noLines,
  noList,
  noRollOut,
  noRow,
  noSetOfMarked,
  noTrouble,
  nothingFound,
  nothingMarked,
  nothingToCompare,
  noUndo,
  oneDevice,
  type Reason,
} from './binding.ts';
import { isTypedView } from './keymap.ts';
import { VIEW_KEYS } from '../views/views.ts';
import {
  ambiguousKeys,
  deleteLine,
  lockoutLine,
  noAccounts,
  driftLine,
  useLine,
} from '../table/commands.ts';
import { PANE_COLUMNS } from '../table/columns.ts';

const PALETTE_LABEL = 'find a key, command, device, group, user, run, setting or help by words';

/** Where Esc leads from the prompt. The keys of a roll-out work only there. */
const WAY_BACK: Partial<Record<Overlay['kind'], string>> = {
  none: 'table',
  'roll-out': 'roll-out: pause or stop',
};

/** The prompt with its proposals and the history search. */
const PROMPT_KEYS: Keymap = [
  ...keysOf('prompt', 'At the prompt', [
    key(['enter'], 'run-line', 'run the line', { hint: [1, 'run'] }),
    key(['tab'], 'complete', 'complete the word; if nothing is typed, go to the table', {
      hint: [2, 'complete'],
    }),
    key(['escape'], 'leave-prompt', 'go to the table; first close what a typed line opened', {
      hint: [
        3,
        (state) => (isTypedView(state) ? 'close' : (WAY_BACK[state.overlay.kind] ?? 'view')),
      ],
    }),
    key(['up'], 'history-back', 'the previous line of the history', { hint: [5, 'history'] }),
    key(['down'], 'history-forth', 'the next line of the history'),
    key(['ctrl-r'], 'search', 'search in history', { hint: [6, 'search'] }),
    key(['ctrl-d'], 'end-of-input', 'leave, if nothing is typed', { hint: [7, 'leave'] }),
    key(['ctrl-x ctrl-e'], 'edit-line', 'edit the line in $EDITOR'),
    key(['pageup'], 'page-up', 'scroll the table back'),
    key(['pagedown'], 'page-down', 'scroll the table forward'),
  ]),
  ...keysOf('empty-prompt', 'At the prompt, while nothing is typed', [
    key(
      ['/', '?', 'down', 'pagedown'],
      'press-in-table',
      'go to the table, where it means the same',
    ),
    key(['q'], 'close-typed', 'close what a typed line opened'),
    key(['ctrl-k'], 'palette', PALETTE_LABEL),
  ]),
  ...keysOf('menu', 'While proposals are open', [
    key(['tab', 'down'], 'menu-next', 'the next proposal', { hint: [1, 'next'] }),
    key(['up'], 'menu-back', 'the previous proposal', { hint: [3, 'back'] }),
    key(['enter'], 'menu-accept', 'take the chosen proposal; without one, run the line', {
      hint: [2, 'take'],
    }),
    key(['escape'], 'menu-close', 'close the menu', { hint: [4, 'close'] }),
  ]),
  ...keysOf('search', 'While searching in history', [
    key(['ctrl-r'], 'search', 'the previous match', { hint: [2, 'older'] }),
    key(['enter'], 'search-accept', 'take the line; Enter then runs it', { hint: [1, 'take'] }),
    key(['escape'], 'search-cancel', 'back to the previous line', { hint: [4, 'cancel'] }),
  ]),
];

const FORM_KEYS: Keymap = [
  ...keysOf('form', 'In a form', [
    key(['enter', 'tab', 'down'], 'next-field', 'to the next field', { hint: [1, 'next'] }),
    key(['up', 'shift-tab'], 'previous-field', 'to the previous field'),
    key(['ctrl-s'], 'run-form', 'run the command of the form', { hint: [2, 'run'] }),
    key(['escape'], 'close-form', 'close the form; devsh keeps what was typed for the next time', {
      hint: [3, 'close'],
    }),
  ]),
  ...keysOf('form-choice', 'On a field with choices', [
    key(['space'], 'open-choices', 'show all choices, or take the other one of two', {
      hint: [0, 'choices'],
    }),
    key(['right'], 'choice-next', 'the next choice'),
    key(['left'], 'choice-back', 'the previous choice'),
  ]),
  ...keysOf('form-pick', 'While choices are open', [
    key(['enter'], 'take-choice', 'take the choice', { hint: [1, 'take'] }),
    key(['down'], 'choice-next', 'the next choice', { hint: [2, 'next'] }),
    key(['up'], 'choice-back', 'the previous choice'),
    key(['escape'], 'close-choices', 'leave the field unchanged', { hint: [3, 'back'] }),
  ]),
  ...keysOf('form-run', 'On the command of a form', [
    key(['enter'], 'run-form', 'run it', { hint: [0, 'run'] }),
  ]),
];

const QUESTION_KEYS: Keymap = [
  ...keysOf('question', 'While a question is open', [
    key(['enter'], 'answer', 'answer', { hint: [1, 'answer'] }),
    key(['escape'], 'decline', 'no', { hint: [2, 'no'] }),
    key(['down'], 'down', 'scroll the text above', { hint: [3, 'scroll'] }),
    key(['up'], 'up', 'scroll back'),
    key(['pagedown'], 'page-down', 'scroll a page'),
    key(['pageup'], 'page-up', 'scroll a page back'),
  ]),
  ...keysOf('plan', 'While a plan is shown', [
    key(['tab'], 'unfold', 'the plan device by device, or folded again', { hint: [4, 'unfold'] }),
    key(['/'], 'find', 'search in the plan as you type', { hint: [5, 'search'] }),
  ]),
];

const noRoomBeside: Reason = ({ size }) =>
  size.columns < PANE_COLUMNS
    ? `details need ${PANE_COLUMNS} columns beside the table: Enter opens them`
    : undefined;

/** Keys that open a view from the table, and from any other view. */
const OPEN_VIEWS: readonly Key<State>[] = [
  lineKey(['R'], 'runs', 'the runs, to resume or undo', () => 'runs', {
    hint: [9.5, 'runs'],
    command: 'runs',
  }),
  lineKey(['T'], 'changes', 'what changed on the devices, when, and who did it', () => 'changes', {
    hint: [13.1, 'changes'],
    command: 'changes',
  }),
  key(['D'], 'devices', 'the connected devices', {
    hint: [10.2, 'devices'],
    command: 'devices',
    disabled: noDevice,
  }),
  lineKey(['b'], 'resources', 'browse the other resources of the devices', () => 'resources', {
    hint: [14, 'resources'],
    command: 'resources',
    disabled: noDevice,
  }),
];

const TABLE_KEYS: Keymap = [
  ...keysOf('table', 'In the table', [
    key([':'], 'go-prompt', 'to the prompt', { hint: [1, 'prompt'] }),
    key(['escape'], 'back', 'clear the filter and the marks; else back to the previous view'),
    key(['down', 'j'], 'down', 'down'),
    key(['up', 'k'], 'up', 'up'),
    key(['g', 'home'], 'first', 'first row'),
    key(['G', 'end'], 'last', 'last row'),
    key(['pagedown'], 'page-down', 'a page down'),
    key(['pageup'], 'page-up', 'a page up'),
    key(['/'], 'filter', 'filter as you type', {
      hint: [3, 'filter'],
      command: 'user list FILTER',
      disabled: noDevice,
    }),
    key(['s'], 'sort', 'sort by the next column', {
      hint: [13.6, 'sort'],
      command: 'user list --sort FIELD',
      disabled: noList,
    }),
    key(['o'], 'reverse', 'reverse the order of the last sorted column', {
      command: 'user list --sort -FIELD',
      disabled: noList,
    }),
    key(['f'], 'fold', 'fold records that are the same on several devices', {
      hint: [13.5, 'fold'],
      command: 'user list --fold',
      disabled: oneDevice,
    }),
    key(['w'], 'watch', 'read again every 5 s and show changes; again: stop', {
      command: 'user list --watch',
    }),
    key(['space'], 'mark', 'mark the row on all its devices', {
      hint: [7, 'mark'],
      disabled: noRow,
    }),
    key(['*'], 'mark-all', 'mark all rows shown, or none of them', { disabled: noRow }),
    key(['enter'], 'details', 'every field, device by device', {
      hint: [2, 'details'],
      command: 'user show KEY',
      disabled: noRow,
    }),
    key(['ctrl-k'], 'palette', PALETTE_LABEL),
    key(['p'], 'pane', 'show or hide the details beside the table', { disabled: noRoomBeside }),
    key(['a'], 'add-form', 'add a record, in a form', {
      hint: [4, 'add'],
      command: 'user add FIELD=VALUE…',
      disabled: noAdd,
    }),
    key(['e'], 'edit-form', 'change the marked records, or this one, in a form', {
      hint: [5, 'edit'],
      command: 'user set KEY… FIELD=VALUE…',
      disabled: firstOf(noSetOfMarked, ambiguousKeys),
    }),
    lineKey(['d'], 'delete', 'delete the marked records, or this one', deleteLine, {
      hint: [6, 'delete'],
      command: 'user delete KEY…',
      disabled: noDelete,
    }),
    lineKey(
      ['L'],
      'lockout',
      'lock the marked accounts out on every device, or this one',
      lockoutLine,
      { command: 'lockout KEY…', disabled: firstOf(noSetOfMarked, noAccounts) },
    ),
    lineKey(['u'], 'undo', 'undo the last run', () => 'undo', {
      hint: [6.5, 'undo'],
      command: 'undo',
      disabled: noUndo,
    }),
    ...OPEN_VIEWS,
    lineKey(['tab'], 'next-device', 'the next device, then all', (state) => useLine(state, 1), {
      hint: [13, 'device'],
      command: 'use DEVICE',
      disabled: oneDevice,
    }),
    lineKey(['shift-tab'], 'previous-device', 'previous device', (state) => useLine(state, -1), {
      command: 'use DEVICE',
      disabled: oneDevice,
    }),
    key(['r'], 'refresh', 'read again, also failed devices', {
      hint: [11, 'refresh'],
      command: 'user list',
      disabled: noDevice,
    }),
    key(['y'], 'copy', 'copy the marked records, or this one, as commands', {
      disabled: nothingMarked,
    }),
    key(['!'], 'trouble', 'the devices that are not connected, by cause', {
      command: 'devices',
      disabled: noTrouble,
    }),
    lineKey(['c'], 'drift', 'compare the devices, record by record', driftLine, {
      hint: [10.6, 'compare'],
      command: 'user list --drift',
      disabled: nothingToCompare,
    }),
    key(['m'], 'messages', 'all messages of this session', { hint: [12, 'messages'] }),
    key(['?'], 'help', 'the keys that matter here', { hint: [3.5, 'help'], command: 'help keys' }),
    key(['q'], 'quit', 'leave', { hint: [12.5, 'leave'], command: 'quit' }),
  ]),
];

/** Every key except those that edit a line (`line.ts`). Footer and help use this order. */
export const KEYMAP: Keymap = [
  ...TABLE_KEYS,
  ...PROMPT_KEYS,
  ...keysOf('filter', 'While typing a filter', [
    key(['enter'], 'keep-filter', 'keep the filter', { hint: [1, 'keep'] }),
    key(['escape'], 'clear-filter', 'clear the filter', { hint: [2, 'clear'] }),
    key(['down'], 'down', 'down'),
    key(['up'], 'up', 'up'),
  ]),
  ...FORM_KEYS,
  ...QUESTION_KEYS,
  ...VIEW_KEYS,
  ...keysOf('find', 'While searching in a view or a plan', [
    key(['enter'], 'keep-find', 'keep the matches; in a view n and N go to the next one', {
      hint: [1, ({ questions: [question] }) => (question ? 'keep' : 'keep, then n and N')],
    }),
    key(['escape'], 'clear-find', 'end the search', { hint: [2, 'clear'] }),
    key(['down'], 'next-found', 'the next match', { hint: [3, 'next'], disabled: nothingFound }),
    key(['up'], 'previous-found', 'the previous match', { disabled: nothingFound }),
  ]),
  ...keysOf('overlay', 'In texts like this one, and in lists', [
    key(['escape', 'q', 'enter'], 'close', 'end the search; else go back', { hint: [2, 'back'] }),
    key(['down', 'j'], 'down', 'down', { hint: [2.1, 'scroll'] }),
    key(['up', 'k'], 'up', 'up'),
    key(['pagedown', 'space'], 'page-down', 'a page down', { hint: [3, 'page'] }),
    key(['pageup'], 'page-up', 'a page up'),
    key(['g', 'home'], 'first', 'to the start'),
    key(['G', 'end'], 'last', 'to the end'),
    key(['/'], 'find', 'search as you type; a list shows only matches', {
      hint: [4, 'search'],
      disabled: noLines,
    }),
    key(['n'], 'next-found', 'the next match', { disabled: nothingFound }),
    key(['N'], 'previous-found', 'the previous match', { disabled: nothingFound }),
    key(['s'], 'sort', 'sort a list by the next column', { disabled: noList }),
    key(['o'], 'reverse', 'reverse the order of a list', { disabled: noList }),
    key([':'], 'go-prompt', 'to the prompt', { hint: [6, 'prompt'] }),
    key(['?'], 'help', 'the keys that matter here', { hint: [9, 'help'] }),
    key(['ctrl-k'], 'palette', PALETTE_LABEL),
    // The footer of a view has its own keys.
    ...OPEN_VIEWS.map((one) => ({ ...one, hint: undefined })),
  ]),
  ...keysOf('anywhere', 'Everywhere', [
    key(
      ['ctrl-c'],
      'interrupt',
      'stop a write; else clear the line; else stop reading; twice when idle: leave',
    ),
    key(['ctrl-l'], 'repaint', 'redraw the screen'),
    key(['ctrl-z'], 'suspend', 'back to the shell that started devsh; "fg" returns'),
    key(['f1'], 'help', 'the keys that matter here', { hint: [4, 'help'], disabled: isAsked }),
    key(['f2'], 'questions', 'the open questions: certificates and logins', {
      command: 'questions',
      disabled: isAsked,
    }),
    key(['f3'], 'roll-out', 'the last run on many devices, device by device', {
      disabled: firstOf(isAsked, noRollOut),
    }),
  ]),
];
