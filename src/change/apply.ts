import { isGood, type StepResult } from './verdict.ts';
import { UnauthorizedError } from '../device/errors.ts';
import type { DevicePlan, Plan } from './plan.ts';
import type { DeviceRef } from '../device/record.ts';
import { DevshError, RefusedError } from '../errors.ts';
import { fanOut } from '../fleet/fan-out.ts';
import { applyToDevice, endUnread, notReached } from './apply-device.ts';
import { pause, SETTLE_DELAYS_MS } from './run-step.ts';
import type { ApplyJournal, PendingStep, StepRef, StepState } from './journal.ts';
import type { Access } from '../fleet/access.ts';
import type { DeviceSession } from '../fleet/device-session.ts';
import type { Allowed } from './allow.ts';

/** So many devices refused the login: nothing more is sent, a wrong password must not lock accounts. */
const MAX_REFUSED_LOGINS = 2;

/** In which portions a plan goes out, and when it stops by itself. */
export interface RollOut {
  /** So many devices first; then it is asked whether to go on. 0: none. */
  readonly canary: number;
  /** So many devices in each further portion; undefined: all of them. */
  readonly batch: number | undefined;
  /** Between two portions. */
  readonly pauseMs: number;
  /** Stops when more devices than this have failed. */
  readonly maxFailures: { readonly kind: 'count' | 'percent'; readonly limit: number } | undefined;
}

export const IN_ONE_GO: RollOut = {
  canary: 0,
  batch: undefined,
  pauseMs: 0,
  maxFailures: undefined,
};

/** The devices of a plan in the portions of its roll-out; the canary, if any, is the first. */
function portionsOf(
  devices: readonly DevicePlan[],
  { canary, batch = Infinity }: RollOut,
): readonly (readonly DevicePlan[])[] {
  const portions = canary > 0 ? [devices.slice(0, canary)] : [];
  for (let from = canary; from < devices.length; from += batch) {
    portions.push(devices.slice(from, from + batch));
  }
  return portions.filter((portion) => portion.length > 0);
}

/** Watches the results and says, once, why nothing more is to be sent. */
class StopRule {
  readonly #rollOut: RollOut;
  readonly #deviceCount: number;
  readonly #unreadCount: number;
  readonly #failed = new Set<string>();
  readonly #refusedLogins = new Set<string>();
  #reason: string | undefined;

  /**
   * @param deviceCount of all devices that are to be changed
   * @param unreadCount how many of them could not be read: they have failed before the first write
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

  add(result: StepResult): void {
    if (isGood(result)) return;
    this.#failed.add(result.device.name);
    if (result.error instanceof UnauthorizedError && result.error.code === 'unauthorized') {
      this.#refusedLogins.add(result.device.name);
      if (this.#refusedLogins.size >= MAX_REFUSED_LOGINS) this.stop('the login was refused twice');
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
      this.stop(
        `${count} of ${this.#deviceCount} devices failed, more than the ${allowed} that --max-failures allows`,
      );
    }
  }
}

export interface ApplyOptions {
  /** Which refusals do not count. */
  readonly allowed: Allowed;
  /** How many devices at a time; on one device always one step after the other. */
  readonly width: number;
  readonly rollOut: RollOut;
  /** Aborted: the request in flight is finished and read back, the rest is `skipped`. */
  readonly signal: AbortSignal;
  readonly journal: ApplyJournal;
  /** Runs `work` while no other devsh writes to the same device. */
  readonly exclusive: <T>(device: DeviceRef, work: () => Promise<T>) => Promise<T>;
  /** How far each step had come before, when a run is resumed. */
  readonly stateOf: (ref: StepRef) => StepState;
  /** Asked after the canary; resolves to why not to go on. */
  readonly afterCanary: (canary: readonly DevicePlan[]) => Promise<string | undefined>;
  /** How long to wait before each further look when a change does not show yet. */
  readonly settleDelaysMs?: readonly number[];
}

/** A device that a plan is carried out on, and who decides about trust and login there. */
interface Target {
  readonly session: DeviceSession;
  readonly access: Access;
}

export type ApplyEvent =
  | { readonly kind: 'result'; readonly result: StepResult }
  | { readonly kind: 'stopped'; readonly reason: string };

