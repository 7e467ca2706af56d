import type { DeviceRef } from '../device/record.ts';
import { fanOut } from '../fleet/fan-out.ts';
import type { Access, Member } from '../fleet/member.ts';
import { carryOut } from './carry-out.ts';
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
 * Carries out a plan in the portions of its roll-out and yields the result of each step when it has
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
    const member = members.get(devicePlan.device.name);
    for (const [index, step] of devicePlan.steps.entries()) {
      const ref = { device: devicePlan.device.name, index };
      const state = options.stateOf(ref);
      if (state.kind === 'ended') continue;
      if (options.signal.aborted) rule.stop('cancelled');
      const reason =
        rule.reason ?? (member === undefined ? 'the device is not selected' : undefined);
      if (member === undefined || reason !== undefined) {
        emit(resultOf(devicePlan, step, { verdict: 'skipped', note: `not sent: ${reason ?? ''}` }));
        continue;
      }
      const result = await runStep(devicePlan, step, ref, member, state.kind === 'sent', options);
      rule.add(result);
      emit(result);
    }
  });
}

async function runStep(
  devicePlan: DevicePlan,
  step: Step,
  ref: StepRef,
  member: Member,
  isInDoubt: boolean,
  { access, exclusive, journal }: ApplyOptions,
): Promise<StepResult> {
  return exclusive(devicePlan.device, async () => {
    const device = {
      profile: member.profile,
      name: member.ref.name,
      list: () => member.list(access, step.resource),
      write: (request: Step['request']) => member.use(access, (open) => open.write(request)),
    };
    const end = await carryOut(step, device, isInDoubt, () => journal.sending(ref));
    const result = resultOf(devicePlan, step, end);
    await journal.ended(ref, result);
    return result;
  });
}

function resultOf(
  { device }: DevicePlan,
  { resource, key, action }: Step,
  end: Omit<StepResult, 'device' | 'resource' | 'key' | 'action'>,
): StepResult {
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
