import type { Observation } from '../device/observation.ts';
import type { DeviceRecord, DeviceRef } from '../device/record.ts';
import { DevshError, RefusedError } from '../errors.ts';
import { fanOut } from '../fleet/fan-out.ts';
import { applyToDevice, endUnread, notReached } from './apply-device.ts';
import { SETTLE_DELAYS_MS, type StepDevice } from './carry-out.ts';
import type { ApplyJournal, PendingStep, StepRef, StepState } from './journal.ts';
import type { DevicePlan, Plan, Step } from './plan.ts';
import { portionsOf, type RollOut, StopRule } from './roll-out.ts';
import type { StepResult } from './verdict.ts';
import type { Access } from '../fleet/access.ts';
import type { Member } from '../fleet/member.ts';
import { isSecretField } from '../device/secret-fields.ts';
import type { Allowed } from './allow.ts';
import { concernedSteps } from './plan-member.ts';
import { guardStep } from './guard.ts';

export interface ApplyOptions {
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
  /** Keeps what was seen of how a device speaks. */
  readonly observed: (device: DeviceRef, observation: Observation) => Promise<void>;
  /** How long to wait before each further look when a change does not show yet. */
  readonly settleDelaysMs?: readonly number[];
}

/** A device that a plan may be carried out on. */
export interface ApplyDevice extends StepDevice {
  /** The inventory says that nothing is to be written there. */
  readonly isReadOnly: boolean;
  /** Throws a `RefusedError` for a step that would lock its user out, as the device is now. */
  guard(step: Step, records: readonly DeviceRecord[]): void;
}

export type ApplyEvent =
  | { readonly kind: 'result'; readonly result: StepResult }
  | { readonly kind: 'observed'; readonly device: DeviceRef; readonly observation: Observation }
  | { readonly kind: 'stopped'; readonly reason: string };

/**
 * Carries out a plan on its devices, by address, in the portions of its roll-out, and yields the
 * result of each step when it has been read back. Steps that ended before (a resumed run) are not repeated and not yielded. What a
 * device does is a result; thrown is only what is no longer about a device (a full disk).
 */
export async function* applyPlan(
  plan: Plan,
  devices: ReadonlyMap<string, ApplyDevice>,
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
  if (rule.reason === undefined && !signal.aborted) await sleep(rollOut.pauseMs, signal);
}

async function* applyPortion(
  portion: readonly DevicePlan[],
  devices: ReadonlyMap<string, ApplyDevice>,
  rule: StopRule,
  options: ApplyOptions,
): AsyncGenerator<ApplyEvent> {
  const { exclusive, journal, signal, settleDelaysMs = SETTLE_DELAYS_MS } = options;
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
    const device = devices.get(devicePlan.device.address);
    const reason = stopReason();
    if (device === undefined || reason !== undefined) {
      leaveOut(reason ?? 'the device is not selected');
      return;
    }
    if (device.isReadOnly) {
      const error = new RefusedError(
        `${devicePlan.device.name}: read-only in the inventory; nothing was sent`,
      );
      for (const one of pending) await endUnread(devicePlan, one, error, journal, report);
      return;
    }
    const observed = async (observation: Observation): Promise<void> => {
      await options.observed(devicePlan.device, observation);
      emit({ kind: 'observed', device: devicePlan.device, observation });
    };
    const lock = { isHeld: false };
    try {
      await exclusive(devicePlan.device, () => {
        lock.isHeld = true;
        const guard = device.guard.bind(device);
        const told = { journal, stopReason, report, signal, observed, guard };
        return applyToDevice({ devicePlan, pending, device, settleDelaysMs, ...told });
      });
    } catch (error) {
      if (lock.isHeld || !(error instanceof DevshError)) throw error;
      const whyNot = stopReason();
      if (whyNot !== undefined) {
        leaveOut(whyNot);
        return;
      }
      // Somebody else is writing there for longer than is worth waiting: the others go on.
      for (const one of pending) await endUnread(devicePlan, one, error, journal, report);
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

/** The devices of a fleet, by address, as a plan is carried out on them. */
export function applyDevices(
  access: Access,
  members: readonly Member[],
  plan: Plan,
  allowed: Allowed,
): Map<string, ApplyDevice> {
  return new Map(
    members.map((member) => [member.ref.address, applyDevice(access, member, plan, allowed)]),
  );
}

/** One device, as a plan is carried out on it. */
export function applyDevice(
  access: Access,
  member: Member,
  { devices }: Pick<Plan, 'devices'>,
  allowed: Allowed,
): ApplyDevice {
  const steps = devices
    .filter(({ device }) => device.address === member.ref.address)
    .flatMap((devicePlan) => devicePlan.steps);
  let takesOneConnection = false;
  const lookedAt = new Set<string>();
  return {
    // What is known of it grows while it is used.
    get profile() {
      return member.profile;
    },
    isReadOnly: member.entry.readOnly === true,
    list: async (resource) => {
      const listed = await member.list(access, resource);
      const own = steps.filter((step) => step.resource === resource);
      const concerned = (): readonly DeviceRecord[] => concernedSteps(member.profile, own, listed);
      if (!lookedAt.has(resource) && leavesOut(own, listed)) {
        const [example] = concerned();
        lookedAt.add(resource);
        if (example !== undefined) await member.learnSummary(access, resource, example);
      }
      return member.withDetails(access, resource, listed, concerned);
    },
    read: async (resource, record) => {
      const [own] = await member.use(access, (open) =>
        open.details(resource, [record], undefined, member.profile),
      );
      return own;
    },
    guard: (step, records) => {
      guardStep(member, step, records, allowed);
    },
    get takesOneConnection() {
      return takesOneConnection;
    },
    write: (request) =>
      member.use(access, async (open) => {
        try {
          return await open.write(request);
        } finally {
          takesOneConnection ||= open.takesOneConnection;
        }
      }),
  };
}

/** Whether none of the records shows a field that was written: an empty list could not tell that it has none. */
function leavesOut(steps: readonly Step[], records: readonly DeviceRecord[]): boolean {
  if (records.length === 0) return false;
  const asked = new Set(steps.flatMap((step) => Object.keys(step.asked)));
  return [...asked].some(
    (field) => !isSecretField(field) && !records.some((record) => Object.hasOwn(record, field)),
  );
}
