import { DevshError } from '../errors.ts';
import { OPTIONS } from './option-list.ts';
import { type OptionSpec } from './options.ts';
import { parseLine, quoteWord, type Word } from './parse.ts';
import type { Session } from './session.ts';
import type { Candidate, CommandSpec, CompletionScope, VerbSpec } from './spec.ts';

/** What could stand in place of the characters from `start` to `end` of the line. */
export interface Completion {
  readonly start: number;
  readonly end: number;
  readonly proposals: readonly Proposal[];
}

export interface Proposal extends Candidate {
  /** What is put into the line: quoted, with a space behind it when the word is complete. */
  readonly insert: string;
}

/** Proposals for the word that ends at the cursor, from what is known already. */
export async function complete(
  line: string,
  cursor: number,
  commands: readonly CommandSpec[],
  session: Session,
): Promise<Completion> {
  const { words } = parseLine(line.slice(0, cursor));
  const last = words.at(-1);
  const isNewWord = last === undefined || last.end < cursor;
  const current: Word = isNewWord ? { text: '', start: cursor, end: cursor } : last;
  const before = isNewWord ? words : words.slice(0, -1);
  const scope = {
    fleet: session.fleet,
    targets: await targetsOf(session),
    runs: await session.services.runs.ids(),
    typed: current.text,
  };
  const candidates = candidatesFor(before, scope, commands);
  const wanted = current.text.toLowerCase();
  const seen = new Set<string>();
  const proposals = candidates
    .filter(({ text }) => {
      const isNew = !seen.has(text) && text.toLowerCase().startsWith(wanted);
      seen.add(text);
      return isNew;
    })
    .map((candidate) => ({
      ...candidate,
      insert: insertionOf(candidate),
    }));
  return { start: current.start, end: cursor, proposals };
}

function insertionOf({ text, continues }: Candidate): string {
  const [, field, value] = /^([^=\s'"]+=)(.*)$/s.exec(text) ?? [];
  const quoted =
    field !== undefined && value !== undefined
      ? `${field}${value === '' ? '' : quoteWord(value)}`
      : quoteWord(text);
  return continues === true ? quoted : `${quoted} `;
}

function candidatesFor(
  before: readonly Word[],
  scope: Omit<CompletionScope, 'given'>,
  commands: readonly CommandSpec[],
): readonly Candidate[] {
  const optionBefore = optionAwaitingValue(before.at(-1));
  if (optionBefore !== undefined) return valuesOf(optionBefore, scope);
  const plain = withoutOptions(before);
  const [first, second] = plain;
  const command = commands.find(
    ({ name, aliases }) => name === first || (first !== undefined && aliases?.includes(first)),
  );
  if (command === undefined) {
    if (first !== undefined) return [];
    return scope.typed.startsWith('-')
      ? optionCandidates(['general'])
      : commands.map(({ name, summary }) => ({ text: name, summary }));
  }
  const named = command.verbs.find(({ name }) => name !== '' && name === second);
  const verb = named ?? command.verbs.find(({ name }) => name === (command.defaultVerb ?? ''));
  if (scope.typed.startsWith('-')) return optionCandidates(['general', ...(verb?.options ?? [])]);
  const given = plain.slice(named === undefined ? 1 : 2);
  const verbs =
    second === undefined
      ? command.verbs
          .filter(({ name }) => name !== '')
          .map(({ name, summary }) => ({ text: name, summary }))
      : [];
  return [...verbs, ...argumentCandidates(verb, { ...scope, given })];
}

function argumentCandidates(
  verb: VerbSpec | undefined,
  scope: CompletionScope,
): readonly Candidate[] {
  const args = verb?.args ?? [];
  const arg = args[scope.given.length] ?? args.at(-1);
  if (arg === undefined || (scope.given.length >= args.length && arg.isRest !== true)) return [];
  return arg.complete?.(scope) ?? [];
}

function optionCandidates(groups: readonly OptionSpec['group'][]): Candidate[] {
  return OPTIONS.filter(({ group }) => groups.includes(group)).map(({ name, summary }) => ({
    text: `--${name}`,
    summary,
  }));
}

function optionAwaitingValue(word: Word | undefined): OptionSpec | undefined {
  return OPTIONS.find(({ name, value }) => value !== undefined && word?.text === `--${name}`);
}

function withoutOptions(words: readonly Word[]): string[] {
  return words
    .filter((word, at) => {
      const isValue = optionAwaitingValue(words[at - 1]) !== undefined;
      return !isValue && !(word.text.startsWith('-') && word.text !== '-');
    })
    .map(({ text }) => text);
}

function valuesOf(option: OptionSpec, scope: Omit<CompletionScope, 'given'>): readonly Candidate[] {
  if (option.choices !== undefined) return option.choices.map((text) => ({ text }));
  switch (option.name) {
    case 'on':
      return scope.targets;
    case 'columns':
    case 'sort':
    case 'filter':
    case 'where':
      return knownFields(scope.fleet, 'user').map((field) => ({
        text: option.group === 'where' || option.name === 'filter' ? `${field}=` : field,
        continues: true,
      }));
    default:
      return [];
  }
}

/** Devices and groups that can be named: those of the session first, then the inventory. */
async function targetsOf(session: Session): Promise<readonly Candidate[]> {
  const connected = session.fleet.connected.map(({ ref }) => ({
    text: ref.name,
    summary: `${ref.address} · connected`,
  }));
  try {
    const inventory = await session.services.inventory.load();
    return [
      ...connected,
      ...inventory.devices.map(({ name, address }) => ({ text: name, summary: address })),
      ...inventory.groups().map((group) => ({ text: `@${group}`, summary: 'group' })),
      { text: '@all', summary: 'all devices of the inventory' },
    ];
  } catch (error) {
    // A broken inventory is reported by the command that needs it, not while typing.
    if (error instanceof DevshError) return connected;
    throw error;
  }
}

/** The fields that records of a resource were seen to have, in the order of the device. */
export function knownFields(fleet: CompletionScope['fleet'], resource: string): string[] {
  const fields = new Set<string>();
  for (const member of fleet.connected) {
    for (const record of member.seen(resource) ?? []) {
      for (const field of Object.keys(record)) fields.add(field);
    }
  }
  return [...fields];
}
