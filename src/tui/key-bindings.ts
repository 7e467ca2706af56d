import type { ViewAction } from './actions.ts';
import type { KeyName } from './terminal/key-name.ts';

const EFFECTS = [
  'run-line',
  'complete',
  'edit-line',
  'interrupt',
  'end-of-input',
  'quit',
  'repaint',
  'suspend',
  'add',
  'edit-record',
  'edit-text',
  'add-form',
  'edit-form',
  'run-form',
  'delete',
  'undo',
  'devices',
  'resources',
  'drift',
  'open-device',
  'connect-device',
  'disconnect-device',
  'trust-device',
  'open-resource',
  'compare-again',
  'runs',
  'show-run',
  'resume-run',
  'retry-run',
  'undo-run',
  'report-run',
  'refresh',
  'jump-device',
  'all-devices',
  'next-device',
  'previous-device',
  'copy',
  'answer',
  'decline',
  'search-run',
] as const;

/** What a key asks of the controller: commands, completion, history, clipboard, the terminal. */
export type Effect = (typeof EFFECTS)[number];

/** Who gets the key; `waiting`: a question that has just come up gets none yet. */
export type Context =
  | 'waiting'
  | 'question'
  | 'plan'
  | 'runs'
  | 'devices'
  | 'resources'
  | 'drift'
  | 'find'
  | 'overlay'
  | 'form'
  | 'form-switch'
  | 'form-choice'
  | 'form-pick'
  | 'form-run'
  | 'filter'
  | 'search'
  | 'menu'
  | 'prompt'
  | 'table';

export interface KeyBinding {
  /** Each does the same; one of several presses is written with blanks: `ctrl-x ctrl-e`. */
  readonly keys: readonly KeyName[];
  readonly context: Context | 'anywhere';
  readonly action: ViewAction | Effect;
  readonly label: string;
  /** Shown in the footer, in this order of importance. */
  readonly hint?: { readonly rank: number; readonly text: string };
  /** The line that does the same. */
  readonly command?: string;
}

/** All keys with their meaning, as they hold for this user. */
export type Keymap = readonly KeyBinding[];

export function isEffect(action: ViewAction | Effect): action is Effect {
  return EFFECTS.some((effect) => effect === action);
}

