import { DevshError } from '../../errors.ts';
import { completeList } from './complete-list.ts';
import { fieldCandidates } from '../commands/record-arguments.ts';
import { knownDevices, type CompletionSources } from './known-devices.ts';
import { matchOf, type Match } from './match.ts';
import { OPTIONS } from '../grammar/option-list.ts';
import type { OptionSpec } from '../grammar/options.ts';
import { parseLine, quoteWord, type Word } from '../grammar/parse.ts';
import type {
  ArgSpec,
  Candidate,
  CommandSpec,
  CompletionScope,
  VerbSpec,
} from '../grammar/spec.ts';
import { usageOf } from './usage.ts';

/** What could stand in place of the characters from `start` to `end` of the line. */
export interface Completion {
  readonly start: number;
  readonly end: number;
  readonly proposals: readonly Proposal[];
  /** The name of a file may stand there, too. */
  readonly takesFile?: boolean;
}

export interface Proposal extends Candidate {
  /** What is put into the line: quoted, with a space behind it when the word is complete. */
  readonly insert: string;
  /** Where in `text` the letters stand that were typed, in UTF-16 units from 0. */
  readonly letters: readonly number[];
}

/** What arguments and values of options are called that are files. */
const FILES: readonly (string | undefined)[] = ['FILE', 'SOURCE', 'DIR'];

/** Options that may stand several times in one line. */
const REPEATABLE: ReadonlySet<string> = new Set([
  'on',
  'group',
  'quirk',
  'fault',
  'verbose',
  'map',
]);

/** Proposals for the word that ends at the cursor, best first, from what is known already. */
export async function complete(
  line: string,
  cursor: number,
  commands: readonly CommandSpec[],
  session: CompletionSources,
): Promise<Completion> {
  const { words } = parseLine(line.slice(0, cursor));
  const last = words.at(-1);
  const isNewWord = last === undefined || last.end < cursor;
  const current: Word = isNewWord ? { text: '', start: cursor, end: cursor } : last;
  const before = isNewWord ? words : words.slice(0, -1);
  const scope = {
    commands,
    fleet: session.fleet,
    devices: await knownDevices(session, selectorsIn(before)),
    targets: await targetsOf(session),
    runs: await session.services.runs.ids(),
    typed: current.text,
  };
  const history = await historyOf(session);
  const { candidates, takesFile } = expectedAt(before, scope, commands);
  const typed = joinedValue(current.text)?.start.length ?? 0;
  const files = takesFile ? await filesFor(session, current.text, typed) : [];
  const ranked = rank([...candidates, ...files], before, current.text, history);
  const proposals = ranked.map(({ candidate, match }) => ({
    ...candidate,
    insert: insertionOf(candidate),
    letters: match.letters,
  }));
  return { start: current.start, end: cursor, proposals, takesFile };
}

/**
 * Those that fit best, and only those that fit as well as the best: what begins as typed, else what
 * contains it, else what has its letters. What was used more, and later, comes first.
 */
function rank(
  candidates: readonly Candidate[],
  before: readonly Word[],
  typed: string,
  history: readonly string[],
): { candidate: Candidate; match: Match }[] {
  const seen = new Set<string>();
  const fitting = candidates.flatMap((candidate) => {
    const match = seen.has(candidate.text) ? undefined : matchOf(typed, candidate.text);
    seen.add(candidate.text);
    return match === undefined ? [] : [{ candidate, match }];
  });
  // A word that is complete already stands among those that go on.
  const best = Math.max(1, Math.min(...fitting.map(({ match }) => match.tier)));
  const usage = usageOf(history);
  const [command] = withoutOptions(before);
  return fitting
    .filter(({ match }) => match.tier <= best)
    .map((one) => ({ ...one, used: usage(command ?? '', one.candidate.text) }))
    .sort((a, b) => a.match.tier - b.match.tier || b.used - a.used);
}

