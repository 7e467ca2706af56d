import type { Keymap } from '../state.ts';
import { key, keysOf, lineKey, startKey } from './bind.ts';

/** The prompt, and what opens at it: proposals, the search in history. */
export const PROMPT_KEYS: Keymap = [
  ...keysOf('prompt', 'At the prompt', [
    key(['enter'], 'run-line', 'run the line', { hint: [1, 'run'] }),
    key(['tab'], 'complete', 'complete the word; to the table when nothing is typed', {
      hint: [2, 'complete'],
    }),
    key(['escape'], 'go-table', 'to the table, or the view over it', { hint: [3, 'table'] }),
    key(['up', 'ctrl-p'], 'history-back', 'the line before, from history', {
      hint: [5, 'history'],
    }),
    key(['down', 'ctrl-n'], 'history-forth', 'the line after'),
    // Not Alt-_ as well: terminals send it as the start of a string (APC), which has no end then.
    key(['alt-.'], 'last-argument', 'the last word of the line before; again: older'),
    key(['ctrl-r'], 'search', 'search in history', { hint: [6, 'search'] }),
    key(['ctrl-d'], 'end-of-input', 'leave, when nothing is typed', { hint: [7, 'leave'] }),
    key(['ctrl-x ctrl-e'], 'edit-line', 'edit the line in $EDITOR, and come back with it'),
    key(['pageup'], 'page-up', 'scroll the table back'),
    key(['pagedown'], 'page-down', 'scroll the table on'),
    key(['f1'], 'help', 'this help', { hint: [4, 'help'] }),
  ]),
  ...keysOf('empty-prompt', 'At the prompt, while nothing is typed', [
    key(['/', '?'], 'press-in-table', 'filter or search, and help: as if pressed in the table'),
  ]),
  // Digits begin no command.
  ...keysOf('first-run', 'While nothing is set up yet', [
    lineKey(['1'], 'first-demo', 'open the demo', () => 'demo', {
      hint: [0.1, 'demo'],
      command: 'demo',
    }),
    startKey(['2'], 'first-connect', 'connect to an address', () => 'connect ', {
      hint: [0.2, 'connect'],
      command: 'connect 10.0.0.5',
    }),
    startKey(['3'], 'first-import', 'import an inventory', () => 'device import ', {
      hint: [0.3, 'import'],
      command: 'device import ~/.ssh/config',
    }),
    startKey(['4'], 'first-device', 'add a device to the inventory', () => 'device add ', {
      hint: [0.4, 'add a device'],
      command: 'device add fw1 10.0.0.5',
    }),
    lineKey(['5'], 'first-help', 'all commands', () => 'help', {
      hint: [0.5, 'commands'],
      command: 'help',
    }),
  ]),
  ...keysOf('go-on', 'While nothing is connected, and there is something to go on with', [
    lineKey(
      ['1', '2', '3', '4', '5', '6', '7', '8', '9'],
      'go-on',
      'go on with what stands beside the digit',
      ({ nextSteps }, index) => nextSteps[index]?.line,
      { hint: [0.1, 'go on'] },
    ),
  ]),
  ...keysOf('menu', 'While proposals are open', [
    key(['tab', 'down'], 'menu-next', 'the next proposal', { hint: [1, 'next'] }),
    key(['shift-tab', 'up'], 'menu-back', 'the proposal before', { hint: [3, 'back'] }),
    key(['enter'], 'menu-accept', 'take the chosen proposal; without one, run the line', {
      hint: [2, 'take'],
    }),
    key(['escape'], 'menu-close', 'close the menu', { hint: [4, 'close'] }),
  ]),
  ...keysOf('search', 'While searching in history', [
    key(['ctrl-r', 'up'], 'search', 'the match before', { hint: [2, 'older'] }),
    key(['enter', 'tab', 'right', 'left'], 'search-accept', 'take the line; Enter runs it then', {
      hint: [1, 'take'],
    }),
    key(['escape', 'ctrl-g', 'ctrl-c'], 'search-cancel', 'back to the line before', {
      hint: [4, 'cancel'],
    }),
  ]),
];

/** A form, and the kinds of its fields. */
export const FORM_KEYS: Keymap = [
  ...keysOf('form', 'In a form', [
    key(['enter', 'down', 'tab', 'ctrl-n'], 'next-field', 'to the next field', {
      hint: [1, 'next'],
    }),
    key(['up', 'shift-tab', 'ctrl-p'], 'previous-field', 'to the field before'),
    key(['pagedown'], 'fields-on', 'several fields on; at last the command'),
    key(['pageup'], 'fields-back', 'several fields back'),
    key(['ctrl-s'], 'run-form', 'run the command of the form', { hint: [2, 'run'] }),
    key(['escape'], 'close-form', 'close the form; what was typed is kept for the next time', {
      hint: [3, 'close'],
    }),
    key(['f1'], 'help', 'this help', { hint: [4, 'help'] }),
  ]),
  ...keysOf('form-switch', 'On a field that is true or false', [
    key(['space', 'left', 'right'], 'switch', 'true or false', { hint: [0, 'switch'] }),
  ]),
  ...keysOf('form-choice', 'On a field with choices', [
    key(['space'], 'open-choices', 'show all choices; typing shows those that fit', {
      hint: [0, 'choices'],
    }),
    key(['right'], 'choice-next', 'the next choice'),
    key(['left'], 'choice-back', 'the choice before'),
  ]),
  ...keysOf('form-pick', 'While choices are open', [
    key(['enter', 'tab'], 'take-choice', 'take the choice', { hint: [1, 'take'] }),
    key(['down', 'ctrl-n'], 'choice-next', 'the next choice', { hint: [2, 'next'] }),
    key(['up', 'shift-tab', 'ctrl-p'], 'choice-back', 'the choice before'),
    key(['escape'], 'close-choices', 'leave the field as it was', { hint: [3, 'back'] }),
  ]),
  ...keysOf('form-run', 'On the command of a form', [
    key(['enter'], 'run-form', 'run it', { hint: [0, 'run'] }),
  ]),
];

/** Questions, and the plan that one is about. */
export const QUESTION_KEYS: Keymap = [
  ...keysOf('question', 'When something is asked', [
    key(['enter'], 'answer', 'answer', { hint: [1, 'answer'] }),
    key(['escape', 'ctrl-d'], 'decline', 'no', { hint: [2, 'no'] }),
    key(['down'], 'down', 'scroll what is above', { hint: [3, 'scroll'] }),
    key(['up'], 'up', 'scroll back'),
    key(['pagedown'], 'page-down', 'scroll a page'),
    key(['pageup'], 'page-up', 'scroll a page back'),
  ]),
  ...keysOf('plan', 'When a plan is shown', [
    key(['tab'], 'unfold', 'the plan device by device, or folded again', { hint: [4, 'unfold'] }),
    key(['/'], 'find', 'search in the plan as you type', { hint: [5, 'search'] }),
  ]),
  ...keysOf('plan-find', 'While searching in a plan', [
    key(['enter'], 'keep-find', 'keep what was found, and go on with the answer', {
      hint: [1, 'keep'],
    }),
  ]),
];
