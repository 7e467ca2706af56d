import { argLabel, title } from '../grammar/bind.ts';
import { DEVICES, GENERAL, OPTIONS, type OptionKey } from '../grammar/options.ts';
import type { CommandSpec, Invocation, VerbSpec } from '../command.ts';
import { namedAliases, shownRun } from '../grammar/aliases.ts';
import { wrapText } from '../../text/wrap.ts';
import type { Output } from '../output.ts';
import { HELP_TOPICS } from './topic-names.ts';
import type { Aliases } from '../../settings/settings-table.ts';

export const SECTIONS: readonly CommandSpec['section'][] = [
  'Devices',
  'Records',
  'Change sets',
  'Raw API',
  'Trust and login',
  'Shell',
];

/** The commands that most sessions need, in the order of a first session. */
const FIRST_COMMANDS = [
  'connect',
  'user list',
  'user show',
  'user add',
  'user set',
  'user delete',
  'changes',
  'undo',
  'apply',
  'lockout',
];

/** `help`, `--help`: one screen with the commands to begin with, and where the others are. */
export function helpStart(commands: readonly CommandSpec[]): string {
  const verbs = commands.flatMap((command) => command.verbs.map((verb) => ({ command, verb })));
  const rows = FIRST_COMMANDS.flatMap((name) =>
    verbs
      .filter(({ command, verb }) => title(command, verb) === name)
      .map(({ command, verb }): [string, string] => [
        usageOf(command, verb),
        verb.name === '' ? command.summary : verb.summary,
      ]),
  );
  return [
    ...HEAD,
    ...twoColumns(rows),
    '--on SELECTOR says which devices; --dry-run sends nothing; --help explains.',
    '',
    ...twoColumns([
      ['help all', 'every command and option'],
      ['help COMMAND', 'one command; "help user set" one of its verbs'],
      ['help TOPIC', Object.keys(HELP_TOPICS).join(', ')],
      ['demo', 'the shell on three simulated devices; touches nothing of yours'],
    ]),
  ].join('\n');
}

const HEAD = [
  'devsh: the incident shell for network devices with a small HTTPS REST API',
  '',
  'At the prompt:        connect 10.0.0.5 10.0.0.6',
  'On the command line:  devsh user list --on 10.0.0.5',
  'In a script:          devsh run FILE',
  '',
];

/** `help all`: every command with its summary, and the options of all commands. */
export function helpOverview(commands: readonly CommandSpec[], aliases?: Aliases): string {
  const own = namedAliases(aliases).map(([name, alias]) => [name, shownRun(alias)] as const);
  const sections = SECTIONS.flatMap((section) => {
    const members = commands.filter((command) => command.section === section);
    const rows = members.flatMap(verbRows);
    return rows.length === 0 ? [] : [section, ...twoColumns(rows), ''];
  });
  return [
    ...HEAD,
    ...sections,
    ...(own.length === 0 ? [] : ['Your aliases', ...twoColumns(own), '']),
    'Options everywhere',
    ...twoColumns(optionRows(GENERAL)),
    '',
    'Options of all commands that use devices',
    ...twoColumns(optionRows(DEVICES)),
    '',
    'FILTER: words (anywhere in the record), field=value, field!=value, field~regex',
    '',
    'Topics ("help TOPIC")',
    ...twoColumns(Object.entries(HELP_TOPICS)),
    '',
    '"help COMMAND" explains one command.',
  ].join('\n');
}

export function helpOnCommand(command: CommandSpec): string {
  const nameless = command.verbs.find(({ name }) => name === '');
  return command.verbs.length === 1
    ? command.verbs.map((verb) => helpOn(command, verb)).join('\n')
    : [
        `${command.name}: ${command.summary}`,
        '',
        ...twoColumns(verbRows(command)),
        '',
        `"help ${command.name} VERB" explains one of them.`,
        ...(nameless === undefined
          ? []
          : [`"${command.name} --help" explains "${usageOf(command, nameless)}".`]),
      ].join('\n');
}

/** `help user add`: one verb with its arguments, its own options and examples. */
export function helpOn(command: CommandSpec, verb: VerbSpec): string {
  const general = DEVICES.filter((key) => verb.options.includes(key));
  const usesDevices = general.length > DEVICES.length / 2;
  // `--on` is always shown: without devices the line does nothing.
  const isOwn = (key: OptionKey): boolean => key === 'on' || !general.some((one) => one === key);
  const own = verb.options.filter((key) => !usesDevices || isOwn(key));
  return [
    `${title(command, verb)}: ${verb.summary}`,
    '',
    `Usage: ${usageOf(command, verb)}`,
    ...twoColumns(verb.args.map((arg): [string, string] => [argLabel(arg), arg.summary])),
    ...(verb.details === undefined ? [] : ['', verb.details]),
    ...(own.length === 0 ? [] : ['', 'Options', ...twoColumns(optionRows(own))]),
    '',
    `${usesDevices ? 'The options of commands that use devices, --json' : '--json'} and its like: "help all"`,
    ...exampleLines(verb.examples),
  ].join('\n');
}

export function exampleLines(examples: readonly string[] = []): string[] {
  return examples.length === 0 ? [] : ['', 'Examples', ...examples.map((line) => `  ${line}`)];
}

/** `user set KEY [field=value…]`, with the default verb in brackets. */
export function usageOf(command: CommandSpec, verb: VerbSpec): string {
  const isDefault = verb.name !== '' && verb.name === command.defaultVerb;
  const head = isDefault ? `${command.name} [${verb.name}]` : title(command, verb);
  return [head, ...verb.args.map(argLabel)].join(' ');
}

function verbRows(command: CommandSpec): [string, string][] {
  return command.verbs.map((verb) => [usageOf(command, verb), verb.summary]);
}

function optionRows(keys: readonly OptionKey[]): [string, string][] {
  return OPTIONS.filter(({ key }) => keys.includes(key)).map(({ label, summary }) => [
    label,
    summary,
  ]);
}

export function twoColumns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}

const WIDTH = 80;
/** The right column wraps in its place if it has at least this width. Otherwise it stands below. */
const LEAST_COLUMN = 30;
/** A shorter line ends its paragraph. */
const LEAST_LINE = 70;

/** A help text in 80 columns: paragraphs flow, and the right column of a row keeps its place. */
export function inWidth(text: string): string {
  const lines: string[] = [];
  let isOpen = false;
  for (const line of text.split('\n')) {
    const isProse = /^\S(?!.* {2,}\S)/.test(line);
    const before = isProse && isOpen ? lines.pop() : undefined;
    lines.push(before === undefined ? line : `${before} ${line}`);
    isOpen = isProse && line.length >= LEAST_LINE;
  }
  return lines.flatMap(rowLines).join('\n');
}

function rowLines(line: string): string[] {
  const [, left = '', right = line] = /^( *\S.*? {2,})(\S.*)$/.exec(line) ?? [];
  const indent = /^ */.exec(line)?.[0] ?? '';
  if (WIDTH - left.length >= LEAST_COLUMN)
    return wrapText(`${left}${right}`, WIDTH, left === '' ? indent : ' '.repeat(left.length));
  const below = `${indent}    `;
  return [...wrapText(left.trimEnd(), WIDTH, below), ...wrapText(below + right, WIDTH, below)];
}

/** The help of the verb, or of all verbs of the command if the line names none. */
export function helpOutput({ command, verb, isImplied }: Invocation): Output {
  const text = isImplied === true ? helpOnCommand(command) : helpOn(command, verb);
  return { kind: 'text', name: 'help', text: inWidth(text) };
}
