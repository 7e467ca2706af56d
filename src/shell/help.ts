import { argLabel, title } from './bind.ts';
import type { KeyRow } from './key-row.ts';
import { OPTIONS, optionLabel } from './option-list.ts';
import { type OptionSpec } from './options.ts';
import type { CommandSpec, VerbSpec } from './spec.ts';

const SECTIONS: readonly CommandSpec['section'][] = [
  'Devices',
  'Records',
  'Change sets',
  'Raw API',
  'Trust and login',
  'Shell',
];

/** `help`: every command with its summary, and the options that are understood everywhere. */
export function helpOverview(commands: readonly CommandSpec[]): string {
  const sections = SECTIONS.flatMap((section) => {
    const members = commands.filter((command) => command.section === section);
    const rows = members.flatMap((command) =>
      command.verbs.map((verb): [string, string] => [usageOf(command, verb), verb.summary]),
    );
    return rows.length === 0 ? [] : [section, ...columns(rows), ''];
  });
  return [
    'devsh: the incident shell for network devices configured over a small HTTPS REST API',
    '',
    'At the prompt:        connect 10.0.0.5 10.0.0.6',
    'On the command line:  devsh user list --on 10.0.0.5',
    'In a script:          devsh run FILE',
    '',
    ...sections,
    'Options everywhere',
    ...columns(optionRows(OPTIONS.filter(({ group }) => group === 'general'))),
    '',
    'Options of all commands that use devices',
    ...columns(optionRows(OPTIONS.filter(({ group }) => group === 'devices'))),
    '',
    'FILTER: words (anywhere in the record), field=value, field!=value, field~regex',
    'Exit codes: 0 done · 1 failed · 2 usage · 3 partial · 4 credentials · 5 unreachable or untrusted',
    '            6 refused · 7 drift · 8 differences · 70 a bug · 130 Ctrl-C · 143 SIGTERM',
    '',
    '"help COMMAND" tells more about one command, "help keys" about the keys of the full screen.',
  ].join('\n');
}

/** `help user`: all verbs of a command. */
export function helpOnCommand(command: CommandSpec): string {
  return command.verbs.length === 1
    ? command.verbs.map((verb) => helpOn(command, verb)).join('\n')
    : [
        `${command.name}: ${command.summary}`,
        '',
        ...columns(
          command.verbs.map((verb): [string, string] => [usageOf(command, verb), verb.summary]),
        ),
        '',
        `"help ${command.name} VERB" tells more about one of them.`,
      ].join('\n');
}

/** `help user add`: one verb with its arguments, options and examples. */
export function helpOn(command: CommandSpec, verb: VerbSpec): string {
  const own = OPTIONS.filter(({ group }) => verb.options.includes(group));
  const examples = verb.examples ?? [];
  return [
    `${title(command, verb)}: ${verb.summary}`,
    '',
    `Usage: ${usageOf(command, verb)}`,
    ...columns(verb.args.map((arg): [string, string] => [argLabel(arg), arg.summary])),
    ...(verb.details === undefined ? [] : ['', verb.details]),
    ...(own.length === 0 ? [] : ['', 'Options', ...columns(optionRows(own))]),
    ...(examples.length === 0 ? [] : ['', 'Examples', ...examples.map((line) => `  ${line}`)]),
  ].join('\n');
}

/** `help keys`: the keys of the full screen, as they hold for this user. */
export function helpOnKeys(rows: readonly KeyRow[], settingsPath: string): string {
  const titles = [...new Set(rows.map(({ title }) => title))];
  const width = Math.max(...rows.map(({ action }) => action.length));
  const keysWidth = 24;
  const sections = titles.flatMap((heading) => {
    const members = rows.filter(({ title }) => title === heading);
    const place = members[0]?.place ?? '';
    return [
      `${heading} (keys.${place})`,
      ...members.map(({ keys, action, label, command }) => {
        const names = (keys.length === 0 ? 'no key' : keys.join(', ')).padEnd(keysWidth);
        const line = command === undefined ? '' : `  (${command})`;
        return `  ${names}  ${action.padEnd(width)}  ${label}${line}`;
      }),
      '',
    ];
  });
  return [
    'keys: what the keys of the full screen do, and the names of their actions',
    '',
    ...sections,
    `To change one, name the place, the action and its keys in ${settingsPath}:`,
    '  {"keys": {"table": {"delete": ["x"], "copy": ["y", "ctrl-y"]}}}',
    'Esc, Ctrl-C, and Enter at the prompt keep what they do.',
    '',
    'The prompt is edited as in emacs and bash; {"editing": "vi"} makes it vi.',
  ].join('\n');
}

/** `user set KEY [field=value…]`, with the default verb in brackets. */
export function usageOf(command: CommandSpec, verb: VerbSpec): string {
  const isDefault = verb.name !== '' && verb.name === command.defaultVerb;
  const head = isDefault ? `${command.name} [${verb.name}]` : title(command, verb);
  return [head, ...verb.args.map(argLabel)].join(' ');
}

function optionRows(options: readonly OptionSpec[]): [string, string][] {
  return options.map((option) => [optionLabel(option), option.summary]);
}

/** Two columns, indented; all of it is our own ASCII text. */
function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
