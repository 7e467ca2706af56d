import { bind, type Keymap } from './key-binding.ts';

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
