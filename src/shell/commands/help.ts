import { join } from 'node:path';
import { oneLine } from '../../device/text.ts';
import { UsageError } from '../../errors.ts';
import { suggest } from '../../suggest.ts';
import { helpOn, helpOnCommand, helpOnKeys, helpOverview } from '../help.ts';
import type { CommandSpec } from '../spec.ts';

export const help: CommandSpec = {
  name: 'help',
  summary: 'Explain commands',
  section: 'Shell',
  verbs: [
    {
      name: '',
      summary: 'List the commands, or explain one',
      args: [
        {
          name: 'COMMAND',
          summary: 'a command, and one of its verbs; or keys',
          isRest: true,
        },
      ],
      options: [],
      examples: ['help', 'help user', 'help user add', 'help keys'],
      async *run({ args, grammar, session }) {
        const { commands } = grammar;
        const [first, second] = args.words('COMMAND');
        if (first === undefined) {
          yield { kind: 'text', name: 'help', text: helpOverview(commands) };
          return;
        }
        if (first.text === 'keys') {
          const rows = await session.services.keys();
          yield {
            kind: 'text',
            name: 'help',
            text: helpOnKeys(rows, join(session.services.paths.config, 'settings.json')),
          };
          return;
        }
        const command = commands.find(({ name }) => name === first.text);
        if (command === undefined) {
          const names = [...commands.map(({ name }) => name), 'keys'];
          throw new UsageError(
            `there is no command "${oneLine(first.text)}"; "help" lists them all`,
            {
              column: first.start,
              suggestions: suggest(first.text, names),
            },
          );
        }
        const verb = command.verbs.find(({ name }) => name !== '' && name === second?.text);
        if (second !== undefined && verb === undefined) {
          const verbs = command.verbs.map(({ name }) => name).filter((name) => name !== '');
          const has = verbs.length > 0 ? `; it has ${verbs.join(', ')}` : '';
          throw new UsageError(`${command.name} has no verb "${oneLine(second.text)}"${has}`, {
            column: second.start,
            suggestions: suggest(second.text, verbs),
          });
        }
        const text = verb === undefined ? helpOnCommand(command) : helpOn(command, verb);
        yield { kind: 'text', name: 'help', text };
      },
    },
  ],
};
