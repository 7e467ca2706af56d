import { readdir } from 'node:fs/promises';
import { formatAddress, parseAddress } from '../../device/address.ts';
import { isResourceName } from '../../device/profile.ts';
import { attempt, DevshError, unlessFailed } from '../../errors.ts';
import type { Alias, Aliases } from '../../settings/settings-table.ts';
import { hasUnsafe } from '../../text/visible.ts';
import { parseLine, quoteLine, quoteWord, type Word } from '../../text/words.ts';
import { fieldCandidates } from '../arguments.ts';
import {
  commandNamed,
  type CommandSpec,
  type CompletionScope,
  defaultVerb,
  namedVerbs,
  verbNamed,
} from '../command.ts';
import { COMMANDS } from '../commands/index.ts';
import { resourceCommand } from '../commands/resource.ts';
import { expandAlias, namedAliases, shownRun } from '../grammar/aliases.ts';
import type { Candidate, Option } from '../grammar/option.ts';
import { GENERAL, type OptionKey, OPTIONS } from '../grammar/options.ts';
import { type CompletionSources, seenDevices } from '../seen-devices.ts';
import type { Answer, Asked } from './shells.ts';

/** Candidates for the characters from `start` to `end` of the line. */
export interface Completion {
  readonly start: number;
  readonly end: number;
  readonly proposals: readonly Proposal[];
  /** Whether a file name is possible here, too. */
  readonly takesFile?: boolean;
}

interface Proposal extends Candidate {
  /** The text to insert: quoted, with a space behind it if the word is complete. */
  readonly insert: string;
  /** The positions of the typed letters in `text`, in UTF-16 units from 0. */
  readonly letters: readonly number[];
}

/** Candidates for the word that ends at the cursor, best first. Uses only what is known already. */
export async function complete(
  line: string,
  cursor: number,
  commands: readonly CommandSpec[],
  session: CompletionSources,
): Promise<Completion> {
  const { words: typedWords } = parseLine(line.slice(0, cursor));
  const last = typedWords.at(-1);
  const isNewWord = last === undefined || last.end < cursor;
  const current: Word = isNewWord ? { text: '', start: cursor, end: cursor } : last;
  const typedBefore = isNewWord ? typedWords : typedWords.slice(0, -1);
  const aliases = aliasesBeside(commands, session.services.settings.get('aliases'));
  const before = behindAlias(typedBefore, aliases);
  const scope = {
    commands: [...commands, ...namedAliases(aliases).map(aliasSpec)],
    fleet: session.fleet,
    devices: await seenDevices(session, selectorsIn(before)),
    targets: await targetsOf(session),
    runs: await session.services.runs.ids(),
    typed: current.text,
  };
  const { candidates, takesFile } = await expectedAt(before, scope, scope.commands);
  const typed = joinedValue(current.text)?.start.length ?? 0;
  // A path may follow an option, as in `--output=`.
  const [option, path] = [current.text.slice(0, typed), current.text.slice(typed)];
  const found = takesFile ? ((await session.files?.(path)) ?? []) : [];
  const files = found.map((file) => ({ ...file, text: option + file.text }));
  const ranked = rank([...candidates, ...files], current.text);
  const proposals = ranked.map(({ candidate, match }) => ({
    ...candidate,
    insert: insertionOf(candidate),
    letters: match.letters,
  }));
  return { start: current.start, end: cursor, proposals, takesFile };
}

/** The aliases that run: a command or a resource of the same name wins. */
function aliasesBeside(commands: readonly CommandSpec[], aliases: Aliases = {}): Aliases {
  const own = Object.entries(aliases).filter(
    ([name]) => commandNamed(commands, name) === undefined,
  );
  return Object.fromEntries(own);
}

/** A command without verbs that stands for an alias in the list of first words. */
function aliasSpec([name, alias]: readonly [string, Alias]): CommandSpec {
  return { name, summary: shownRun(alias), section: 'Shell', verbs: [] };
}

/** Replaces an alias by its line, so that completion continues that line. */
function behindAlias(words: readonly Word[], aliases: Aliases): readonly Word[] {
  const options = { env: {}, isHidden: () => false, isPartial: true };
  const expansion = attempt(DevshError, () => expandAlias(words, aliases, options));
  return expansion?.program === undefined ? (expansion?.words ?? words) : words;
}

/** Keeps the candidates of the best tier that matches, in their order. */
function rank(
  candidates: readonly Candidate[],
  typed: string,
): { candidate: Candidate; match: Match }[] {
  const seen = new Set<string>();
  const fitting = candidates.flatMap((candidate) => {
    const match = seen.has(candidate.text) ? undefined : matchOf(typed, candidate.text);
    seen.add(candidate.text);
    return match === undefined ? [] : [{ candidate, match }];
  });
  // A complete word is listed together with the words that continue it.
  const best = Math.max(1, Math.min(...fitting.map(({ match }) => match.tier)));
  return fitting
    .filter(({ match }) => match.tier <= best)
    .sort((a, b) => a.match.tier - b.match.tier);
}

