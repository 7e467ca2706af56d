import { DevshError } from '../../errors.ts';
import { knownDevices, type CompletionSources } from './known-devices.ts';
import { matchOf, type Match } from './match.ts';
import { parseLine, quoteWord, type Word } from '../grammar/parse.ts';
import type { Candidate, CommandSpec } from '../grammar/spec.ts';
import { expectedAt, joinedValue, withoutOptions } from './expected-at.ts';
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
