import { argLabel, title } from '../../src/shell/grammar/bind.ts';
import { COMMANDS } from '../../src/shell/commands/index.ts';
import { SECTIONS, usageOf } from '../../src/shell/help/help.ts';
import {
  DEVICES,
  GENERAL,
  OPTIONS,
  ROLL_OUT,
  TABLE,
  WRITE,
  type OptionKey,
} from '../../src/shell/grammar/options.ts';
import type { ArgSpec, CommandSpec, VerbSpec } from '../../src/shell/command.ts';
import { anchorsFor } from './markdown.ts';
import { table } from './table.ts';

/** One heading of the reference. */
type Entry =
  | { readonly kind: 'section'; readonly title: CommandSpec['section'] }
  | { readonly kind: 'verb'; readonly command: CommandSpec; readonly verb: VerbSpec };

const ENTRIES: readonly Entry[] = SECTIONS.flatMap((section): Entry[] => [
  { kind: 'section', title: section },
  ...COMMANDS.filter((command) => command.section === section).flatMap((command) =>
    command.verbs.map((verb): Entry => ({ kind: 'verb', command, verb })),
  ),
]);

/** Groups of options that many verbs have: they are told once, at the end. */
const SHARED: readonly { readonly keys: readonly OptionKey[]; readonly title: string }[] = [
  { keys: GENERAL, title: 'Options of all commands' },
  { keys: DEVICES, title: 'Options for devices' },
  { keys: TABLE, title: 'Options for tables' },
  { keys: WRITE, title: 'Options for writes' },
  { keys: ROLL_OUT, title: 'Options for roll-outs' },
];

const ANCHORS = anchorsFor(ENTRIES.map(headingOf));

/** The verbs that are explained, without the short forms of others. */
const VERBS = ENTRIES.flatMap((entry) =>
  entry.kind === 'verb' && longForm(entry.verb) === undefined ? [entry.verb] : [],
);

/** All of docs/commands.md below its introduction: what several commands have stands there once. */
export function commandReference(): string {
  const reference = ENTRIES.map((entry) =>
    entry.kind === 'section' ? `## ${entry.title}` : verbText(entry.command, entry.verb),
  );
  const several = OPTIONS.filter(
    ({ key }) => isOfSeveral(key) && !SHARED.some(({ keys }) => keys.includes(key)),
  );
  const args = VERBS.flatMap((verb) => verb.args).filter(isArgOfSeveral);
  const meanings = [...new Set(args.map(({ summary }) => summary))].map((summary) => {
    const labels = args.filter((arg) => arg.summary === summary).map((arg) => argLabel(arg));
    return [[...new Set(labels)].map((label) => `\`${label}\``).join(', '), escaped(summary)];
  });
  return [
    index(),
    ...reference,
    ...SHARED.map(({ keys, title: heading }) => `## ${heading}\n\n${optionTable(keys)}`),
    `## Options of several commands\n\n${optionTable(several.map(({ key }) => key))}`,
    `## Arguments of several commands\n\n${table(['argument', 'what it is'], meanings)}`,
  ].join('\n\n');
}

/** One line for each section, with a link to each of its commands. */
function index(): string {
  const lines = ENTRIES.map((entry, at) =>
    entry.kind === 'section'
      ? `\n- **${entry.title}**: `
      : `[${headingOf(entry)}](#${ANCHORS[at] ?? ''}) · `,
  );
  return lines.join('').replaceAll(/ · $/gm, '').trim();
}

/** `device list`, of the short form `devices`. */
function longForm({ summary }: VerbSpec): string | undefined {
  return /^Short form of "(.+)"$/.exec(summary)?.[1];
}

/** Of a heading that no command has. */
function anchorOf(heading: string): string {
  return anchorsFor([heading])[0] ?? '';
}

function isOfSeveral(key: OptionKey): boolean {
  return VERBS.filter(({ options }) => options.includes(key)).length > 1;
}

/** Whether other verbs have an argument of this name, always with this meaning. */
function isArgOfSeveral(arg: ArgSpec): boolean {
  const same = VERBS.flatMap(({ args }) => args).filter((one) => argLabel(one) === argLabel(arg));
  return same.length > 1 && same.every(({ summary }) => summary === arg.summary);
}

