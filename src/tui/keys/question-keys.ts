import { bind, type Keymap } from './key-binding.ts';

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
