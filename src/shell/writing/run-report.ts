import {
  countsText,
  csvReport,
  jsonReport,
  type Report,
  reportData,
  reportOf,
} from '../../change/report/report.ts';
import { curlReport } from '../../change/report/curl.ts';
import { junitReport } from '../../change/report/junit.ts';
import { markdownReport } from '../../change/report/markdown.ts';
import type { Run } from '../../change/journal.ts';
import type { JsonValue } from '../../device/record.ts';
import type { ReportKind } from '../grammar/options.ts';
import { ExitCode, type Output, success, type TextOutput, warning } from '../output.ts';
import { type Merged, mergeResults, readResult } from '../../change/result-file.ts';
import { isPlanFile, parsePlanFile } from '../../change/plan-file.ts';
import { countsOf, resultsOf } from '../../change/run-results.ts';
import { StoppedError, UsageError } from '../../errors.ts';
import type { Call } from '../command.ts';
import { summaryOf } from './stored-runs.ts';
import { someOf } from '../../text/one-line.ts';
import { writeTextAtomically } from '../../os/files.ts';

const WRITE: Readonly<Record<ReportKind, (report: Report) => string>> = {
  markdown: markdownReport,
  json: jsonReport,
  junit: junitReport,
  csv: csvReport,
  curl: curlReport,
};

export function runReport(run: Run, as: ReportKind | undefined): TextOutput {
  const report = reportOf(run);
  return reportOutput(WRITE[as ?? 'markdown'](report), reportData(report), as);
}

/** @param data the same for programs */
export function reportOutput(
  text: string,
  data: JsonValue,
  as: ReportKind | undefined,
): TextOutput {
  return {
    kind: 'text',
    name: 'report',
    text,
    // An explicit `--as markdown` prints the source, on a terminal, too.
    ...(as === undefined && { isMarkdown: true as const }),
    // `--json` without `--as` prints the data, not Markdown in a string.
    ...((as === undefined || as === 'json') && { data }),
  };
}

/** Into the file of `--output`, else to standard output. */
export async function* writeReport(
  { options: { output } }: Call<'output'>,
  report: TextOutput,
): AsyncGenerator<Output> {
  if (output === undefined) {
    yield report;
    return;
  }
  await writeTextAtomically(output, report.text);
  yield success(`wrote the report to ${output}`);
}

/** Only so many names are printed; all are among the results. */
const MOST_NAMES = 20;

/** `runs merge FILE…`: merges the results of all shards into one run. */
export async function* mergeRuns(call: Call<'as' | 'output' | 'plan'>): AsyncGenerator<Output> {
  const { as, output } = call.options;
  const merged = await readParts(call);
  const { run, missing, remarks } = merged;
  for (const text of remarks) yield warning(text);
  if (missing.length > 0) yield warning(missingText(merged));
  const results = resultsOf(run);
  const counts = countsOf(run);
  const report = as === undefined && output === undefined ? undefined : runReport(run, as);
  if (report !== undefined && output !== undefined) yield* writeReport(call, report);
  if (report === undefined || output !== undefined) {
    for (const result of results) yield { kind: 'result', run: run.run, result };
    yield await summaryOf(run);
    return;
  }
  yield report;
  // Only the report is printed; the exit code is still that of the results.
  const exitCode = new ExitCode();
  for (const result of results) exitCode.add({ kind: 'result', run: run.run, result });
  if (exitCode.value !== 0) {
    throw new StoppedError(exitCode.value, `not everything went as planned: ${countsText(counts)}`);
  }
}

async function readParts(call: Call<'plan'>): Promise<Merged> {
  const { plan: planName } = call.options;
  if (planName === undefined) {
    throw new UsageError('merge needs the plan of these results: --plan PLANFILE');
  }
  const text = await call.readText(planName);
  if (!isPlanFile(text)) throw new UsageError(`${planName} is not a plan file of devsh`);
  // Results stay valid after the plan has expired.
  const plan = parsePlanFile(text, planName, call.shell.services.now(), new Set(['drift']));
  const files = [];
  for (const file of new Set(call.args.all('FILE'))) {
    files.push(readResult(await call.readText(file), file));
  }
  return mergeResults(plan, files);
}

function missingText({ run, missing }: Merged): string {
  const names = missing.map(({ name }) => name);
  const count = `${missing.length} of ${run.plan.devices.length} devices`;
  return `${count} are in no result file: ${someOf(names, MOST_NAMES)}`;
}