function insertionOf({ text, continues }: Candidate): string {
  const [, field, value] = /^([^=\s'"]+=)(.*)$/s.exec(text) ?? [];
  const quoted =
    field !== undefined && value !== undefined
      ? `${field}${value === '' ? '' : quoteWord(value)}`
      : quoteWord(text);
  return continues === true ? quoted : `${quoted} `;
}

function selectorsIn(words: readonly Word[]): string[] {
  return words.flatMap(({ text }, at) => {
    if (words[at - 1]?.text === '--on') return [text];
    return text.startsWith('--on=') ? [text.slice('--on='.length)] : [];
  });
}

/** Names of devices and groups: those of the session first, then those of the inventory. */
export async function targetsOf(session: CompletionSources): Promise<readonly Candidate[]> {
  const connected = session.fleet.connected.map(({ ref }) => ({
    text: ref.name,
    summary: `${ref.address} · connected`,
  }));
  const inventory = await unlessFailed(session.services.inventory.load());
  if (inventory === undefined) return connected;
  return [
    ...connected,
    ...inventory.devices.map(({ name, address }) => ({ text: name, summary: address })),
    ...inventory.groups().map((group) => ({ text: `@${group}`, summary: 'group' })),
    { text: '@all', summary: 'all devices of the inventory' },
  ];
}

interface Match {
  /** Less is better: equal, begins with it, contains it, has its letters in order. */
  readonly tier: 0 | 1 | 2 | 3;
  readonly letters: readonly number[];
}

/** How the typed text matches a candidate, ignoring case; undefined: not at all. */
export function matchOf(typed: string, text: string): Match | undefined {
  const wanted = typed.toLowerCase();
  const held = text.toLowerCase();
  // A few letters get longer in lower case, so that positions would differ from those in the text.
  const isSameLength = held.length === text.length;
  const at = held.indexOf(wanted);
  if (at >= 0) {
    const letters = isSameLength ? Array.from(wanted, (_, index) => at + index) : [];
    return { tier: at > 0 ? 2 : held === wanted ? 0 : 1, letters };
  }
  const letters = subsequence(wanted, held);
  // Letters that do not begin at a word start are no match.
  if (letters === undefined || !isWordStart(held, letters[0] ?? 0)) return undefined;
  return { tier: 3, letters: isSameLength ? letters : [] };
}

/** The positions of the letters of `wanted` in `text`, in order; at word starts if possible. */
function subsequence(wanted: string, held: string): number[] | undefined {
  const letters: number[] = [];
  let from = 0;
  for (let index = 0; index < wanted.length; index += 1) {
    const letter = wanted.charAt(index);
    const next = held.indexOf(letter, from);
    if (next < 0) return undefined;
    const start = wordStart(held, letter, next);
    const isInReach = start !== undefined && hasAll(wanted.slice(index + 1), held, start + 1);
    const at = next === from || !isInReach ? next : start;
    letters.push(at);
    from = at + 1;
  }
  return letters;
}

function wordStart(held: string, letter: string, from: number): number | undefined {
  for (let at = held.indexOf(letter, from); at >= 0; at = held.indexOf(letter, at + 1)) {
    if (isWordStart(held, at)) return at;
  }
  return undefined;
}

function isWordStart(held: string, at: number): boolean {
  return at === 0 || /[^\p{L}\p{N}]/u.test(held.charAt(at - 1));
}

function hasAll(wanted: string, held: string, from: number): boolean {
  let at = from;
  for (const letter of wanted.split('')) {
    const next = held.indexOf(letter, at);
    if (next < 0) return false;
    at = next + 1;
  }
  return true;
}

const MOST_FILES = 1_000;

/** Lists the typed folder. A folder ends with a slash; a hidden file appears once its dot is typed. */
export async function fileCandidates(typed: string): Promise<readonly Candidate[]> {
  const start = typed.lastIndexOf('/') + 1;
  const folder = typed.slice(0, start);
  const isHiddenMeant = typed[start] === '.';
  try {
    const entries = await readdir(folder === '' ? '.' : folder, { withFileTypes: true });
    return entries
      .filter(({ name }) => (isHiddenMeant || !name.startsWith('.')) && !hasUnsafe(name))
      .slice(0, MOST_FILES)
      .map((entry) => ({
        text: `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`,
        continues: entry.isDirectory(),
      }))
      .sort((a, b) => (a.text < b.text ? -1 : 1));
  } catch {
    // The command reports a folder that is missing or unreadable.
    return [];
  }
}

/** Number of device files that are searched for resource names. */
const MOST_DEVICES = 64;

/** Candidates for the word that a shell asks for; from files, never from a device. */
export async function answer(asked: Asked, sources: CompletionSources): Promise<Answer> {
  const line = quoteLine([...asked.before, asked.typed]);
  const resources = await resourcesSeen(sources);
  const commands = [...COMMANDS, ...resources.map(resourceCommand)];
  const { proposals, takesFile = false } = await complete(line, line.length, commands, sources);
  // A name with control characters cannot be typed in a shell, either.
  return { candidates: proposals.filter(({ text }) => !hasUnsafe(text)), takesFile };
}

/** The resources besides users that were observed on devices of the inventory. */
async function resourcesSeen({ services }: CompletionSources): Promise<readonly string[]> {
  const inventory = await unlessFailed(services.inventory.load());
  const devices = inventory?.devices.slice(0, MOST_DEVICES) ?? [];
  const seen = await Promise.all(
    devices.map(({ address }) => services.seenKeys.of(formatAddress(parseAddress(address)))),
  );
  const names = new Set(seen.flatMap((resources) => Object.keys(resources)));
  return [...names].filter(
    (name) => isResourceName(name) && !COMMANDS.some((command) => command.name === name),
  );
}

/** Names of arguments and placeholders whose values are files. */
const FILES: readonly (string | undefined)[] = ['FILE', 'SOURCE', 'DIR'];

interface Expected {
  readonly candidates: readonly Candidate[];
  readonly takesFile: boolean;
}

function only(candidates: readonly Candidate[]): Expected {
  return { candidates, takesFile: false };
}

/** @param before the words before the one at the cursor */
async function expectedAt(
  before: readonly Word[],
  scope: Omit<CompletionScope, 'given'>,
  commands: readonly CommandSpec[],
): Promise<Expected> {
  const words = withoutOptions(before);
  // `resource NAME` continues like the resource itself.
  const [head, name = ''] = words;
  const isNamed = head === 'resource' && isResourceName(name);
  const resourceSpec = isNamed ? resourceCommand(name) : undefined;
  const plain = resourceSpec === undefined ? words : words.slice(1);
  const [first, second] = plain;
  const command = resourceSpec ?? commandNamed(commands, first);
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
        ? optionCandidates(GENERAL, isGiven)
        : commands.map(({ name, summary }) => ({ text: name, summary })),
    );
  }
  const named = verbNamed(command, second);
  const verb = named ?? defaultVerb(command);
  if (isOption) return only(optionCandidates([...GENERAL, ...(verb?.options ?? [])], isGiven));
  const given = plain.slice(named === undefined ? 1 : 2);
  const verbs =
    second === undefined
      ? namedVerbs(command).map(({ name, summary }) => ({ text: name, summary }))
      : [];
  const args = verb?.args ?? [];
  const last = args.at(-1);
  const arg = args[given.length] ?? (last?.isRest === true ? last : undefined);
  const values = (await arg?.complete?.({ ...scope, given })) ?? [];
  // A value of a device that begins with `-`, as `--allow=…`, would be an option here.
  const safe = values.filter(({ text }) => isOver || !text.startsWith('-'));
  return { candidates: [...verbs, ...safe], takesFile: FILES.includes(arg?.name) };
}

