import { UsageError } from '../../errors.ts';
import { oneLine } from '../../text/one-line.ts';
import { suggest } from '../../text/suggest.ts';
import { parseLine } from '../../text/words.ts';
import { type ArgSpec, commandNamed, type CommandSpec, type Grammar, verb } from '../command.ts';
import { aliasNamed, checkAlias } from '../grammar/aliases.ts';
import { bind } from '../grammar/bind.ts';
import { hideSecrets } from '../grammar/hide-secrets.ts';
import { info, success, table } from '../output.ts';

const NAME: ArgSpec = { name: 'NAME', summary: 'the word that runs the line', isRequired: true };

export const alias: CommandSpec = {
  name: 'alias',
  summary: 'Names for lines that you type often',
  section: 'Shell',
  defaultVerb: 'list',
  verbs: [
    verb({
      name: 'list',
      summary: 'List your aliases',
      changes: 'nothing',
      *run({ shell }) {
        const aliases = Object.entries(shell.services.settings.get('aliases') ?? {});
        yield table(
          'aliases',
          ['alias', 'line'],
          aliases.map(([name, line]) => ({ alias: name, line: hideSecrets(line) })),
        );
      },
    }),
    verb({
      name: 'set',
      summary:
        'Give a line a name; the name then works at the prompt, in your shell and in scripts',
      args: [NAME, { name: 'LINE', summary: 'a line of devsh, in quotes', isRequired: true }],
      details:
        '${1}, ${2} … are the words after the alias, ${NAME} is the word NAME=VALUE or DEVSH_VAR_NAME, and\n' +
        '${NAME:-default} has a default. Each value stays one word and is never an option. Other words and\n' +
        'options after the alias are added to the line.\n' +
        'A command or a resource of the devices wins over an alias of the same name. An alias cannot contain\n' +
        'another alias, a secret, --yes, --allow or --insecure; type these options after it.',
      examples: [
        "alias set german 'user list lang=de --columns username,lang'",
        "alias set leaver 'user delete ${1}'",
      ],
      async *run({ args, shell, grammar }) {
        const [name] = args.words('NAME');
        const [line] = args.words('LINE');
        if (name === undefined || line === undefined) return;
        refuseName(name.text, name.start, grammar);
        checkAlias(name.text, line.text);
        checkLine(line.text, grammar);
        const { settings, profiles } = shell.services;
        if (profiles.knowsResource(name.text)) {
          throw new UsageError(
            `${oneLine(name.text)} is a resource of your devices: choose another name`,
            { column: name.start },
          );
        }
        const before = aliasNamed(settings.get('aliases'), name.text);
        await settings.change('aliases', (all = {}) => ({ ...all, [name.text]: line.text }));
        if (before !== undefined && before !== line.text) {
          yield info(`${name.text} was: ${oneLine(hideSecrets(before))}`);
        }
        yield success(`${name.text} now runs: ${oneLine(line.text)}`);
      },
    }),
    verb({
      name: 'delete',
      summary: 'Delete an alias',
      args: [
        {
          ...NAME,
          // Completion adds the aliases to the commands, without verbs.
          complete: ({ commands }) =>
            commands
              .filter(({ verbs }) => verbs.length === 0)
              .map(({ name, summary }) => ({ text: name, summary })),
        },
      ],
      async *run({ args, shell }) {
        const [word] = args.words('NAME');
        const name = word?.text ?? '';
        const { settings } = shell.services;
        const aliases = settings.get('aliases') ?? {};
        const line = aliasNamed(aliases, name);
        if (line === undefined) {
          throw new UsageError(`there is no alias "${oneLine(name)}"; "alias" lists them`, {
            column: word?.start,
            suggestions: suggest(name, Object.keys(aliases)),
          });
        }
        await settings.change('aliases', (all = {}) => {
          const others = Object.entries(all).filter(([other]) => other !== name);
          return others.length === 0 ? undefined : Object.fromEntries(others);
        });
        yield success(`the alias ${name} is deleted; it was: ${oneLine(hideSecrets(line))}`);
      },
    }),
  ],
};

function refuseName(name: string, column: number, { commands }: Grammar): void {
  const problem = !/^[A-Za-z][\w-]*$/.test(name)
    ? 'is no name for an alias: use letters, digits, - and _'
    : commandNamed(commands, name) && 'is a command: choose another name';
  if (problem !== undefined) throw new UsageError(`"${oneLine(name)}" ${problem}`, { column });
}

/** The line must be one that runs, as far as this is known without its variables. */
function checkLine(line: string, { commands, resourceFor, resourceNamed }: Grammar): void {
  const { words } = parseLine(line, () => '1');
  try {
    bind(words, { commands, resourceFor, resourceNamed });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const word = words.find(({ start }) => start === error.column);
    // The value of a variable may be right when the line runs.
    if (word !== undefined && line.slice(word.start, word.end).includes('${')) return;
    throw new UsageError(`the line of the alias: ${error.message}`, { cause: error });
  }
}
