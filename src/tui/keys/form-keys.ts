import { bind, type Keymap } from './key-binding.ts';

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
