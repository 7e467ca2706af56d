import type { DeviceRecord, DeviceRef } from '../device/record.ts';
import { DevshError, DriftError } from '../errors.ts';
import { fanOut } from '../fleet/fan-out.ts';
import type { Access, Member } from '../fleet/member.ts';
import { carryOut, driftOf, settleDoubt, type StepDevice, type StepEnd } from './carry-out.ts';
import type { StepRef, StepState } from './journal.ts';
import type { DevicePlan, Plan, Step } from './plan.ts';
import { portionsOf, StopRule, type RollOut } from './roll-out.ts';
import type { StepResult } from './verdict.ts';

export interface ApplyOptions {
  readonly access: Access;
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
}

/** What has to be on disk before a request leaves, and when its verdict is known. */
export interface ApplyJournal {
  sending(ref: StepRef): Promise<void>;
  ended(ref: StepRef, result: StepResult): Promise<void>;
  stopped(reason: string): Promise<void>;
}

export type ApplyEvent =
  | { readonly kind: 'result'; readonly result: StepResult }
  | { readonly kind: 'stopped'; readonly reason: string };

/**
 * Carries out a plan on its members, by address, in the portions of its roll-out and yields the result of each step when it has
 * been read back. Steps that ended before (a resumed run) are not repeated and not yielded. What a
 * device does is a result; thrown is only what is no longer about a device (a full disk).
 */
export async function* applyPlan(
  plan: Plan,
  members: ReadonlyMap<string, Member>,
  options: ApplyOptions,
): AsyncGenerator<ApplyEvent> {
  const planned = plan.devices.filter(({ steps }) => steps.length > 0);
  const rule = new StopRule(options.rollOut, planned.length);
  const portions = portionsOf(planned, options.rollOut);
  for (const [index, portion] of portions.entries()) {
    if (index > 0) await between(index, portions, rule, options);
    for await (const result of applyPortion(portion, members, rule, options)) {
      yield { kind: 'result', result };
    }
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
  if (rule.reason === undefined && !signal.aborted) await sleep(rollOut.pauseMs, signal);
}

async function* applyPortion(
  portion: readonly DevicePlan[],
  members: ReadonlyMap<string, Member>,
  rule: StopRule,
  options: ApplyOptions,
): AsyncGenerator<StepResult> {
  yield* fanOut<DevicePlan, StepResult>(portion, options.width, async (devicePlan, emit) => {
    const steps = devicePlan.steps.flatMap((step, index) => {
      const ref = { device: devicePlan.device.name, index };
      const state = options.stateOf(ref);
      return state.kind === 'ended' ? [] : [{ step, ref, isInDoubt: state.kind === 'sent' }];
    });
    const member = members.get(devicePlan.device.address);
    if (options.signal.aborted) rule.stop('cancelled');
    if (member === undefined || rule.reason !== undefined) {
      const reason = rule.reason ?? 'the device is not selected';
      for (const { step } of steps) emit(skipped(devicePlan, step, reason));
      return;
    }
    const report = (result: StepResult): void => {
      rule.add(result);
      emit(result);
    };
    await options.exclusive(devicePlan.device, () =>
      applyToDevice(devicePlan, steps, member, rule, options, report),
    );
  });
}

interface PendingStep {
  readonly step: Step;
  readonly ref: StepRef;
  readonly isInDoubt: boolean;
}

/**
 * One device under its lock: read again, settle what is in doubt, refuse all when something has
 * drifted, then one step after the other. Each reading back is the reading before the next step.
 */
async function applyToDevice(
  devicePlan: DevicePlan,
  pending: readonly PendingStep[],
  member: Member,
  rule: StopRule,
  { access, journal, signal }: ApplyOptions,
  emit: (result: StepResult) => void,
): Promise<void> {
  const device: StepDevice = {
    profile: member.profile,
    list: (resource) => member.list(access, resource),
    write: (request) => member.use(access, (open) => open.write(request)),
  };
  const end = async ({ step, ref }: PendingStep, stepEnd: StepEnd): Promise<void> => {
    const result = resultOf(devicePlan, step, stepEnd);
    await journal.ended(ref, result);
    emit(result);
  };

  let readings: Map<string, readonly DeviceRecord[]>;
  try {
    readings = await readAll(pending, device);
  } catch (error) {
    if (!(error instanceof DevshError)) throw error;
    // What is in doubt stays so: only reading tells.
    for (const one of pending)
      await end(one, { verdict: one.isInDoubt ? 'unknown' : 'failed', error });
    return;
  }
  const recordsFor = ({ step }: PendingStep): readonly DeviceRecord[] =>
    readings.get(step.resource) ?? [];
  const left: PendingStep[] = [];
  for (const one of pending) {
    const settled = one.isInDoubt
      ? settleDoubt(device.profile, one.step, recordsFor(one))
      : undefined;
    if (settled === undefined) left.push(one);
    else await end(one, settled);
  }
  const drifts = new Map(
    left.map((one) => [one, driftOf(device.profile, one.step, recordsFor(one))]),
  );
  const [firstDrift] = [...drifts.values()].filter((drift) => drift !== undefined);
  for (const one of left) {
    const drift = drifts.get(one);
    if (drift !== undefined) {
      const error = new DriftError(`${devicePlan.device.name}: ${drift}; nothing was sent`);
      await end(one, { verdict: 'drift', error });
    } else if (firstDrift !== undefined) {
      emit(skipped(devicePlan, one.step, firstDrift));
    } else if (signal.aborted || rule.reason !== undefined) {
      rule.stop('cancelled');
      emit(skipped(devicePlan, one.step, rule.reason ?? 'cancelled'));
    } else {
      const before = readings.get(one.step.resource) ?? [];
      const done = await carryOut(one.step, device, before, () => journal.sending(one.ref));
      if (done.after !== undefined) readings.set(one.step.resource, done.after);
      await end(one, done.end);
    }
  }
}

async function readAll(
  pending: readonly PendingStep[],
  device: StepDevice,
): Promise<Map<string, readonly DeviceRecord[]>> {
  const readings = new Map<string, readonly DeviceRecord[]>();
  for (const resource of new Set(pending.map(({ step }) => step.resource))) {
    readings.set(resource, await device.list(resource));
  }
  return readings;
}

function skipped(devicePlan: DevicePlan, step: Step, reason: string): StepResult {
  return resultOf(devicePlan, step, { verdict: 'skipped', note: `not sent: ${reason}` });
}

function resultOf({ device }: DevicePlan, step: Step, end: StepEnd): StepResult {
  const { resource, key, action } = step;
  return { device, resource, key, action, ...end };
}

/** Ends early when `signal` is aborted. */
function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
