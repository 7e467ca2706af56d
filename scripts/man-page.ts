import { resolvePaths, type Paths } from '../src/os/environment.ts';
import { argLabel } from '../src/shell/grammar/bind.ts';
import { COMMANDS } from '../src/shell/commands/index.ts';
import { ENVIRONMENT, EXIT_CODES } from '../src/shell/help/environment.ts';
import { SECTIONS, usageOf } from '../src/shell/help/help.ts';
import { HELP_TOPICS, type TopicName } from '../src/shell/help/topic-names.ts';
import { readTopic } from '../src/shell/help/topic-text.ts';
import { OPTIONS } from '../src/shell/grammar/options.ts';
import type { CommandSpec, VerbSpec } from '../src/shell/command.ts';

/** Topics with a section of their own in the manual, or that only a running devsh knows. */
const TOPICS_ELSEWHERE = ['exit-codes', 'environment', 'keys', 'json'];

/** Lines of a first hour; a test runs them. */
export const MAN_EXAMPLES: readonly { readonly line: string; readonly meaning: string }[] = [
  { line: 'devsh connect 10.0.0.5 10.0.0.6', meaning: 'The users of two devices in one table.' },
  {
    line: 'devsh user list lang=de --on @berlin --json',
    meaning: 'The users of a group of devices with lang=de, for a program.',
  },
  {
    line: 'devsh user add username=bob first_name=Bob lastname=Builder lang=de --on @berlin --yes',
    meaning: 'Add a user on each of them without a question, and read it back.',
  },
  {
    line: 'devsh user delete bob --on @all --dry-run',
    meaning: 'Show what a deletion would send; send nothing.',
  },
  {
    line: 'devsh apply change.yaml --on @all --canary 1 --batch 20 --max-failures 5%',
    meaning: 'Apply a change set, to one device first, then in batches.',
  },
  { line: 'devsh undo', meaning: 'Undo the last run.' },
];

/** The files that a user may want to look at. */
export const KEPT_FILES: readonly (readonly [
  folder: keyof Paths,
  name: string,
  meaning: string,
])[] = [
  ['config', 'devices.yaml', 'The inventory; yours to edit.'],
  ['config', 'settings.json', 'The settings.'],
  ['config', 'profiles/', 'How devices speak, in YAML.'],
  ['data', 'known-devices', 'The pins of certificates.'],
  ['data', 'vault.age', 'The vault, if there is one.'],
  ['state', 'history', 'The history of lines.'],
  ['state', 'last-session', 'The lines that connected to devices; the next start offers them.'],
  ['state', 'runs/', 'The journals of runs, and an index that devsh can recreate.'],
  ['state', 'readings/', 'What was read of each device, for changes and --at.'],
  ['state', 'digest-key', 'The key of the digests of secrets in journals.'],
  ['cache', '', 'What devsh learned, and compiled code; devsh can recreate it.'],
];

/** The manual in the roff of man(7), from what the commands, options and topics say of themselves. */
export async function manPage(version: string, date: string): Promise<string> {
  const paths = resolvePaths({}, 'linux', '~');
  const names = Object.keys(HELP_TOPICS) as TopicName[];
  const topics = names.filter((name) => !TOPICS_ELSEWHERE.includes(name));
  return [
    `.TH DEVSH 1 "${date}" ${quoted(`devsh ${version}`)} "User Commands"`,
    ...section('NAME', [
      text('devsh - the incident shell for network devices with a small HTTPS REST API'),
    ]),
    ...section('SYNOPSIS', [
      '.B devsh',
      '.br',
      ...synopsis('connect TARGET…'),
      '.br',
      ...synopsis('COMMAND [VERB] [ARGUMENT…] [OPTION…]'),
      '.br',
      ...synopsis('run FILE'),
    ]),
    ...section('DESCRIPTION', [
      ...paragraphs([
        'devsh shows the users and other records of one or many devices in one table, changes them, and reports ' +
          'what each device really has afterwards: devsh plans a write from live state, shows it, writes it to ' +
          'a journal, sends it once, reads it back and compares.',
        'Without a command, or with connect, it is a shell: on the full screen, or with a line-by-line prompt ' +
          'if the terminal allows no more. The same lines work at its prompt, on the command line and in ' +
          'script files.',
      ]),
    ]),
    ...section('COMMANDS', SECTIONS.flatMap(commandSection)),
    ...section('OPTIONS', [
      ...paragraphs([
        'Options may stand anywhere; -- ends them. "help COMMAND" lists those of a command.',
      ]),
      ...OPTIONS.flatMap(({ label, summary }) => item(label, summary)),
    ]),
    ...(await Promise.all(topics.map((topic) => topicSection(topic, paths)))).flat(),
    ...section(
      'EXIT STATUS',
      EXIT_CODES.flatMap(([code, meaning]) => item(code, meaning)),
    ),
    ...section(
      'ENVIRONMENT',
      ENVIRONMENT.flatMap(({ title, variables }) => [
        `.SS ${quoted(title)}`,
        ...variables.flatMap(([name, meaning]) => item(name, meaning)),
      ]),
    ),
    ...section(
      'FILES',
      KEPT_FILES.flatMap(([folder, name, meaning]) => item(`${paths[folder]}/${name}`, meaning)),
    ),
    ...section(
      'EXAMPLES',
      MAN_EXAMPLES.flatMap(({ line, meaning }) => item(line, meaning)),
    ),
    ...section('SEE ALSO', ['.BR curl (1) ,', '.BR ssh_config (5) ,', '.BR age (1)']),
    '',
  ].join('\n');
}

