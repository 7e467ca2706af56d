import { isGood, type StepResult } from '../change/verdict.ts';
import { join } from 'node:path';
import { allowedBy, type AllowedWord } from '../change/allow.ts';
import { type ApplyJournal, journalIn, journalLine, openingLines } from '../change/journal.ts';
import { applyPlan, ALL_AT_ONCE } from '../change/apply.ts';
import { guardPlan } from '../change/guard.ts';
import { newRunId, unplannedResults, type Plan } from '../change/plan.ts';
import { UsageError } from '../errors.ts';
import { operatorName } from '../os/environment.ts';
import { RunFiles, type RunFile } from '../settings/run-files.ts';
import { withWriteLock } from '../os/lock.ts';
import { VERSION } from '../version.ts';
import { OpenDevice, refuseUnknownOptions } from './open-device.ts';
import { ReadyPlan } from './plan.ts';

export interface ApplyOptions {
  /**
   * The state folder of devsh (`devsh info` shows that of the command line). The run is journaled there,
   * each step before it is sent, so that `devsh run show`, `resume` and `undo` can use it; and only one run
   * at a time writes to a device. Without it there is neither journal nor lock.
   */
  readonly stateFolder?: string;
  /** The name of the run in its journal. */
  readonly purpose?: string;
  /** Number of devices in parallel; default 1. The steps of one device always run one by one. */
  readonly concurrency?: number;
  /** No further step is started if more devices than this have failed. */
  readonly maxFailures?: number;
  /** Refusals to override: `own-account` also deletes the account in use, `break-glass=NAME` that account. */
  readonly allow?: readonly AllowedWord[];
  /** Aborted: the request in flight is finished and read back, the rest is `skipped`. */
  readonly signal?: AbortSignal;
  /**
   * Called with each result when it has been read back. An error that it throws is thrown after the run.
   */
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

/** The results of a plan. */
export interface RunReport {
  /** Such as `20261121-093041-ab3q7m`; `devsh run show` accepts it if there is a journal. */
  readonly run: string;
  /** One for each step, and for each change that needed no request or could not be planned. */
  readonly results: readonly StepResult[];
  /** Every verdict is `done` or `unchanged`. */
  readonly isGood: boolean;
  /** Why the run ended early. */
  readonly stopped: string | undefined;
  /** The path of the journal. */
  readonly journal: string | undefined;
}

/**
 * Applies a plan: reads each device again, refuses one that has changed since (`drift`), sends each step
 * once, reads the records back and compares them. Failures of a device are results; nothing is ever
 * repeated blindly. Throws RefusedError for a plan that would lock its caller out, and SettingsError if the
 * journal cannot be written: nothing more is sent then.
 */
export async function apply(ready: ReadyPlan, options: ApplyOptions = {}): Promise<RunReport> {
  refuseUnknownOptions('apply', options, APPLY_OPTIONS);
  const { concurrency = 1, maxFailures: limit, stateFolder } = options;
  const { signal = new AbortController().signal } = options;
  checkCount('concurrency', concurrency, 1);
  if (limit !== undefined) checkCount('maxFailures', limit, 0);
  // An empty variable must not create a journal in the working directory.
  if (stateFolder === '') throw new UsageError('stateFolder: the path of a folder');
  // A plan may be applied more than once; each time is a new run.
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
        // A failing callback must not interrupt a write to devices.
        failure ??= { error };
      }
    };
    for (const { settled } of plan.devices) settled.forEach(report);
    unplannedResults(plan).forEach(report);
    const events = applyPlan(plan, devices, {
      allowed,
      width: concurrency,
      rollOut: {
        ...ALL_AT_ONCE,
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
