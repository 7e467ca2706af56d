import { DEVICES } from '../grammar/options.ts';
import { command, later } from '../command.ts';

export const watch = command({
  name: 'watch',
  brief: 'Carry out a line again and again',
  section: 'Shell',
  takesLine: true,
  summary: 'Carry out a line that changes nothing again and again, until Ctrl-C',
  args: [{ name: 'LINE', summary: 'a command with its options', isRequired: true, isRest: true }],
  options: ['intervalMs', ...DEVICES, 'profile'],
  details:
    'Everything behind the command belongs to the line. What could write is refused. While no device\n' +
    'can be reached, the wait doubles up to a minute. "user list --watch" shows only what changed.',
  examples: [
    'watch devices',
    'watch --interval 30 user list --drift --on @berlin',
    'watch get /api/status/ --on fw1 --format jsonl',
  ],
  run: later(async () => (await import('../watch.ts')).watchLine),
});
