import { isGood, type StepResult } from './verdict.ts';
import { isRefusedLogin } from '../device/errors.ts';
import type { DevicePlan, Plan } from './plan.ts';
import type { DeviceRef } from '../device/record.ts';
import { DevshError, ReadOnlyError } from '../errors.ts';
import { MAX_REFUSALS } from '../fleet/credential-gate.ts';
import { fanOut } from '../fleet/fan-out.ts';
import { applyToDevice, endWithError, unreachedResult } from './apply-device.ts';
import type { KeptRotations } from './rotate-step.ts';
import { pause, SETTLE_DELAYS_MS } from './run-step.ts';
import type { ApplyJournal } from './journal.ts';
import { type RunControl, StopsRunError } from './run-control.ts';
import type { Access } from '../fleet/access.ts';
import type { DeviceSession } from '../fleet/device-session.ts';
import type { Allowed } from './allow.ts';
import { textOf } from '../output/sentences.ts';

/** The batches in which a plan is applied, and when it stops. */
export interface RollOut {
  /** Number of devices in the first batch. The user is asked before the rest. 0: no canary. */
  readonly canary: number;
  /** Number of devices in each further batch; undefined: all of them. */
  readonly batch: number | undefined;
  readonly pauseMs: number;
  readonly maxFailures: { readonly kind: 'count' | 'percent'; readonly limit: number } | undefined;
}

function batchesOf(
  devices: readonly DevicePlan[],
  { canary, batch = Infinity }: RollOut,
): readonly (readonly DevicePlan[])[] {
  const batches = canary > 0 ? [devices.slice(0, canary)] : [];
  for (let from = canary; from < devices.length; from += batch) {
    batches.push(devices.slice(from, from + batch));
  }
  return batches.filter((batchDevices) => batchDevices.length > 0);
}

/** Keeps the first reason to stop. */
class StopRule {
  readonly #rollOut: RollOut;
  readonly #deviceCount: number;
  readonly #unreadCount: number;
  readonly #failed = new Set<string>();
  readonly #refusedLogins = new Set<string>();
  #reason: string | undefined;
  #endReason: string | undefined;

  /**
   * @param deviceCount number of devices to change
   * @param unreadCount how many of them could not be read: they count as failed before the first write
   */
  constructor(rollOut: RollOut, deviceCount: number, unreadCount = 0) {
    this.#rollOut = rollOut;
    this.#deviceCount = deviceCount;
    this.#unreadCount = unreadCount;
    this.#checkFailures();
  }

  get reason(): string | undefined {
    return this.#reason;
  }