function optionCandidates(
  keys: readonly OptionKey[],
  isGiven: (option: string) => boolean,
): Candidate[] {
  return OPTIONS.filter(({ key }) => keys.includes(key))
    .filter(({ flag, isRepeatable }) => isRepeatable === true || !isGiven(`--${flag}`))
    .map(({ flag, placeholder, summary }) => ({
      text: `--${flag}`,
      summary: placeholder === undefined ? summary : `${placeholder} · ${summary}`,
    }));
}

/** The option in front of its value: `--on`, `-o`. */
export function optionAwaitingValue(word: Word | undefined): Option | undefined {
  return OPTIONS.find(
    ({ flag, short, placeholder, isValueOptional }) =>
      placeholder !== undefined &&
      !isValueOptional &&
      (word?.text === `--${flag}` || (short !== undefined && word?.text === `-${short}`)),
  );
}

/** The option of `--format=js`, and the text in front of its value. */
function joinedValue(typed: string): { option: Option; start: string } | undefined {
  const [, start = '', name] = /^(--([^=]+)=)/.exec(typed) ?? [];
  const option = OPTIONS.find((one) => one.placeholder !== undefined && one.flag === name);
  return option && { option, start };
}

/** The words without options: commands, verbs and arguments. */
export function withoutOptions(words: readonly Word[]): string[] {
  const texts = words.map(({ text }) => text);
  const end = texts.indexOf('--');
  const before = texts.slice(0, end === -1 ? undefined : end).filter((text, at) => {
    const isValue = optionAwaitingValue(words[at - 1]) !== undefined;
    return !isValue && !(text.startsWith('-') && text !== '-');
  });
  return end === -1 ? before : [...before, ...texts.slice(end + 1)];
}

function valuesOf(
  { choices = [], complete, placeholder, takesFile = false }: Option,
  scope: Omit<CompletionScope, 'given'>,
  command: CommandSpec | undefined,
): Expected {
  const resource = command?.section === 'Records' ? command.name : 'user';
  const { typed, targets } = scope;
  const candidates = complete?.({
    typed,
    targets,
    fields: (start, given) => fieldCandidates({ ...scope, typed: start, given }, resource, 'read'),
  });
  return {
    candidates: candidates ?? choices.map((text) => ({ text })),
    takesFile: takesFile || FILES.includes(placeholder),
  };
}