function commandSection(title: CommandSpec['section']): string[] {
  const verbs = COMMANDS.filter((command) => command.section === title).flatMap((command) =>
    command.verbs.map((verb) => ({ command, verb })),
  );
  return verbs.length === 0 ? [] : [`.SS ${quoted(title)}`, ...verbs.flatMap(verbItem)];
}

function verbItem({ command, verb }: { command: CommandSpec; verb: VerbSpec }): string[] {
  const args = verb.args.map((arg) => `${argLabel(arg)}: ${arg.summary}.`);
  const more = [...args, ...(verb.details === undefined ? [] : [verb.details])];
  return [
    ...item(usageOf(command, verb), `${verb.summary}.`),
    ...more.flatMap((line) => ['.IP', text(line.replaceAll('\n', ' '))]),
  ];
}

async function topicSection(name: TopicName, paths: Paths): Promise<string[]> {
  const summary = HELP_TOPICS[name];
  const { text: told, examples } = await readTopic(name, {
    paths,
    keys: () => Promise.resolve([]),
  });
  const lines = [...told.split('\n'), ...(examples.length === 0 ? [] : ['', ...examples])];
  return section(name.toUpperCase(), [
    text(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`),
    '.PP',
    '.nf',
    // An empty line would be a paragraph of its own.
    ...lines.map((line) => (line === '' ? '\\&' : asLine(escaped(line)))),
    '.fi',
  ]);
}

function synopsis(words: string): string[] {
  return ['.B devsh', text(words)];
}

function section(title: string, lines: readonly string[]): string[] {
  return [`.SH ${quoted(title)}`, ...lines];
}

function item(term: string, meaning: string): string[] {
  return ['.TP', `.B ${quoted(term)}`, text(meaning)];
}

/** Below a heading, which begins the first one. */
function paragraphs(texts: readonly string[]): string[] {
  return texts.flatMap((one, at) => (at === 0 ? [text(one)] : ['.PP', text(one)]));
}

function quoted(argument: string): string {
  return `"${escaped(argument)}"`;
}

/** Running text, in lines that people can read, too. */
function text(words: string): string {
  const lines = escaped(words).match(/\S(?:.{0,76}\S)?(?= |$)|\S+/g) ?? [];
  return lines.map(asLine).join('\n');
}

/** A point or a quote at its start would make it a request. */
function asLine(line: string): string {
  return line.replace(/^[.']/, '\\&$&');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\e',
  '-': '\\-',
  "'": '\\(aq',
  '"': '\\(dq',
  '`': '\\(ga',
  '^': '\\(ha',
  '~': '\\(ti',
  '…': '...',
};

/** Only ASCII, and nothing in it that roff would take for itself or for a typographic sign. */
function escaped(line: string): string {
  return line.replace(/[\\\-'"`^~]|[^\x20-\x7e]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return ESCAPES[character] ?? `\\[u${code.toString(16).toUpperCase().padStart(4, '0')}]`;
  });
}