/** What the README shows of the commands: enough for a first day. */
const FIRST = [
  'connect',
  'use',
  'user list',
  'user add',
  'user set',
  'user delete',
  'import',
  'apply',
  'undo',
  'help',
];

/** For the README: ten commands, each with a link. */
export function firstCommands(): string {
  const rows = FIRST.map((name) => {
    const at = ENTRIES.findIndex((entry) => entry.kind === 'verb' && headingOf(entry) === name);
    const entry = ENTRIES[at];
    if (entry?.kind !== 'verb') throw new Error(`there is no command "${name}"`);
    const usage = usageOf(entry.command, entry.verb);
    return [link(usage, at, 'docs/commands.md'), entry.verb.summary];
  });
  return table(['command', 'what it does'], rows);
}

function link(code: string, entry: number, page = ''): string {
  return `[\`${code}\`](${page}#${ANCHORS[entry] ?? ''})`;
}

function headingOf(entry: Entry): string {
  return entry.kind === 'section' ? entry.title : title(entry.command, entry.verb);
}

function verbText(command: CommandSpec, verb: VerbSpec): string {
  const heading = `### ${title(command, verb)}`;
  const whole = SHARED.filter(({ keys }) => keys.every((key) => verb.options.includes(key)));
  const others = verb.options.filter((key) => !whole.some(({ keys }) => keys.includes(key)));
  const items = [
    ...verb.args.filter((arg) => !isArgOfSeveral(arg)).map((arg) => [argLabel(arg), arg.summary]),
    ...rowsOf(others.filter((key) => !isOfSeveral(key))),
  ].map(([label = '', summary = '']) => `- \`${label}\`: ${escaped(summary)}`);
  const several = rowsOf(others.filter(isOfSeveral)).map(([label = '']) => `\`${label}\``);
  const options = [
    ...several,
    ...whole.map(({ title: text }) => `[${text.replace('Options ', '')}](#${anchorOf(text)})`),
  ];
  const aliases = (command.aliases ?? []).map((name) => `\`${name}\``);
  const also = aliases.length === 0 ? '' : ` Also: ${aliases.join(', ')}.`;
  const first = `\`${usageOf(command, verb)}\`: ${escaped(verb.summary)}.${also}`;
  if (longForm(verb) !== undefined) return [heading, first].join('\n\n');
  return [
    heading,
    first,
    ...(items.length === 0 ? [] : [items.join('\n')]),
    ...(verb.details === undefined ? [] : [detailsText(verb.details)]),
    ...(options.length === 0 ? [] : [`Options: ${options.join(', ')}`]),
    ...examplesText(verb.examples ?? []),
  ].join('\n\n');
}

function examplesText(examples: readonly string[]): string[] {
  if (examples.length > 1) return [`\`\`\`devsh\n${examples.join('\n')}\n\`\`\``];
  return examples.map((example) => `For example \`devsh ${example}\`.`);
}

/** Lines that are indented are an example of their own; the others flow as on every page. */
function detailsText(details: string): string {
  return details
    .split(/((?:^ {2}.*\n?)+)/m)
    .map((part) => part.replace(/\n$/, ''))
    .filter((part) => part !== '')
    .map((part) =>
      part.startsWith('  ')
        ? `\`\`\`text\n${part.replaceAll(/^ {2}/gm, '')}\n\`\`\``
        : part
            .split(/\n{2,}/)
            .map((one) => wrapped(escaped(one)))
            .join('\n\n'),
    )
    .join('\n\n');
}

/** A paragraph in lines of at most 160 columns. */
function wrapped(paragraph: string): string {
  return paragraph
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/(.{1,160})(?: |$)/g, '$1\n')
    .trimEnd();
}

/** Label and summary of each, in the order of the help. */
function rowsOf(keys: readonly OptionKey[]): string[][] {
  return OPTIONS.filter(({ key }) => keys.includes(key)).map(({ label, summary }) => [
    label,
    summary,
  ]);
}

function optionTable(keys: readonly OptionKey[]): string {
  const rows = rowsOf(keys).map(([label = '', summary = '']) => [`\`${label}\``, escaped(summary)]);
  return table(['option', 'what it does'], rows);
}

/** Text in which Markdown finds nothing of its own. */
function escaped(text: string): string {
  return text.replaceAll(/[<*_~]/g, '\\$&');
}
