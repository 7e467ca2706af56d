import { bind, type Keymap } from './key-binding.ts';

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