/**
 * Carries out a plan on its devices in the portions of its roll-out, and yields the result of each step
 * when it has been read back. Steps that ended before (a resumed run) are not repeated and not yielded.
 * What a device does is a result; thrown is only what is no longer about a device (a full disk).
 */
export async function* applyPlan(
  plan: Plan,
  devices: readonly Target[],
  options: ApplyOptions,
): AsyncGenerator<ApplyEvent> {
  const planned = plan.devices.filter(({ steps }) => steps.length > 0);
  const unread = plan.devices.filter(({ error }) => error !== undefined).length;
  const rule = new StopRule(options.rollOut, planned.length + unread, unread);
  const portions = portionsOf(planned, options.rollOut);
  for (const [index, portion] of portions.entries()) {
    if (index > 0) await between(index, portions, rule, options);
    yield* applyPortion(portion, devices, rule, options);
  }
  if (rule.reason !== undefined) {
    await options.journal.stopped(rule.reason);
    yield { kind: 'stopped', reason: rule.reason };
  }
}

/** After the canary it is asked whether to go on; before every later portion there is the pause. */
async function between(
  index: number,
  portions: readonly (readonly DevicePlan[])[],
  rule: StopRule,
  options: ApplyOptions,
): Promise<void> {
  const { rollOut, signal } = options;
  if (index === 1 && rollOut.canary > 0 && rule.reason === undefined) {
    const [failed] = rule.failedDevices;
    const reason =
      failed === undefined
        ? await options.afterCanary(portions[0] ?? [])
        : `the canary failed on ${rule.failedDevices.join(', ')}`;
    if (reason !== undefined) rule.stop(reason);
  }
  if (rule.reason === undefined && rollOut.pauseMs > 0) await pause(rollOut.pauseMs, signal);
}

async function* applyPortion(
  portion: readonly DevicePlan[],
  devices: readonly Target[],
  rule: StopRule,
  options: ApplyOptions,
): AsyncGenerator<ApplyEvent> {
  const { allowed, journal, signal, settleDelaysMs = SETTLE_DELAYS_MS } = options;
  const targets = new Map(devices.map((device) => [device.session.ref.address, device]));
  yield* fanOut<DevicePlan, ApplyEvent>(portion, options.width, async (devicePlan, emit) => {
    const pending = pendingSteps(devicePlan, options.stateOf);
    const report = (result: StepResult): void => {
      rule.add(result);
      emit({ kind: 'result', result });
    };
    const leaveOut = (reason: string): void => {
      for (const one of pending) {
        emit({ kind: 'result', result: notReached(devicePlan, one, reason) });
      }
    };
    const stopReason = (): string | undefined => {
      if (signal.aborted) rule.stop('cancelled');
      return rule.reason;
    };
    const target = targets.get(devicePlan.device.address);
    const reason = stopReason();
    if (target === undefined || reason !== undefined) {
      leaveOut(reason ?? 'the device is not selected');
      return;
    }
    const told = { devicePlan, journal, report };
    if (target.session.entry.readOnly === true) {
      const { name } = devicePlan.device;
      const error = new RefusedError(`${name}: read-only in the inventory; nothing was sent`);
      await endUnread(told, pending, error);
      return;
    }
    const lock = { isHeld: false };
    try {
      await options.exclusive(devicePlan.device, () => {
        lock.isHeld = true;
        const how = { allowed, settleDelaysMs, signal, stopReason };
        return applyToDevice({ ...told, ...how, ...target, pending });
      });
    } catch (error) {
      if (lock.isHeld || !(error instanceof DevshError)) throw error;
      const whyNot = stopReason();
      if (whyNot !== undefined) {
        leaveOut(whyNot);
        return;
      }
      // Somebody else is writing there for longer than is worth waiting: the others go on.
      await endUnread(told, pending, error);
    }
  });
}

function pendingSteps(
  { device, steps }: DevicePlan,
  stateOf: ApplyOptions['stateOf'],
): PendingStep[] {
  return steps.flatMap((step, index) => {
    const ref = { device: device.name, index };
    const state = stateOf(ref);
    return state.kind === 'ended' ? [] : [{ step, ref, isInDoubt: state.kind === 'sent' }];
  });
}
