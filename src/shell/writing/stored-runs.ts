import type { Run } from '../../change/journal.ts';
import { EmptyJournalError, type PlanPart } from '../../change/plan.ts';
import { DevshError, expectedError, NotFoundError, SettingsError } from '../../errors.ts';
import { suggest } from '../../text/suggest.ts';
import type { Services } from '../services.ts';
import { writeTextAtomically } from '../../os/files.ts';

/** Throws a `NotFoundError` for an unknown id. */
export async function loadRun({ runs }: Services, id: string): Promise<Run> {
  const text = await runs.read(id);
  if (text !== undefined) {
    const { parseJournal } = await import('../../change/read-journal.ts');
    return parseJournal(text, runs.path(id));
  }
  const [suggestion] = suggest(id, await runs.ids());
  const hint = suggestion === undefined ? '"runs" lists them' : `did you mean ${suggestion}?`;
  throw new NotFoundError(`there is no run "${id}"; ${hint}`);
}

/** A run, together with those that continue it if it is the first of them. Throws a `NotFoundError`. */
export async function wholeRun(services: Services, id: string): Promise<Run> {
  const { withContinued } = await import('../../change/continued-run.ts');
  return withContinued(await loadRun(services, id), await laterRuns(services, id));
}

/** An error if the journal cannot be read; undefined if it ends within its first line: the run had sent nothing. */
export async function readableRun(
  services: Services,
  id: string,
): Promise<Run | DevshError | undefined> {
  const run = await loadRun(services, id).catch(expectedError);
  return run instanceof EmptyJournalError ? undefined : run;
}

/** The planned runs after this one that can be read, the oldest first. */
export async function laterRuns(services: Services, id: string): Promise<readonly Run[]> {
  const ids = await services.runs.ids();
  const later = ids.filter((other) => other > id);
  const { runs } = await readRuns(services, later);
  return runs.filter(({ isPlanned }) => isPlanned);
}

/** The runs whose journal was written to after `time` (ms UTC), the oldest first, and by id why the others cannot be read. */
export async function runsSince(services: Services, time: number) {
  return readRuns(services, await services.runs.idsSince(time));
}

async function readRuns(services: Services, ids: readonly string[]) {
  const runs: Run[] = [];
  const unreadable = new Map<string, string>();
  for (const id of ids.toReversed()) {
    const run = await readableRun(services, id);
    if (run instanceof DevshError) unreadable.set(id, run.message);
    else if (run !== undefined) runs.push(run);
  }
  return { runs, unreadable };
}

/** Writes the journals of a run to its result file. Until `hasEnded`, a process that continues from it reads first. */
export async function writeResult(
  services: Services,
  run: string,
  { result }: PlanPart,
  hasEnded: boolean,
): Promise<void> {
  const { resultText } = await import('../../change/result-file.ts');
  const endedAt = hasEnded ? services.now().toISOString() : undefined;
  const ids = [run, ...(await continuing(services, run)).map((one) => one.run)];
  const journals = await Promise.all(ids.map((id) => services.runs.read(id)));
  try {
    await writeTextAtomically(result, resultText(journals.join(''), endedAt));
  } catch (error) {
    if (!hasEnded || !(error instanceof DevshError)) throw error;
    throw new SettingsError(
      `${error.message}; nothing is lost: "resume ${run}" writes the result again`,
      { cause: error },
    );
  }
}

/** The runs that continue this one, the oldest first. */
export async function continuing(services: Services, id: string): Promise<readonly Run[]> {
  return (await laterRuns(services, id)).filter(({ plan }) => plan.of?.run === id);
}

/** The time of the last thing that a run did, or that was noted about it (ms UTC). */
export function lastActivity({ at, endedAt = at, states, drops = [] }: Run): number {
  const steps = [...states.values()].flat();
  const sent = steps.flatMap((state) => (state.kind === 'waiting' ? [] : state.at));
  const times = [at, endedAt, ...sent, ...drops.map((drop) => drop.at)];
  return times.reduce((latest, time) => Math.max(latest, Date.parse(time)), 0);
}
