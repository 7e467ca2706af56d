import { bind, type Keymap } from './key-binding.ts';

/** What holds in every place. */
export const ANYWHERE_KEYS: Keymap = [
  bind('anywhere', ['ctrl-c'], 'interrupt', 'cancel what runs; otherwise clear the line'),
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
