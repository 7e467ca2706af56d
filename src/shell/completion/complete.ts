import { readdir } from 'node:fs/promises';
import type { Candidate } from '../grammar/option.ts';
import { unlessBroken } from '../../errors.ts';
import { type CompletionSources, knownDevices } from './known.ts';
import { parseLine, quoteLine, quoteWord, type Word } from '../../text/words.ts';
import type { CommandSpec } from '../command.ts';
import { expectedAt, joinedValue, withoutOptions } from './expected-at.ts';
import { hasUnsafe } from '../../text/visible.ts';
import { formatAddress, parseAddress } from '../../device/address.ts';
import { isResourceName } from '../../device/profile.ts';
import { COMMANDS } from '../commands/index.ts';
import { resourceCommand } from '../commands/resource.ts';
import type { Answer, Asked } from './shells.ts';

/** What could stand in place of the characters from `start` to `end` of the line. */
export interface Completion {
  readonly start: number;
  readonly end: number;
  readonly proposals: readonly Proposal[];
  /** The name of a file may stand there, too. */
  readonly takesFile?: boolean;
}

interface Proposal extends Candidate {
  /** What is put into the line: quoted, with a space behind it when the word is complete. */
  readonly insert: string;
  /** Where in `text` the letters stand that were typed, in UTF-16 units from 0. */
  readonly letters: readonly number[];
}

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
  const history = await unlessBroken(session.services.history.load(), []);
  const { candidates, takesFile } = expectedAt(before, scope, commands);
  const typed = joinedValue(current.text)?.start.length ?? 0;
  // Behind `--output=`, too.
  const [option, path] = [current.text.slice(0, typed), current.text.slice(typed)];
  const found = takesFile ? ((await session.files?.(path)) ?? []) : [];
  const files = found.map((file) => ({ ...file, text: option + file.text }));
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

/** What `--on` says in a line. */
function selectorsIn(words: readonly Word[]): string[] {
  return words.flatMap(({ text }, at) => {
    if (words[at - 1]?.text === '--on') return [text];
    return text.startsWith('--on=') ? [text.slice('--on='.length)] : [];
  });
}

/** Devices and groups that can be named: those of the session first, then the inventory. */
async function targetsOf(session: CompletionSources): Promise<readonly Candidate[]> {
  const connected = session.fleet.connected.map(({ ref }) => ({
    text: ref.name,
    summary: `${ref.address} · connected`,
  }));
  const inventory = await unlessBroken(session.services.inventory.load(), undefined);
  if (inventory === undefined) return connected;
  return [
    ...connected,
    ...inventory.devices.map(({ name, address }) => ({ text: name, summary: address })),
    ...inventory.groups().map((group) => ({ text: `@${group}`, summary: 'group' })),
    { text: '@all', summary: 'all devices of the inventory' },
  ];
}

/** Where the letters that were typed stand in a candidate, in UTF-16 units from 0. */
interface Match {
  /** How well it fits, less is better: as typed, so begun, in it, its letters in that order. */
  readonly tier: 0 | 1 | 2 | 3;
  readonly letters: readonly number[];
}

/** How what was typed fits a candidate; undefined: not at all. Case is ignored. */
export function matchOf(typed: string, text: string): Match | undefined {
  const wanted = typed.toLowerCase();
  const held = text.toLowerCase();
  // Few letters get longer in lower case; then no place in it is one in the text.
  const isSameLength = held.length === text.length;
  const at = held.indexOf(wanted);
  if (at >= 0) {
    const letters = isSameLength ? Array.from(wanted, (_, index) => at + index) : [];
    return { tier: at > 0 ? 2 : held === wanted ? 0 : 1, letters };
  }
  const letters = subsequence(wanted, held);
  // What does not even begin where a word does is no resemblance.
  if (letters === undefined || !isWordStart(held, letters[0] ?? 0)) return undefined;
  return { tier: 3, letters: isSameLength ? letters : [] };
}

/** Where the letters of `wanted` stand in `held`, one after the other; at the starts of words if they can. */
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

/** How often, and how lately, words were used; 0 for one that never was. */
type Usage = (command: string, word: string) => number;

/** Lines older than these say nothing of what is wanted now. */
const LINES = 1_000;

/** After so many lines, a use counts half. */
const HALF_LIFE = 100;

/** What the lines of the history, oldest first, tell of the words behind each command ('' for itself). */
export function usageOf(history: readonly string[]): Usage {
  const weights = new Map<string, number>();
  const add = (command: string, word: string, weight: number): void => {
    const key = `${command}\n${word}`;
    weights.set(key, (weights.get(key) ?? 0) + weight);
  };
  for (const [age, line] of history.slice(-LINES).reverse().entries()) {
    const weight = 0.5 ** (age / HALF_LIFE);
    const [first, ...rest] = parseLine(line).words;
    if (first === undefined) continue;
    add('', first.text, weight);
    for (const { text } of rest) {
      add(first.text, text, weight);
      const [field] = /^[^=]+=(?=.)/s.exec(text) ?? [];
      if (field !== undefined) add(first.text, field, weight);
    }
  }
  return (command, word) => weights.get(`${command}\n${word}`) ?? 0;
}

/** So many files of a folder are proposed. */
const MOST_FILES = 1_000;

/**
 * The files that a word may be the name of: those in the folder that is typed already. A folder ends
 * with a slash, and more follows; hidden files are there once their dot is typed.
 */
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
    // A folder that is not there, or not to be read, is reported by the command.
    return [];
  }
}

/** So many files of devices are looked at for the names of resources. */
const MOST_DEVICES = 64;

/** What may stand in place of the word that is asked for; from files, never from a device. */
export async function answer(asked: Asked, sources: CompletionSources): Promise<Answer> {
  const line = quoteLine([...asked.before, asked.typed]);
  const resources = await resourcesSeen(sources);
  const commands = [...COMMANDS, ...resources.map(resourceCommand)];
  const { proposals, takesFile = false } = await complete(line, line.length, commands, sources);
  // A name that a terminal would obey can be typed in no shell, either.
  return { candidates: proposals.filter(({ text }) => !hasUnsafe(text)), takesFile };
}

/** The resources, besides users, that devices of the inventory were seen to have. */
async function resourcesSeen({ services }: CompletionSources): Promise<readonly string[]> {
  const inventory = await unlessBroken(services.inventory.load(), undefined);
  const devices = inventory?.devices.slice(0, MOST_DEVICES) ?? [];
  const seen = await Promise.all(
    devices.map(({ address }) => services.seenKeys.of(formatAddress(parseAddress(address)))),
  );
  const names = new Set(seen.flatMap((resources) => Object.keys(resources)));
  return [...names].filter(
    (name) => isResourceName(name) && !COMMANDS.some((command) => command.name === name),
  );
}
