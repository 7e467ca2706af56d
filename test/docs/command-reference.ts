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
import type { CommandSpec, VerbSpec } from '../../src/shell/command.ts';
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

const ANCHORS = anchorsFor([...ENTRIES.map(headingOf), ...SHARED.map(({ title: text }) => text)]);

/** All of docs/commands.md below its introduction. */
export function commandReference(): string {
  const overview = ENTRIES.flatMap((entry, at) =>
    entry.kind === 'section'
      ? []
      : [[link(usageOf(entry.command, entry.verb), at), entry.verb.summary]],
  );
  return [
    table(['command', 'what it does'], overview),
    ...ENTRIES.map((entry) =>
      entry.kind === 'section' ? `## ${entry.title}` : verbText(entry.command, entry.verb),
    ),
    ...SHARED.map(({ keys, title: heading }) => `## ${heading}\n\n${optionTable(keys)}`),
  ].join('\n\n');
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
  const args = verb.args.map((arg) => `- \`${argLabel(arg)}\`: ${escaped(arg.summary)}`);
  // A verb that takes only some options of a group names them itself.
  const isWhole = ({ keys }: (typeof SHARED)[number]): boolean =>
    keys.every((key) => verb.options.includes(key));
  const whole = SHARED.filter(isWhole);
  const own = verb.options.filter((key) => !whole.some(({ keys }) => keys.includes(key)));
  const shared = SHARED.flatMap((group, at) =>
    isWhole(group) ? [`[${group.title}](#${ANCHORS[ENTRIES.length + at] ?? ''})`] : [],
  );
  const aliases = command.aliases ?? [];
  const examples = verb.examples ?? [];
  return [
    `### ${title(command, verb)}`,
    `${escaped(verb.summary)}.`,
    `\`\`\`text\n${usageOf(command, verb)}\n\`\`\``,
    ...(args.length === 0 ? [] : [args.join('\n')]),
    ...(aliases.length === 0 ? [] : [`Also: ${aliases.map((name) => `\`${name}\``).join(', ')}.`]),
    ...(verb.details === undefined ? [] : [detailsText(verb.details)]),
    ...(own.length === 0 ? [] : [optionTable(own)]),
    ...(shared.length === 0 ? [] : [shared.join(' · ')]),
    ...(examples.length === 0 ? [] : [`\`\`\`devsh\n${examples.join('\n')}\n\`\`\``]),
  ].join('\n\n');
}

/** Lines that are indented are an example of their own. */
function detailsText(details: string): string {
  return details
    .split(/((?:^ {2}.*\n?)+)/m)
    .map((part) => part.replace(/\n$/, ''))
    .filter((part) => part !== '')
    .map((part) =>
      part.startsWith('  ')
        ? `\`\`\`text\n${part.replaceAll(/^ {2}/gm, '')}\n\`\`\``
        : escaped(part),
    )
    .join('\n\n');
}

function optionTable(keys: readonly OptionKey[]): string {
  const rows = OPTIONS.filter(({ key }) => keys.includes(key)).map(({ label, summary }) => [
    `\`${label}\``,
    escaped(summary),
  ]);
  return table(['option', 'what it does'], rows);
}

/** Text in which Markdown finds nothing of its own. */
function escaped(text: string): string {
  return text.replaceAll(/[<*_~]/g, '\\$&');
}