  get failedDevices(): readonly string[] {
    return [...this.#failed];
  }

  stop(reason: string): void {
    this.#reason ??= reason;
  }

  /** Why no further device is begun; those under way complete their steps. */
  get endReason(): string | undefined {
    return this.#reason ?? this.#endReason;
  }

  end(reason: string): void {
    this.#endReason ??= reason;
  }

  add(result: StepResult): void {
    if (isGood(result)) return;
    this.#failed.add(result.device.name);
    if (result.error instanceof StopsRunError) this.stop(result.error.stopReason);
    if (isRefusedLogin(result.error)) {
      this.#refusedLogins.add(result.device.name);
      if (this.#refusedLogins.size >= MAX_REFUSALS)
        this.stop(textOf({ code: 'stopped', is: 'logins' }));
    }
    this.#checkFailures();
  }

  #checkFailures(): void {
    const { maxFailures } = this.#rollOut;
    if (maxFailures === undefined) return;
    const count = this.#failed.size + this.#unreadCount;
    const { kind, limit } = maxFailures;
    const share = (100 * count) / this.#deviceCount;
    if (kind === 'count' ? count > limit : share > limit) {
      const allowed = kind === 'count' ? String(limit) : `${limit}%`;
      const [failed, unread] = [this.#failed.size, this.#unreadCount];
      const counts = { failed, unread, devices: this.#deviceCount, allowed };
      this.stop(textOf({ code: 'stopped', is: 'failures', ...counts }));
    }
  }
}

export interface ApplyOptions {
  readonly sessions: readonly DeviceSession[];
  readonly access: Access;
  readonly allowed: Allowed;
  /** Number of devices in parallel. The steps of one device always run one by one. */
  readonly width: number;
  readonly rollOut: RollOut;
  /** Aborted: the request in flight is finished and read back, the rest is `skipped`. */
  readonly signal: AbortSignal;
  /** Absent: nobody can pause the run. */
  readonly control?: RunControl | undefined;
  readonly journal: ApplyJournal;
  /** Present for a plan that rotates secrets. */
  readonly rotations?: KeptRotations | undefined;
  /** Runs `work` while no other devsh writes to the same device. */
  readonly exclusive: <T>(device: DeviceRef, work: () => Promise<T>) => Promise<T>;
  /** Called after the canary. Resolves to the reason to stop, if any. */
  readonly afterCanary: (canary: readonly DevicePlan[]) => Promise<string | undefined>;
  /** Delays before each further read while a change does not show yet. */
  readonly settleDelaysMs?: readonly number[];
}

export type ApplyEvent =
  | { readonly kind: 'result'; readonly result: StepResult }
  | { readonly kind: 'stopped'; readonly reason: string };

/**
 * Applies a plan batch by batch and yields the result of each step when it has been read back. Failures of a
 * device are results; only other errors are thrown (a full disk).
 */
export async function* applyPlan(plan: Plan, options: ApplyOptions): AsyncGenerator<ApplyEvent> {
  const planned = plan.devices.filter(({ steps }) => steps.length > 0);
  const unread = plan.devices.filter(({ error }) => error !== undefined).length;
  const rule = new StopRule(options.rollOut, planned.length + unread, unread);
  const batches = batchesOf(planned, options.rollOut);
  for (const [index, batchDevices] of batches.entries()) {
    if (index > 0) await beforeNextBatch(index, batches, rule, options);
    yield* applyBatch(batchDevices, rule, options);
  }
  const reason = rule.endReason;
  if (reason !== undefined) {
    await options.journal.stopped(reason);
    yield { kind: 'stopped', reason };
  }
}

const STOPPED = textOf({ code: 'stopped', is: 'user' });

/** Asks after the canary whether to continue; pauses before every later batch. */
async function beforeNextBatch(
  index: number,
  batches: readonly (readonly DevicePlan[])[],
  rule: StopRule,
  options: ApplyOptions,
): Promise<void> {
  const { rollOut, signal, control } = options;
  if (control?.isStopping === true) rule.end(STOPPED);
  if (index === 1 && rollOut.canary > 0 && rule.endReason === undefined) {
    const [failed] = rule.failedDevices;
    const reason =
      failed === undefined
        ? await options.afterCanary(batches[0] ?? [])
        : textOf({ code: 'stopped', is: 'canary', devices: rule.failedDevices.join(', ') });
    if (reason !== undefined) rule.stop(reason);
  }
  if (rule.endReason !== undefined || rollOut.pauseMs === 0) return;
  await pause(rollOut.pauseMs, control ? AbortSignal.any([signal, control.stopping]) : signal);
}

async function* applyBatch(
  batchDevices: readonly DevicePlan[],
  rule: StopRule,
  options: ApplyOptions,
): AsyncGenerator<ApplyEvent> {
  const { sessions, journal, signal, control, settleDelaysMs = SETTLE_DELAYS_MS } = options;
  const byAddress = new Map(sessions.map((session) => [session.ref.address, session]));
  yield* fanOut<DevicePlan, ApplyEvent>(batchDevices, options.width, async (devicePlan, emit) => {
    const { name } = devicePlan.device;
    const pending = devicePlan.steps.map((step, index) => ({ step, ref: { device: name, index } }));
    const report = (result: StepResult): void => {
      rule.add(result);
      emit({ kind: 'result', result });
    };
    const skipAll = (reason: string): void => {
      for (const one of pending) {
        emit({ kind: 'result', result: unreachedResult(devicePlan, one, reason) });
      }
    };
    const stopReason = (): string | undefined => {
      if (signal.aborted) rule.stop('cancelled');
      return rule.reason;
    };
    const session = byAddress.get(devicePlan.device.address);
    await control?.ready(signal);
    if (control?.isStopping === true) rule.end(STOPPED);
    const reason = stopReason() ?? rule.endReason;
    if (session === undefined || reason !== undefined) {
      skipAll(reason ?? textOf({ code: 'stopped', is: 'unselected' }));
      return;
    }
    const work = { devicePlan, journal, report };
    if (session.entry.readOnly === true) {
      const error = new ReadOnlyError({ code: 'not-sent', is: 'read-only' }, { where: name });
      await endWithError(work, pending, error);
      return;
    }
    const lock = { isHeld: false };
    try {
      await options.exclusive(devicePlan.device, () => {
        lock.isHeld = true;
        return applyToDevice({ ...options, ...work, settleDelaysMs, session, pending, stopReason });
      });
    } catch (error) {
      if (lock.isHeld || !(error instanceof DevshError)) throw error;
      const skipReason = stopReason();
      if (skipReason !== undefined) skipAll(skipReason);
      // Another process has held the write lock for too long: the other devices continue.
      else await endWithError(work, pending, error);
    }
  });
}
