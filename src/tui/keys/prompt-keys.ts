import { bind } from './key-binding.ts';
import type { Keymap } from '../state.ts';

/** The prompt, and what opens at it: proposals, the search in history. */
export const PROMPT_KEYS: Keymap = [
  bind('prompt', ['enter'], 'run-line', 'run the line', { rank: 1, text: 'run' }),
  bind('prompt', ['tab'], 'complete', 'complete the word; to the table when nothing is typed', {
    rank: 2,
    text: 'complete',
  }),
  bind('prompt', ['escape'], 'go-table', 'to the table, or the view over it', {
    rank: 3,
    text: 'table',
  }),
  bind('prompt', ['up', 'ctrl-p'], 'history-back', 'the line before, from history', {
    rank: 5,
    text: 'history',
  }),
  bind('prompt', ['down', 'ctrl-n'], 'history-forth', 'the line after'),
  bind(
    'prompt',
    // Not Alt-_ as well: terminals send it as the start of a string (APC), which has no end then.
    ['alt-.'],
    'last-argument',
    'the last word of the line before; again: older',
  ),
  bind('prompt', ['ctrl-r'], 'search', 'search in history', { rank: 6, text: 'search' }),
  bind('prompt', ['ctrl-d'], 'end-of-input', 'leave, when nothing is typed', {
    rank: 7,
    text: 'leave',
  }),
  bind('prompt', ['ctrl-x ctrl-e'], 'edit-line', 'edit the line in $EDITOR, and come back with it'),
  bind('prompt', ['pageup'], 'page-up', 'scroll the table back'),
  bind('prompt', ['pagedown'], 'page-down', 'scroll the table on'),
  bind('prompt', ['f1'], 'help', 'this help', { rank: 4, text: 'help' }),

  bind(
    'empty-prompt',
    ['/', '?'],
    'press-in-table',
    'filter or search, and help: as if pressed in the table',
  ),

  bind('menu', ['tab', 'down'], 'menu-next', 'the next proposal', { rank: 1, text: 'next' }),
  bind('menu', ['shift-tab', 'up'], 'menu-back', 'the proposal before', { rank: 3, text: 'back' }),
  bind('menu', ['enter'], 'menu-accept', 'take the chosen proposal; without one, run the line', {
    rank: 2,
    text: 'take',
  }),
  bind('menu', ['escape'], 'menu-close', 'close the menu', { rank: 4, text: 'close' }),

  bind('search', ['ctrl-r', 'up'], 'search', 'the match before', { rank: 2, text: 'older' }),
  bind(
    'search',
    ['enter', 'tab', 'right', 'left'],
    'search-accept',
    'take the line; Enter runs it then',
    {
      rank: 1,
      text: 'take',
    },
  ),
  bind('search', ['escape', 'ctrl-g', 'ctrl-c'], 'search-cancel', 'back to the line before', {
    rank: 4,
    text: 'cancel',
  }),
];

/** A form, and the kinds of its fields. */
export const FORM_KEYS: Keymap = [
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
];

/** Questions, and the plan that one is about. */
export const QUESTION_KEYS: Keymap = [
  bind('question', ['enter'], 'answer', 'answer', { rank: 1, text: 'answer' }),
  bind('question', ['escape', 'ctrl-d'], 'decline', 'no', { rank: 2, text: 'no' }),
  bind('question', ['down'], 'down', 'scroll what is above', { rank: 3, text: 'scroll' }),
  bind('question', ['up'], 'up', 'scroll back'),
  bind('question', ['pagedown'], 'page-down', 'scroll a page'),
  bind('question', ['pageup'], 'page-up', 'scroll a page back'),

  bind('plan', ['tab'], 'unfold', 'the plan device by device, or folded again', {
    rank: 4,
    text: 'unfold',
  }),
  bind('plan', ['/'], 'find', 'search in the plan as you type', { rank: 5, text: 'search' }),
  bind('plan-find', ['enter'], 'keep-find', 'keep what was found, and go on with the answer', {
    rank: 1,
    text: 'keep',
  }),
];

/** What holds in every place. */
export const ANYWHERE_KEYS: Keymap = [
  bind(
    'anywhere',
    ['ctrl-c'],
    'interrupt',
    'stop a write; else clear the line; else stop reading; at rest twice: leave',
  ),
  bind('anywhere', ['ctrl-l'], 'repaint', 'draw the screen anew'),
  bind('anywhere', ['ctrl-z'], 'suspend', 'back to the shell that started devsh; "fg" returns'),
  bind(
    'anywhere',
    ['f2'],
    'questions',
    'the certificates and logins that devices wait for',
    undefined,
    'questions',
  ),
];

/** While nothing is set up, on an empty prompt: digits, which begin no command. */
export const FIRST_RUN_KEYS: Keymap = [
  bind(
    'go-on',
    ['1', '2', '3', '4', '5', '6', '7', '8', '9'],
    'go-on',
    'go on with what stands beside the digit',
    { rank: 0.1, text: 'go on' },
  ),
  bind('first-run', ['1'], 'first-demo', 'open the demo', { rank: 0.1, text: 'demo' }, 'demo'),
  bind(
    'first-run',
    ['2'],
    'first-connect',
    'connect to an address',
    { rank: 0.2, text: 'connect' },
    'connect 10.0.0.5',
  ),
  bind(
    'first-run',
    ['3'],
    'first-import',
    'import an inventory',
    { rank: 0.3, text: 'import' },
    'device import ~/.ssh/config',
  ),
  bind(
    'first-run',
    ['4'],
    'first-device',
    'add a device to the inventory',
    { rank: 0.4, text: 'add a device' },
    'device add fw1 10.0.0.5',
  ),
  bind('first-run', ['5'], 'first-help', 'all commands', { rank: 0.5, text: 'commands' }, 'help'),
];
