import { UsageError } from '../../errors.ts';
import { oneLine } from '../../text/one-line.ts';
import { suggest } from '../../text/suggest.ts';
import { type ArgSpec, commandNamed, type CommandSpec, type Grammar, verb } from '../command.ts';
import type { Alias } from '../../settings/settings-table.ts';
import {
  aliasNamed,
  checkAlias,
  isProgram,
  namedAliases,
  shownRun,
  templateOf,
} from '../grammar/aliases.ts';
import { bind } from '../grammar/bind.ts';
import { info, success, table } from '../output.ts';

const NAME: ArgSpec = { name: 'NAME', summary: 'the word that runs the line', isRequired: true };

export const alias: CommandSpec = {
  name: 'alias',
  summary: 'Manage names for lines that you type often',
  section: 'Shell',
  defaultVerb: 'list',
  verbs: [
    verb({
      name: 'list',
      summary: 'List your aliases',
      changes: 'nothing',
      *run({ shell }) {
        const aliases = namedAliases(shell.services.settings.get('aliases'));
        const hasKey = aliases.some(([, { key }]) => key !== undefined);
        yield table(
          'aliases',
          ['alias', hasKey && 'key', hasKey && 'place', 'line'],
          aliases.map(([name, alias]) => {
            const { key = '', place = '' } = alias;
            return { alias: name, ...(hasKey && { key, place }), line: shownRun(alias) };
          }),
        );
      },
    }),
    verb({
      name: 'set',
      summary:
        'Give a line a name; the name then works at the prompt, in your shell and in scripts',
      args: [
        NAME,
        { name: 'LINE', summary: 'a line of devsh, or ! and a program; quoted', isRequired: true },
      ],
      details:
        '${1}, ${2} … are the words after the alias, ${NAME} is the word NAME=VALUE or DEVSH_VAR_NAME, and\n' +
        '${NAME:-default} has a default. Each value stays one word and is never an option. Other words and\n' +
        'options after the alias are added to the line.\n' +
        'With ! at its start it is a program with its arguments. No shell reads them, and devsh asks before it runs.\n' +
        'A command or a resource of the devices wins over an alias of the same name. An alias cannot contain\n' +
        'another alias, a script, a secret, --yes, --allow or --insecure; type these options after it.\n' +
        'In the settings an alias may also have a key on the full screen.',
      examples: [
        "alias set german 'user list lang=de --columns username,lang'",
        "alias set leaver 'user delete ${1}'",
        "alias set reach '!ping -c 3 ${1}'",
      ],
      async *run({ args, shell, grammar }) {
        const [name] = args.words('NAME');
        const [line] = args.words('LINE');
        if (name === undefined || line === undefined) return;
        const { settings, profiles } = shell.services;
        const before = aliasNamed(settings.get('aliases'), name.text);
        const alias = { ...before, run: line.text };
        checkAlias(name.text, alias);
        if (!isProgram(alias)) checkLine(alias, grammar);
        const isCommand = commandNamed(grammar.commands, name.text) !== undefined;
        if (isCommand || profiles.knowsResource(name.text)) {
          const what = isCommand ? 'a command' : 'a resource of your devices';
          throw new UsageError(`${oneLine(name.text)} is ${what}: choose another name`, {
            column: name.start,
          });
        }
        const isText = Object.keys(alias).length === 1;
        await settings.change('aliases', (all = {}) => ({
          ...all,
          [name.text]: isText ? alias.run : alias,
        }));
        if (before !== undefined && before.run !== alias.run) {
          yield info(`${name.text} was: ${oneLine(shownRun(before))}`);
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
        const before = aliasNamed(aliases, name);
        if (before === undefined) {
          throw new UsageError(`there is no alias "${oneLine(name)}"; "alias" lists them`, {
            column: word?.start,
            suggestions: suggest(name, Object.keys(aliases)),
          });
        }
        await settings.change('aliases', (all = {}) => {
          const others = Object.entries(all).filter(([other]) => other !== name);
          return others.length === 0 ? undefined : Object.fromEntries(others);
        });
        yield success(`the alias ${name} is deleted; it was: ${oneLine(shownRun(before))}`);
      },
    }),
  ],
};

/** Throws a `UsageError` if the line cannot run, as far as known without its variables. */
function checkLine(alias: Alias, { commands, resourceFor, resourceNamed }: Grammar): void {
  const marked = templateOf(alias).words;
  const words = marked.map((word) => ({ ...word, text: word.text.replace(/\0\d+\0/g, '1') }));
  try {
    bind(words, { commands, resourceFor, resourceNamed });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    // The value of a variable may be right when the line runs.
    if (marked.find(({ start }) => start === error.column)?.text.includes('\0') === true) return;
    throw new UsageError(`the line of the alias: ${error.message}`, { cause: error });
  }
}
