import { argLabel, title } from '../../src/shell/grammar/bind.ts';
import { COMMANDS } from '../../src/shell/commands/index.ts';
import { SECTIONS, usageOf } from '../../src/shell/help/help.ts';
import { OPTIONS, optionLabel } from '../../src/shell/grammar/option-list.ts';
import type { OptionGroup, OptionSpec } from '../../src/shell/grammar/options.ts';
import type { CommandSpec, VerbSpec } from '../../src/shell/grammar/spec.ts';
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
const SHARED: readonly { readonly group: OptionGroup; readonly title: string }[] = [
  { group: 'general', title: 'Options of all commands' },
  { group: 'devices', title: 'Options for devices' },
  { group: 'table', title: 'Options for tables' },
  { group: 'write', title: 'Options for writes' },
  { group: 'roll-out', title: 'Options for roll-outs' },
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
    ...SHARED.map(({ group, title: heading }) => `## ${heading}\n\n${optionTable(inGroup(group))}`),
  ].join('\n\n');
}

/** For the README: the commands by section, each with a link. */
export function commandOverview(): string {
  const rows = SECTIONS.map((section) => {
    const names = ENTRIES.flatMap((entry, at) => {
      const isFirst = entry.kind === 'verb' && entry.command.verbs[0] === entry.verb;
      return isFirst && entry.command.section === section
        ? [link(entry.command.name, at, 'docs/commands.md')]
        : [];
    });
    return [section, names.join(' ')];
  });
  return table(['about', 'commands'], rows);
}

function link(code: string, entry: number, page = ''): string {
  return `[\`${code}\`](${page}#${ANCHORS[entry] ?? ''})`;
}

function headingOf(entry: Entry): string {
  return entry.kind === 'section' ? entry.title : title(entry.command, entry.verb);
}

function verbText(command: CommandSpec, verb: VerbSpec): string {
  const args = verb.args.map((arg) => `- \`${argLabel(arg)}\`: ${escaped(arg.summary)}`);
  const own = OPTIONS.filter(
    ({ group }) => verb.options.includes(group) && !SHARED.some((shared) => shared.group === group),
  );
  const shared = SHARED.flatMap(({ group, title: text }, at) =>
    verb.options.includes(group) ? [`[${text}](#${ANCHORS[ENTRIES.length + at] ?? ''})`] : [],
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

function inGroup(group: OptionSpec['group']): readonly OptionSpec[] {
  return OPTIONS.filter((option) => option.group === group);
}

function optionTable(options: readonly OptionSpec[]): string {
  const rows = options.map((option) => [`\`${optionLabel(option)}\``, escaped(option.summary)]);
  return table(['option', 'what it does'], rows);
}

/** Text in which Markdown finds nothing of its own. */
function escaped(text: string): string {
  return text.replaceAll(/[<*_~]/g, '\\$&');
}
