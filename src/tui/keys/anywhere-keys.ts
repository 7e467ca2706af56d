import { bind, type Keymap } from './key-binding.ts';

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