function insertionOf({ text, continues }: Candidate): string {
  const [, field, value] = /^([^=\s'"]+=)(.*)$/s.exec(text) ?? [];
  const quoted =
    field !== undefined && value !== undefined
      ? `${field}${value === '' ? '' : quoteWord(value)}`
      : quoteWord(text);
  return continues === true ? quoted : `${quoted} `;
}

/** The files that the word may name, behind `--output=`, too. */
async function filesFor(
  { files }: CompletionSources,
  word: string,
  start: number,
): Promise<readonly Candidate[]> {
  const found = (await files?.(word.slice(start))) ?? [];
  return found.map((file) => ({ ...file, text: word.slice(0, start) + file.text }));
}

/** What may stand at the cursor. */
interface Expected {
  readonly candidates: readonly Candidate[];
  readonly takesFile: boolean;
}

function only(candidates: readonly Candidate[]): Expected {
  return { candidates, takesFile: false };
}

function expectedAt(
  before: readonly Word[],
  scope: Omit<CompletionScope, 'given'>,
  commands: readonly CommandSpec[],
): Expected {
  const plain = withoutOptions(before);
  const [first, second] = plain;
  const command = commands.find(
    ({ name, aliases }) => name === first || (first !== undefined && aliases?.includes(first)),
  );
  // Behind `--` nothing is an option.
  const isOver = before.some(({ text }) => text === '--');
  const optionBefore = isOver ? undefined : optionAwaitingValue(before.at(-1));
  if (optionBefore !== undefined) return valuesOf(optionBefore, scope, command);
  const isOption = scope.typed.startsWith('-') && !isOver;
  const joined = isOption ? joinedValue(scope.typed) : undefined;
  if (joined !== undefined) {
    const { option, start } = joined;
    const typed = scope.typed.slice(start.length);
    const { candidates, takesFile } = valuesOf(option, { ...scope, typed }, command);
    return { candidates: candidates.map((one) => ({ ...one, text: start + one.text })), takesFile };
  }
  const isGiven = (name: string): boolean => before.some(({ text }) => text.split('=')[0] === name);
  if (command === undefined) {
    if (first !== undefined) return only([]);
    return only(
      isOption
        ? optionCandidates(['general'], isGiven)
        : commands.map(({ name, summary }) => ({ text: name, summary })),
    );
  }
  const named = command.verbs.find(({ name }) => name !== '' && name === second);
  const verb = named ?? command.verbs.find(({ name }) => name === (command.defaultVerb ?? ''));
  if (isOption) return only(optionCandidates(['general', ...(verb?.options ?? [])], isGiven));
  const given = plain.slice(named === undefined ? 1 : 2);
  const verbs =
    second === undefined
      ? command.verbs
          .filter(({ name }) => name !== '')
          .map(({ name, summary }) => ({ text: name, summary }))
      : [];
  const arg = argumentAt(verb, given.length);
  const values = arg?.complete?.({ ...scope, given }) ?? [];
  return { candidates: [...verbs, ...values], takesFile: FILES.includes(arg?.name) };
}

function argumentAt(verb: VerbSpec | undefined, index: number): ArgSpec | undefined {
  const args = verb?.args ?? [];
  const last = args.at(-1);
  return args[index] ?? (last?.isRest === true ? last : undefined);
}

function optionCandidates(
  groups: readonly OptionSpec['group'][],
  isGiven: (option: string) => boolean,
): Candidate[] {
  return OPTIONS.filter(({ group }) => groups.includes(group))
    .filter(({ name }) => REPEATABLE.has(name) || !isGiven(`--${name}`))
    .map(({ name, value, summary }) => ({
      text: `--${name}`,
      summary: value === undefined ? summary : `${value} · ${summary}`,
    }));
}

/** The option in front of its value: `--on`, `-o`. */
function optionAwaitingValue(word: Word | undefined): OptionSpec | undefined {
  return OPTIONS.find(
    ({ name, short, value, isValueOptional }) =>
      value !== undefined &&
      isValueOptional !== true &&
      (word?.text === `--${name}` || (short !== undefined && word?.text === `-${short}`)),
  );
}

/** The option of `--format=js`, and what stands in front of its value. */
function joinedValue(typed: string): { option: OptionSpec; start: string } | undefined {
  const [, start = '', name] = /^(--([^=]+)=)/.exec(typed) ?? [];
  const option = OPTIONS.find((one) => one.value !== undefined && one.name === name);
  return option && { option, start };
}

function withoutOptions(words: readonly Word[]): string[] {
  const texts = words.map(({ text }) => text);
  const end = texts.indexOf('--');
  const before = texts.slice(0, end === -1 ? undefined : end).filter((text, at) => {
    const isValue = optionAwaitingValue(words[at - 1]) !== undefined;
    return !isValue && !(text.startsWith('-') && text !== '-');
  });
  return end === -1 ? before : [...before, ...texts.slice(end + 1)];
}

/** What `--on` says in a line. */
function selectorsIn(words: readonly Word[]): string[] {
  return words.flatMap(({ text }, at) => {
    if (words[at - 1]?.text === '--on') return [text];
    return text.startsWith('--on=') ? [text.slice('--on='.length)] : [];
  });
}

function valuesOf(
  option: OptionSpec,
  scope: Omit<CompletionScope, 'given'>,
  command: CommandSpec | undefined,
): Expected {
  return {
    candidates: candidatesOf(option, scope, command),
    takesFile: FILES.includes(option.value) || option.name === 'profile',
  };
}

function candidatesOf(
  option: OptionSpec,
  scope: Omit<CompletionScope, 'given'>,
  command: CommandSpec | undefined,
): readonly Candidate[] {
  if (option.choices !== undefined) return option.choices.map((text) => ({ text }));
  const resource = command?.section === 'Records' ? command.name : 'user';
  switch (option.name) {
    case 'on':
      return completeList(scope.typed, /[\s,]/, () => scope.targets);
    case 'columns':
    case 'sort':
      return completeList(scope.typed, /,/, (given) =>
        fieldCandidates({ ...scope, typed: '', given }, resource, 'read').map(
          ({ text, summary }) => ({
            text: text.slice(0, -1),
            ...(summary !== undefined && { summary }),
          }),
        ),
      );
    case 'filter':
    case 'where':
      return fieldCandidates({ ...scope, given: [] }, resource, 'read');
    default:
      return [];
  }
}

/** Devices and groups that can be named: those of the session first, then the inventory. */
async function targetsOf(session: CompletionSources): Promise<readonly Candidate[]> {
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

async function historyOf({ services }: CompletionSources): Promise<readonly string[]> {
  try {
    return await services.history.load();
  } catch (error) {
    if (error instanceof DevshError) return [];
    throw error;
  }
}
