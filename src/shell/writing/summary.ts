import type { JournalEntry, Run } from '../../change/journal.ts';
import { runOf } from '../../change/journaled-run.ts';
import { namesOf, pendingIn, traceOf, unresolvedFilters } from '../../change/pending.ts';
import { isOwing, notCoveredBy, stepCount } from '../../change/plan.ts';
import { countsOf, resultsOf } from '../../change/run-results.ts';
import { grouped } from '../../device/record.ts';
import { someOf } from '../../text/one-line.ts';
import { info, type Output, warning } from '../output.ts';

export function summaryOf(run: Run) {
  return {
    kind: 'summary' as const,
    run: run.run,
    counts: countsOf(resultsOf(run)),
    notCovered: notCoveredBy(run.plan),
    pending: namesOf(pendingIn(traceOf(run))),
  };
}

/** The result of the run of a journal, and the lines that continue it. */
export function* summary(entries: readonly JournalEntry[], file: string): Generator<Output> {
  const ended = runOf(entries, file);
  const { run, plan } = ended;
  const { devices } = plan;
  const whole = summaryOf(ended);
  yield whole;
  for (const { device, filter } of unresolvedFilters(devices)) {
    yield warning(
      `devsh could not read ${device.name}, and "${filter}" matches nothing elsewhere: nothing is pending; repeat the line with --on ${device.name}`,
    );
  }
  // A step that devsh itself refused as invalid would fail again.
  const hasFailed = resultsOf(ended).some(
    (one) => one.verdict === 'failed' && !isOwing(one) && one.error?.code !== 'invalid',
  );
  const again = hasFailed && stepCount(plan) > 1 ? 'tries the failed steps again' : undefined;
  // Only its line can plan an import: it needs the file, and the records of the device.
  const ways = grouped(whole.pending, (name) => {
    const { error, changes = [] } = devices.find(({ device }) => device.name === name) ?? {};
    const isByLine = error !== undefined && changes.length === 0;
    if (isByLine) return 'repeat the line there later';
    return `"resume ${run}" continues${again === undefined ? '' : `, and ${again}`}`;
  });
  // The summary above names all devices.
  for (const [way, names] of ways) {
    yield info(`pending${ways.size > 1 ? ` on ${someOf(names)}` : ''}: ${way}`);
  }
  if (again !== undefined && ![...ways.keys()].some((way) => way.endsWith(again))) {
    yield info(`"resume ${run}" ${again}`);
  }
}
