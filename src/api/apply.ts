import { isGood, type StepResult } from '../change/verdict.ts';
import { join } from 'node:path';
import { allowedBy, type AllowWord } from '../change/allow.ts';
import { type ApplyJournal, journalIn, journalLine, openingLines } from '../change/journal.ts';
import { applyPlan, IN_ONE_GO } from '../change/apply.ts';
import { guardPlan } from '../change/guard.ts';
import { newRunId, unplannedResults, type Plan } from '../change/plan.ts';
import { UsageError } from '../errors.ts';
import { operatorName } from '../os/process.ts';
import { RunFiles, type RunFile } from '../settings/run-files.ts';
import { withWriteLock } from '../os/lock.ts';
import { VERSION } from '../version.ts';
import { OpenDevice, refuseUnknownOptions } from './open-device.ts';
import { ReadyPlan } from './plan.ts';

export interface ApplyOptions {
  /**
   * Where devsh keeps its state (`devsh info` shows where the command line does). The run is journaled
   * there, each step before it is sent, so that `devsh run show`, `resume` and `undo` know it; and no two
   * runs with the same folder write to one device at a time. Without it there is neither.
   */
  readonly stateFolder?: string;
  /** What the run is called in its journal. */
  readonly purpose?: string;
  /** How many devices at a time; 1 unless given. On one device always one step after the other. */
  readonly concurrency?: number;
  /** No further step is begun when more devices than this have failed. */
  readonly maxFailures?: number;
  /** Which refusals do not count: `own-account` also deletes the account in use, `protected` the last record. */
  readonly allow?: readonly AllowWord[];
  /** Aborted: the request in flight is finished and read back, the rest is `skipped`. */
  readonly signal?: AbortSignal;
  /** Called with each result as soon as it has been read back. What it throws is thrown when all is over. */
  readonly onResult?: (result: StepResult) => void;
}

const APPLY_OPTIONS: Readonly<Record<keyof ApplyOptions, true>> = {
  stateFolder: true,
  purpose: true,
  concurrency: true,
  maxFailures: true,
  allow: true,
  signal: true,
  onResult: true,
};

/** What became of a plan. */
export interface RunReport {
  /** As in `20261121-093041-ab3q7m`; `devsh run show` takes it where there is a journal. */
  readonly run: string;
  /** One for each step, and for each that needed no request or could not be planned. */
  readonly results: readonly StepResult[];
  /** Every verdict is `done` or `unchanged`. */
  readonly isGood: boolean;
  /** Why it ended early. */
  readonly stopped: string | undefined;
  /** The path of the journal. */
  readonly journal: string | undefined;
}

/**
 * Carries out a plan: reads each device again, refuses one that has changed since (`drift`), sends each
 * step once, reads back what the device holds then, and compares. What a device does is a result; nothing
 * is ever repeated blindly. Throws RefusedError for a plan that would lock its caller out, and
 * SettingsError when the journal cannot be written: nothing more is sent then.
 */
export async function apply(ready: ReadyPlan, options: ApplyOptions = {}): Promise<RunReport> {
  refuseUnknownOptions('apply', options, APPLY_OPTIONS);
  const { concurrency = 1, maxFailures: limit, stateFolder } = options;
  const { signal = new AbortController().signal } = options;
  checkCount('concurrency', concurrency, 1);
  if (limit !== undefined) checkCount('maxFailures', limit, 0);
  // An empty variable must not be a journal in the folder where the program happens to run.
  if (stateFolder === '') throw new UsageError('stateFolder: the path of a folder');
  // A plan may be applied more than once; each time is a run of its own.
  const plan: Plan = { run: newRunId(new Date()), devices: ready.devices };
  const allowed = allowedBy(options.allow ?? []);
  const devices = ReadyPlan.behind(ready).map((device) => OpenDevice.behind(device));
  guardPlan(
    plan,
    devices.map(({ session }) => session),
    allowed,
  );
  const file = await beginJournal(plan, options);
  try {
    const results: StepResult[] = [];
    let failure: { error: unknown } | undefined;
    const report = (result: StepResult): void => {
      results.push(result);
      try {
        options.onResult?.(result);
      } catch (error) {
        // Who listens must not end a write to devices in the middle.
        failure ??= { error };
      }
    };
    for (const { settled } of plan.devices) settled.forEach(report);
    unplannedResults(plan).forEach(report);
    const events = applyPlan(plan, devices, {
      allowed,
      width: concurrency,
      rollOut: {
        ...IN_ONE_GO,
        maxFailures: limit === undefined ? undefined : { kind: 'count', limit },
      },
      signal,
      journal: file === undefined ? NO_JOURNAL : journalIn(file, () => new Date()),
      exclusive: ({ address }, work) =>
        stateFolder === undefined ? work() : withWriteLock(stateFolder, address, work, { signal }),
      stateOf: () => ({ kind: 'waiting' }),
      afterCanary: () => Promise.resolve(undefined),
    });
    let stopped: string | undefined;
    for await (const event of events) {
      if (event.kind === 'result') report(event.result);
      else stopped = event.reason;
    }
    await file?.append(journalLine({ kind: 'end', at: new Date().toISOString() }));
    if (failure !== undefined) throw failure.error;
    const { run } = plan;
    return { run, results, isGood: results.every(isGood), stopped, journal: file?.path };
  } finally {
    await file?.close();
  }
}

const NO_JOURNAL: ApplyJournal = {
  sending: () => Promise.resolve(),
  ended: () => Promise.resolve(),
  stopped: () => Promise.resolve(),
};

async function beginJournal(
  { run, devices }: Plan,
  { stateFolder, purpose = 'apply' }: ApplyOptions,
): Promise<RunFile | undefined> {
  if (stateFolder === undefined) return undefined;
  const file = await new RunFiles(join(stateFolder, 'runs')).create(run);
  const head = {
    kind: 'run' as const,
    run,
    at: new Date().toISOString(),
    command: purpose,
    by: operatorName(),
    version: VERSION,
  };
  await file.append(openingLines(head, devices));
  return file;
}

function checkCount(name: string, count: number, least: number): void {
  if (Number.isSafeInteger(count) && count >= least) return;
  throw new UsageError(`${name}: a whole number from ${least}`);
}