/** Every key but those that edit a line (`line.ts`). Footer and help are made from it. */
export const KEYMAP: Keymap = [
  bind('prompt', ['enter'], 'run-line', 'run the line', { rank: 1, text: 'run' }),
  bind('prompt', ['tab'], 'complete', 'complete the word; to the table when nothing is typed', {
    rank: 2,
    text: 'complete',
  }),
  bind('prompt', ['escape'], 'go-table', 'to the table', { rank: 3, text: 'table' }),
  bind('prompt', ['up', 'ctrl-p'], 'history-back', 'the line before, from history', {
    rank: 5,
    text: 'history',
  }),
  bind('prompt', ['down', 'ctrl-n'], 'history-forth', 'the line after'),
  bind('prompt', ['ctrl-r'], 'search', 'search in history', { rank: 6, text: 'search' }),
  bind('prompt', ['ctrl-d'], 'end-of-input', 'leave, when nothing is typed', {
    rank: 7,
    text: 'leave',
  }),
  bind('prompt', ['ctrl-x ctrl-e'], 'edit-line', 'edit the line in $EDITOR, and come back with it'),
  bind('prompt', ['pageup'], 'page-up', 'scroll the table back'),
  bind('prompt', ['pagedown'], 'page-down', 'scroll the table on'),
  bind('prompt', ['f1'], 'help', 'this help', { rank: 4, text: 'help' }),

  bind('menu', ['tab', 'down'], 'menu-next', 'the next proposal', { rank: 1, text: 'next' }),
  bind('menu', ['shift-tab', 'up'], 'menu-back', 'the proposal before', { rank: 3, text: 'back' }),
  bind('menu', ['enter'], 'menu-accept', 'take the chosen proposal; without one, run the line', {
    rank: 2,
    text: 'take',
  }),
  bind('menu', ['escape'], 'menu-close', 'close the menu', { rank: 4, text: 'close' }),

  bind('search', ['ctrl-r', 'up'], 'search', 'the match before', { rank: 2, text: 'older' }),
  bind('search', ['enter'], 'search-run', 'run the line found', { rank: 1, text: 'run' }),
  bind('search', ['tab', 'right', 'left'], 'search-accept', 'take the line to edit it', {
    rank: 3,
    text: 'edit it',
  }),
  bind('search', ['escape', 'ctrl-g', 'ctrl-c'], 'search-cancel', 'back to the line before', {
    rank: 4,
    text: 'cancel',
  }),

  bind('table', [':', 'i'], 'go-prompt', 'to the prompt', { rank: 1, text: 'prompt' }),
  bind(
    'table',
    ['escape'],
    'back',
    'clear the filter and the marks; back to the view before, at last to the prompt',
  ),
  bind('table', ['down', 'j'], 'down', 'down'),
  bind('table', ['up', 'k'], 'up', 'up'),
  bind('table', ['left', 'h'], 'left', 'columns to the left'),
  bind('table', ['right', 'l'], 'right', 'columns to the right'),
  bind('table', ['g', 'home'], 'first', 'first row'),
  bind('table', ['G', 'end'], 'last', 'last row'),
  bind('table', ['pagedown', 'ctrl-f'], 'page-down', 'a page down'),
  bind('table', ['pageup', 'ctrl-b'], 'page-up', 'a page up'),
  bind('table', ['ctrl-d'], 'half-down', 'half a page down'),
  bind('table', ['ctrl-u'], 'half-up', 'half a page up'),
  bind(
    'table',
    ['/'],
    'filter',
    'filter as you type',
    { rank: 3, text: 'filter' },
    'user list FILTER',
  ),
  bind(
    'table',
    ['s'],
    'sort',
    'sort by the next column',
    { rank: 8, text: 'sort' },
    'user list --sort FIELD',
  ),
  bind(
    'table',
    ['S'],
    'sort-more',
    'sort by one more column, after those before',
    undefined,
    'user list --sort FIELD,FIELD',
  ),
  bind(
    'table',
    ['o'],
    'reverse',
    'turn the order of the last sorted column around',
    undefined,
    'user list --sort -FIELD',
  ),
  bind(
    'table',
    ['f'],
    'fold',
    'fold records that are the same on several devices',
    { rank: 9, text: 'fold' },
    'user list --fold',
  ),
  bind(
    'table',
    ['w'],
    'watch',
    'read again every 5 s, and show what changed; again: no longer',
    undefined,
    'user list --watch',
  ),
  bind('table', ['z'], 'fold-row', 'unfold this row alone, or fold it again'),
  bind('table', ['space'], 'mark', 'mark the row on all its devices', { rank: 7, text: 'mark' }),
  bind('table', ['v'], 'mark-range', 'mark all rows that the cursor passes; again: that is all'),
  bind('table', ['shift-down'], 'range-down', 'mark from here down'),
  bind('table', ['shift-up'], 'range-up', 'mark from here up'),
  bind('table', ['*'], 'mark-all', 'mark all rows shown, or none of them'),
  bind('table', ['~'], 'mark-invert', 'mark the rows shown that are not marked, and no others'),
  bind(
    'table',
    ['enter'],
    'details',
    'every field, device by device',
    { rank: 2, text: 'details' },
    'user show KEY',
  ),
  bind(
    'table',
    ['a'],
    'add-form',
    'add a record, in a form',
    { rank: 4, text: 'add' },
    'user add FIELD=VALUE…',
  ),
  bind(
    'table',
    ['e'],
    'edit-form',
    'change the record, in a form; several marked ones, as text in $EDITOR',
    { rank: 5, text: 'edit' },
    'user set KEY FIELD=VALUE…',
  ),
  bind(
    'table',
    ['E'],
    'edit-text',
    'change the marked records, or this one, as text in $EDITOR',
    undefined,
    'user edit KEY…',
  ),
  bind(
    'table',
    ['d'],
    'delete',
    'delete the marked records, or this one',
    { rank: 6, text: 'delete' },
    'user delete KEY… --on DEVICES',
  ),
  bind('table', ['u'], 'undo', 'take the last run back', { rank: 6.5, text: 'undo' }, 'undo'),
  bind(
    'table',
    ['R'],
    'runs',
    'the runs, to resume, retry or undo',
    { rank: 9.5, text: 'runs' },
    'runs',
  ),
  bind(
    'table',
    ['tab'],
    'next-device',
    'the next device, then all',
    { rank: 10, text: 'device' },
    'use DEVICE',
  ),
  bind('table', ['shift-tab'], 'previous-device', 'the device before', undefined, 'use DEVICE'),
  bind(
    'table',
    ['1', '2', '3', '4', '5', '6', '7', '8', '9'],
    'jump-device',
    'the first device, the second…',
    undefined,
    'use DEVICE',
  ),
  bind('table', ['0'], 'all-devices', 'all devices', undefined, 'use all'),
  bind(
    'table',
    ['r'],
    'refresh',
    'read again, failed devices too',
    { rank: 11, text: 'refresh' },
    'user list',
  ),
  bind('table', ['y'], 'copy', 'copy the marked records, or this one, as commands'),
  bind('table', ['A'], 'add', 'add a record, at the prompt'),
  bind('table', ['C'], 'edit-record', 'change the record, at the prompt'),
  bind(
    'table',
    ['D'],
    'devices',
    'the connected devices',
    { rank: 10.2, text: 'devices' },
    'devices',
  ),
  bind(
    'table',
    ['b'],
    'resources',
    'browse what else the devices have',
    { rank: 10.4, text: 'resources' },
    'resources',
  ),
  bind(
    'table',
    ['c'],
    'drift',
    'compare the devices, record by record',
    { rank: 10.6, text: 'compare' },
    'user list --drift',
  ),
  bind('table', ['m'], 'messages', 'all messages of this session', { rank: 12, text: 'messages' }),
  bind('table', ['?', 'f1'], 'help', 'this help', { rank: 3.5, text: 'help' }, 'help'),
  bind('table', ['q'], 'quit', 'leave', { rank: 13, text: 'leave' }, 'quit'),

  bind('filter', ['enter'], 'keep-filter', 'keep the filter', { rank: 1, text: 'keep' }),
  bind('filter', ['escape', 'ctrl-c'], 'clear-filter', 'clear the filter', {
    rank: 2,
    text: 'clear',
  }),
  bind('filter', ['down'], 'down', 'down'),
  bind('filter', ['up'], 'up', 'up'),

  bind('overlay', ['escape', 'q', 'enter'], 'close', 'back; what was searched for goes first', {
    rank: 1,
    text: 'back',
  }),
  bind('overlay', ['down', 'j'], 'down', 'down', { rank: 2, text: 'scroll' }),
  bind('overlay', ['up', 'k'], 'up', 'up'),
  bind('overlay', ['pagedown', 'space', 'ctrl-f'], 'page-down', 'a page down', {
    rank: 3,
    text: 'page',
  }),
  bind('overlay', ['pageup', 'ctrl-b'], 'page-up', 'a page up'),
  bind('overlay', ['ctrl-d'], 'half-down', 'half a page down'),
  bind('overlay', ['ctrl-u'], 'half-up', 'half a page up'),
  bind('overlay', ['g', 'home'], 'first', 'to the start'),
  bind('overlay', ['G', 'end'], 'last', 'to the end'),
  bind('overlay', ['/'], 'find', 'search in the text', { rank: 4, text: 'search' }),
  bind('overlay', ['n'], 'next-found', 'the next line that has it'),
  bind('overlay', ['N'], 'previous-found', 'the line before that has it'),
  bind('overlay', [':', 'i'], 'go-prompt', 'to the prompt', { rank: 6, text: 'prompt' }),
  bind('overlay', ['?', 'f1'], 'help', 'this help', { rank: 9, text: 'help' }),
  bind('overlay', ['D'], 'devices', 'the connected devices', undefined, 'devices'),
  bind('overlay', ['b'], 'resources', 'browse what else the devices have', undefined, 'resources'),
  bind('overlay', ['R'], 'runs', 'the runs', undefined, 'runs'),

  bind('find', ['enter'], 'keep-find', 'keep what was found; n and N go on', {
    rank: 1,
    text: 'keep, then n and N',
  }),
  bind('find', ['escape', 'ctrl-c'], 'clear-find', 'search no more', { rank: 2, text: 'clear' }),
  bind('find', ['down'], 'next-found', 'the next line that has it', { rank: 3, text: 'next' }),
  bind('find', ['up'], 'previous-found', 'the line before that has it'),

  bind('form', ['enter', 'down', 'tab', 'ctrl-n'], 'next-field', 'to the next field', {
    rank: 1,
    text: 'next',
  }),
  bind('form', ['up', 'shift-tab', 'ctrl-p'], 'previous-field', 'to the field before'),
  bind('form', ['pagedown'], 'fields-on', 'several fields on; at last the command'),
  bind('form', ['pageup'], 'fields-back', 'several fields back'),
  bind('form', ['ctrl-s'], 'run-form', 'run the command of the form', { rank: 2, text: 'run' }),
  bind(
    'form',
    ['escape'],
    'close-form',
    'close the form; what was typed is kept for the next time',
    {
      rank: 3,
      text: 'close',
    },
  ),
  bind('form', ['f1'], 'help', 'this help', { rank: 4, text: 'help' }),
  bind('form-switch', ['space', 'left', 'right'], 'switch', 'true or false', {
    rank: 0,
    text: 'switch',
  }),
  bind('form-choice', ['space'], 'open-choices', 'show all choices; typing shows those that fit', {
    rank: 0,
    text: 'choices',
  }),
  bind('form-choice', ['right'], 'choice-next', 'the next choice'),
  bind('form-choice', ['left'], 'choice-back', 'the choice before'),
  bind('form-pick', ['enter', 'tab'], 'take-choice', 'take the choice', { rank: 1, text: 'take' }),
  bind('form-pick', ['down', 'ctrl-n'], 'choice-next', 'the next choice', {
    rank: 2,
    text: 'next',
  }),
  bind('form-pick', ['up', 'shift-tab', 'ctrl-p'], 'choice-back', 'the choice before'),
  bind('form-pick', ['escape'], 'close-choices', 'leave the field as it was', {
    rank: 3,
    text: 'back',
  }),
  bind('form-run', ['enter'], 'run-form', 'run it', { rank: 0, text: 'run' }),

  bind('question', ['enter'], 'answer', 'answer', { rank: 1, text: 'answer' }),
  bind('question', ['escape', 'ctrl-d'], 'decline', 'no', { rank: 2, text: 'no' }),
  bind(
    'runs',
    ['enter'],
    'show-run',
    'plan and verdicts',
    { rank: 1, text: 'show' },
    'run show RUN',
  ),
  bind('runs', ['r'], 'resume-run', 'go on with it', { rank: 2, text: 'resume' }, 'resume RUN'),
  bind(
    'runs',
    ['t'],
    'retry-run',
    'try what failed again',
    { rank: 3, text: 'retry' },
    'retry RUN',
  ),
  bind('runs', ['u'], 'undo-run', 'take it back', { rank: 4, text: 'undo' }, 'undo RUN'),
  bind('runs', ['p'], 'report-run', 'report it', { rank: 5, text: 'report' }, 'report RUN'),
  bind('runs', ['escape', 'q'], 'close', 'back', { rank: 6, text: 'back' }),

  bind(
    'devices',
    ['enter'],
    'open-device',
    'use this device alone, and show its records',
    { rank: 1, text: 'open' },
    'use DEVICE',
  ),
  bind(
    'devices',
    ['c', 'r'],
    'connect-device',
    'connect again',
    { rank: 2, text: 'connect again' },
    'connect DEVICE',
  ),
  bind(
    'devices',
    ['x'],
    'disconnect-device',
    'close the connection',
    { rank: 3, text: 'disconnect' },
    'disconnect DEVICE',
  ),
  bind(
    'devices',
    ['t'],
    'trust-device',
    'compare its certificate with the pin; trust it where it is new or another',
    { rank: 4, text: 'trust' },
    'trust scan DEVICE',
  ),
  bind('devices', ['escape', 'q'], 'close', 'back', { rank: 5, text: 'back' }),
  bind(
    'resources',
    ['enter'],
    'open-resource',
    'its records',
    { rank: 1, text: 'open' },
    'RESOURCE list',
  ),
  bind('resources', ['escape', 'q'], 'close', 'back', { rank: 2, text: 'back' }),
  bind(
    'drift',
    ['enter'],
    'details',
    'every field, device by device',
    { rank: 1, text: 'details' },
    'user show KEY',
  ),
  bind('drift', ['f'], 'whole', 'also what is the same on all devices, or not', {
    rank: 2,
    text: 'all or differences',
  }),
  bind('drift', ['right', 'l'], 'right', 'devices to the right', { rank: 3, text: 'devices' }),
  bind('drift', ['left', 'h'], 'left', 'devices to the left'),
  bind(
    'drift',
    ['r'],
    'compare-again',
    'compare again',
    { rank: 4, text: 'again' },
    'user list --drift',
  ),
  bind('drift', ['escape', 'q'], 'close', 'back', { rank: 5, text: 'back' }),

  bind('plan', ['tab'], 'unfold', 'the plan device by device, or folded again', {
    rank: 4,
    text: 'unfold',
  }),
  bind('question', ['down'], 'down', 'scroll what is above', { rank: 3, text: 'scroll' }),
  bind('question', ['up'], 'up', 'scroll back'),
  bind('question', ['pagedown'], 'page-down', 'scroll a page'),
  bind('question', ['pageup'], 'page-up', 'scroll a page back'),

  bind('anywhere', ['ctrl-c'], 'interrupt', 'cancel what runs; otherwise clear the line'),
  bind('anywhere', ['ctrl-l'], 'repaint', 'draw the screen anew'),
  bind('anywhere', ['ctrl-z'], 'suspend', 'back to the shell that started devsh; "fg" returns'),
];

function bind(
  context: KeyBinding['context'],
  keys: readonly KeyName[],
  action: KeyBinding['action'],
  label: string,
  hint?: KeyBinding['hint'],
  command?: string,
): KeyBinding {
  return {
    context,
    keys,
    action,
    label,
    ...(hint !== undefined && { hint }),
    ...(command !== undefined && { command }),
  };
}
