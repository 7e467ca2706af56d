import type { Run } from '../../change/journal.ts';
import { notCoveredBy, type PlanPart } from '../../change/plan.ts';
import { countsOf, resultsOf } from '../../change/run-results.ts';
import { DevshError, NotFoundError, SettingsError, unlessFailed } from '../../errors.ts';
import { zonedTime } from '../../text/time.ts';
import { suggest } from '../../text/suggest.ts';
import type { SummaryOutput } from '../output.ts';
import type { Services } from '../services.ts';
import { writeTextAtomically } from '../../os/files.ts';

/** Throws a `NotFoundError`. */
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

/** The runs after this one that can be read, the oldest first. */
export async function laterRuns({ runs }: Services, id: string): Promise<readonly Run[]> {
  return readableRuns(
    runs,
    (await runs.ids()).filter((other) => other > id),
  );
}

/** The same of the runs whose journal was written to after `time` (ms UTC). */
export async function runsSince({ runs }: Services, time: number): Promise<readonly Run[]> {
  return readableRuns(runs, Number.isFinite(time) ? await runs.idsSince(time) : []);
}

async function readableRuns(runs: Services['runs'], ids: readonly string[]): Promise<Run[]> {
  const { parseJournal } = await import('../../change/read-journal.ts');
  const found: Run[] = [];
  for (const id of ids.toReversed()) {
    const run = await unlessFailed(
      runs.read(id).then((text = '') => parseJournal(text, runs.path(id))),
    );
    if (run?.isPlanned === true) found.push(run);
  }
  return found;
}

/** To the file of `--result`, too. A result without an end makes another process read before it sends. */
export async function writeResult(
  services: Services,
  run: string,
  { result }: PlanPart,
  hasEnded: boolean,
): Promise<void> {
  const { resultText } = await import('../../change/result-file.ts');
  const endedAt = hasEnded ? services.now().toISOString() : undefined;
  try {
    await writeTextAtomically(result, resultText((await services.runs.read(run)) ?? '', endedAt));
  } catch (error) {
    if (!hasEnded || !(error instanceof DevshError)) throw error;
    throw new SettingsError(
      `${error.message}; nothing is lost: "resume ${run}" writes the result again`,
      { cause: error },
    );
  }
}

export async function latestRun(services: Services): Promise<Run> {
  const [id] = await services.runs.ids();
  if (id === undefined) throw new NotFoundError('there is no run yet');
  return loadRun(services, id);
}

/** When a run did something last (ms UTC). */
export function lastActivity({ at, endedAt = at, states, drops = [] }: Run): number {
  const steps = [...states.values()].flat();
  const sent = steps.flatMap((state) => (state.kind === 'waiting' ? [] : state.at));
  const times = [at, endedAt, ...sent, ...drops.map((drop) => drop.at)];
  return times.reduce((latest, time) => Math.max(latest, Date.parse(time)), 0);
}

/** `began 17:02 UTC+01:00 by ann@host` */
export function beganText({ at, by }: Run): string {
  return `began ${zonedTime(at)} by ${by}`;
}

export async function summaryOf(run: Run): Promise<SummaryOutput> {
  const { namesOf, pendingIn, traceOf } = await import('../../change/pending.ts');
  return {
    kind: 'summary',
    run: run.run,
    counts: countsOf(resultsOf(run)),
    notCovered: notCoveredBy(run.plan),
    pending: namesOf(pendingIn(traceOf(run))),
  };
}
