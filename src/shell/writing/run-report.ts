import { jsonDocument, reportData, reportOf } from '../../change/report.ts';
import { markdownReport } from './markdown-report.ts';
import type { Run } from '../../change/journal.ts';
import type { JsonValue } from '../../device/record.ts';
import { type Output, success, type TextOutput, warning } from '../output.ts';
import { type Merged, mergeResults, readResult } from '../../change/result-file.ts';
import { isPlanFile, parsePlanFile } from '../../change/plan-file.ts';
import { resultsOf } from '../../change/run-results.ts';
import { UsageError } from '../../errors.ts';
import { textOf } from '../../output/sentences.ts';
import type { Call } from '../command.ts';
import { summaryOf } from './summary.ts';
import { someOf } from '../../text/one-line.ts';
import { writeTextAtomically } from '../../os/files.ts';

export function reportOutput(text: string, data: JsonValue): TextOutput {
  return { kind: 'text', name: 'report', text, isMarkdown: true, data };
}

export function runReport(run: Run): TextOutput {
  const report = reportOf(run);
  return reportOutput(markdownReport(report), reportData(report));
}

/** Writes the report to the file of `--output` (JSON with `--json`), else yields it for standard output. */
export async function* writeReport(
  { options: { output, format } }: Call<'output'>,
  report: TextOutput,
): AsyncGenerator<Output> {
  if (output === undefined) {
    yield report;
    return;
  }
  const isJson = format === 'json' || format === 'jsonl';
  await writeTextAtomically(output, isJson ? jsonDocument(report.data ?? null) : report.text);
  yield success(`wrote the report to ${output}`);
}

/** The message names at most this many devices. The results have all of them. */
const MOST_NAMES = 20;

/** `runs merge FILE…`: merges the results of all shards into one run. */
export async function* mergeRuns(call: Call<'output' | 'plans'>): AsyncGenerator<Output> {
  const { run, missing, remarks } = await readParts(call);
  for (const note of remarks) yield warning(textOf(note));
  if (missing.length > 0) {
    const count = `${missing.length} of ${run.plan.devices.length} devices`;
    const names = missing.map(({ name }) => name);
    yield warning(`${count} are in no result file: ${someOf(names, MOST_NAMES)}`);
  }
  if (call.options.output !== undefined) yield* writeReport(call, runReport(run));
  for (const result of resultsOf(run)) yield { kind: 'result', run: run.run, result };
  yield summaryOf(run);
}

async function readParts(call: Call<'plans'>): Promise<Merged> {
  const names = new Set(call.options.plans);
  if (names.size === 0) {
    throw new UsageError('merge needs the plan of these results: --plan PLANFILE');
  }
  const plans = [];
  for (const name of names) {
    const text = await call.readText(name);
    if (!isPlanFile(text)) throw new UsageError(`${name} is not a plan file of devsh`);
    // Results stay valid after the plan has expired.
    plans.push(parsePlanFile(text, name, call.shell.services.now(), new Set(['drift'])));
  }
  const files = [];
  for (const file of new Set(call.args.all('FILE'))) {
    files.push(readResult(await call.readText(file), file));
  }
  return mergeResults(plans, files);
}
