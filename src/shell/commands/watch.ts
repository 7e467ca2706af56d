import { DEVICES } from '../grammar/options.ts';
import { verb, type CommandSpec } from '../command.ts';

export const watch: CommandSpec = {
  name: 'watch',
  summary: 'Carry out a line again and again',
  section: 'Shell',
  takesLine: true,
  verbs: [
    verb({
      name: '',
      summary: 'Carry out a line that changes nothing again and again, until Ctrl-C',
      args: [
        { name: 'LINE', summary: 'a command with its options', isRequired: true, isRest: true },
      ],
      options: ['intervalMs', ...DEVICES, 'profile'],
      details:
        'Everything behind the command belongs to the line. What could write is refused. While no device\n' +
        'can be reached, the wait doubles up to a minute. "user list --watch" shows only what changed.',
      examples: [
        'watch devices',
        'watch --interval 30 user list --drift --on @berlin',
        'watch get /api/status/ --on fw1 --format jsonl',
      ],
      async *run(call) {
        const { watchLine } = await import('../watch.ts');
        yield* watchLine(call);
      },
    }),
  ],
};
