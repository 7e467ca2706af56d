import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  hasPositionalIds,
  type Observation,
  originOfWrite,
  volatileFields,
  withObservation,
} from '../device/observation.ts';
import type { DeviceRecord } from '../device/record.ts';
import { DevshError, DriftError, RefusedError } from '../errors.ts';
import { carryOut, driftOf, settleDoubt, type StepDevice } from './carry-out.ts';
import { find } from './find-record.ts';
import type { ApplyJournal, PendingStep } from './journal.ts';
import { movedId, readdressed, restlessFields, suspectFields } from './restless.ts';
import type { DevicePlan, Step } from './plan.ts';
import type { StepEnd, StepResult } from './verdict.ts';
import { withAdvice } from './doubts.ts';
import type { Profile, ResourceProfile } from '../device/profile.ts';

/** What is to be done on one device, and who is told. */
interface DeviceWork {
  readonly devicePlan: DevicePlan;
  readonly pending: readonly PendingStep[];
  readonly device: StepDevice;
  readonly journal: ApplyJournal;
  /** Why nothing more is to be sent; undefined: go on. */
  readonly stopReason: () => string | undefined;
  readonly report: (result: StepResult) => void;
  /** Throws a `RefusedError` for a step that would lock its user out. */
  readonly guard: (step: Step, records: readonly DeviceRecord[]) => void;
  /** Is told what was not known of how the device speaks. */
  readonly observed: (observation: Observation) => Promise<void>;
  readonly settleDelaysMs: readonly number[];
  readonly signal: AbortSignal;
}

/**
 * One device under its lock: read again, settle what is in doubt, refuse all when something has
 * drifted, then one step after the other. Each reading back is the reading before the next step.
 */
export async function applyToDevice(work: DeviceWork): Promise<void> {
  const { devicePlan, pending, journal, report } = work;
  if (pending.length === 0) return;
  const device = new KnownDevice(work.device, work.observed);
  const readings = new LatestReadings(device, devicePlan.steps);
  const recordsOf = ({ step }: PendingStep): readonly DeviceRecord[] => readings.of(step.resource);
  const driftNow = (one: PendingStep): string | undefined =>
    driftOf(device.profile, one.step, recordsOf(one));
  let left: readonly PendingStep[];
  try {
    await readings.read(pending.map(({ step }) => step));
    left = await settleAll(work, device, readings);
    await settleDrift(work, left, device, readings);
  } catch (error) {
    if (!(error instanceof DevshError) || error.code === 'settings') throw error;
    for (const one of pending) await endUnread(devicePlan, one, error, journal, report);
    return;
  }
  const found = left.map(driftNow);
  let drift = found.find((one) => one !== undefined);
  // What could not be read back is read again before the next step: anything may have changed.
  const stale = new Set<string>();
  for (const [index, one] of left.entries()) {
    const isLookedAt = !stale.has(one.step.resource) || work.stopReason() !== undefined;
    if (!isLookedAt && !(await isReadAgain(work, one, readings))) continue;
    if (!isLookedAt) stale.delete(one.step.resource);
    // Somebody may have changed this record while the steps before it were carried out.
    const own = found[index] ?? driftNow(one);
    const reason = work.stopReason();
    if (own !== undefined) {
      const error = new DriftError(`${devicePlan.device.name}: ${own}; nothing was sent`);
      await end(work, one, { verdict: 'drift', error });
      drift ??= own;
    } else if (drift !== undefined) {
      await end(work, one, { verdict: 'skipped', note: `not sent: ${drift}` });
    } else if (reason !== undefined) {
      report(notReached(devicePlan, one, reason));
    } else {
      const { settleDelaysMs, signal } = work;
      const step = readdressed(device.profile, one.step, recordsOf(one));
      const refusal = refusalOf(work, device, step, recordsOf(one));
      if (refusal !== undefined) {
        drift ??= refusal.message;
        await end(work, one, { verdict: 'failed', error: refusal });
        continue;
      }
      const moved = step === one.step ? undefined : step;
      const beforeSend = (): Promise<void> => journal.sending(one.ref, moved);
      const options = { beforeSend, settleDelaysMs, signal };
      const done = await carryOut(step, device, recordsOf(one), options);
      const stepEnd = withAdvice(devicePlan.device, device.profile, step, done.end);
      for (const observation of done.observed ?? []) await device.observe(observation);
      if (done.after === undefined) stale.add(step.resource);
      else await readings.take(step, done.after);
      await end(work, { ...one, step }, stepEnd);
    }
  }
}

/** Why a step is not to be sent after all, by what the device holds now. */
function refusalOf(
  { guard }: DeviceWork,
  { profile }: KnownDevice,
  step: Step,
  records: readonly DeviceRecord[],
): RefusedError | undefined {
  const held = step.before && find(profile, step, records, step.before);
  try {
    guard(held === undefined ? step : { ...step, before: held }, records);
    return undefined;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return error;
  }
}

/** Reads the records of a step again; ends it where that fails, as nothing is sent unseen. */
async function isReadAgain(
  { devicePlan, journal, report }: DeviceWork,
  one: PendingStep,
  readings: LatestReadings,
): Promise<boolean> {
  try {
    await readings.read([one.step]);
    return true;
  } catch (error) {
    if (!(error instanceof DevshError)) throw error;
    await endUnread(devicePlan, one, error, journal, report);
    return false;
  }
}

/** A step on a device that could not be looked at: what is in doubt stays so. */
export async function endUnread(
  devicePlan: DevicePlan,
  one: PendingStep,
  error: DevshError,
  journal: ApplyJournal,
  report: DeviceWork['report'],
): Promise<void> {
  const stepEnd: StepEnd = { verdict: one.isInDoubt ? 'unknown' : 'failed', error };
  await end({ devicePlan, journal, report }, one, stepEnd);
}

/** A step that nobody has come to this time. The journal says nothing of it: it may still be done. */
export function notReached(devicePlan: DevicePlan, one: PendingStep, reason: string): StepResult {
  const { step } = one;
  return one.isInDoubt
    ? resultOf(devicePlan, step, {
        verdict: 'unknown',
        note: `sent before the interruption, not looked at since: ${reason}`,
      })
    : resultOf(devicePlan, step, { verdict: 'skipped', note: `not sent: ${reason}` });
}

/**
 * Ends the steps in doubt that have taken effect and returns the others. A request that was sent just
 * before a crash may still be at work: what does not show yet is looked for again before it counts as lost.
 */
async function settleAll(
  work: DeviceWork,
  device: KnownDevice,
  readings: LatestReadings,
): Promise<readonly PendingStep[]> {
  const { pending, settleDelaysMs } = work;
  const settle = ({ step }: PendingStep): StepEnd | undefined =>
    settleDoubt(device.profile, step, readings.of(step.resource));
  const settled = new Map<PendingStep, StepEnd>();
  const doubted = pending.filter(({ isInDoubt }) => isInDoubt);
  for (const delayMs of [undefined, ...settleDelaysMs]) {
    const open = doubted.filter((one) => !settled.has(one));
    if (open.length === 0) break;
    if (delayMs !== undefined) {
      await sleep(delayMs);
      await readings.read(pending.map(({ step }) => step));
    }
    for (const one of open) {
      const stepEnd = settle(one);
      if (stepEnd !== undefined) settled.set(one, stepEnd);
    }
  }
  for (const [one, stepEnd] of settled) await end(work, one, stepEnd);
  return pending.filter((one) => !settled.has(one));
}

/** What looks like drift may be a counter: then it goes on changing while nobody writes. */
async function settleDrift(
  work: DeviceWork,
  left: readonly PendingStep[],
  device: KnownDevice,
  readings: LatestReadings,
): Promise<void> {
  const steps = left.map(({ step }) => step);
  const planned = imagesOf(steps);
  for (const delayMs of work.settleDelaysMs) {
    const drifted = steps.filter((step) => {
      const records = readings.of(step.resource);
      if (driftOf(device.profile, step, records) === undefined) return false;
      const images = planned.get(step.resource) ?? [];
      return suspectFields(device.profile, { ...step, asked: {} }, images, records).length > 0;
    });
    if (drifted.length === 0) return;
    await sleep(delayMs);
    await readings.watch(drifted, planned);
  }
}

async function end(
  { devicePlan, journal, report }: Pick<DeviceWork, 'devicePlan' | 'journal' | 'report'>,
  { step, ref }: PendingStep,
  stepEnd: StepEnd,
): Promise<void> {
  const result = resultOf(devicePlan, step, stepEnd);
  try {
    await journal.ended(ref, result);
  } finally {
    // What is known must be told, even if the disk is full.
    report(result);
  }
}

function resultOf({ device }: DevicePlan, step: Step, stepEnd: StepEnd): StepResult {
  const { resource, key, action } = step;
  return { device, resource, key, action, ...stepEnd };
}

/**
 * What a device held when it was last read, by resource; at first what the plan knows of it. From one
 * reading to the next ids may move: that is noticed before the next request leaves.
 */
class LatestReadings {
  readonly #device: KnownDevice;
  readonly #latest: Map<string, readonly DeviceRecord[]>;

  constructor(device: KnownDevice, steps: readonly Step[]) {
    this.#device = device;
    this.#latest = imagesOf(steps);
  }

  of(resource: string): readonly DeviceRecord[] {
    return this.#latest.get(resource) ?? [];
  }

  /** Reads the resources of these steps, each once. */
  async read(steps: readonly Step[]): Promise<void> {
    for (const step of onePerResource(steps)) {
      await this.take(step, await this.#device.list(step.resource));
    }
  }

  /** Reads them again, and notices what has changed twice although nothing was sent. */
  async watch(
    steps: readonly Step[],
    earlier: ReadonlyMap<string, readonly DeviceRecord[]>,
  ): Promise<void> {
    for (const step of onePerResource(steps)) {
      const { resource } = step;
      const last = this.of(resource);
      const now = await this.#device.list(resource);
      const about = { ...step, asked: {} };
      const { profile } = this.#device;
      const fields = restlessFields(profile, about, [earlier.get(resource) ?? [], last, now]);
      if (fields.length > 0) await this.#device.observe({ kind: 'volatile', resource, fields });
      await this.take(step, now);
    }
  }

  /** Takes what was read anyway. */
  async take(step: Step, records: readonly DeviceRecord[]): Promise<void> {
    const example = movedId(this.#device.profile, step, this.of(step.resource), records);
    if (example !== undefined) await this.#device.observe({ kind: 'positional', example });
    this.#latest.set(step.resource, records);
  }
}

/** What a plan knows of the records of each resource. */
function imagesOf(steps: readonly Step[]): Map<string, readonly DeviceRecord[]> {
  const images = new Map<string, DeviceRecord[]>();
  for (const { resource, before } of steps) {
    if (before === undefined) continue;
    const known = images.get(resource) ?? [];
    known.push(before);
    images.set(resource, known);
  }
  return images;
}

function onePerResource(steps: readonly Step[]): Step[] {
  return [...new Map(steps.map((step) => [step.resource, step])).values()];
}

/** A device as it comes to be known while a plan is carried out on it. */
class KnownDevice implements StepDevice {
  readonly #device: StepDevice;
  readonly #tell: (observation: Observation) => Promise<void>;
  #observed: readonly Observation[] = [];

  /** @param tell is told each thing that was not known before */
  constructor(device: StepDevice, tell: (observation: Observation) => Promise<void>) {
    this.#device = device;
    this.#tell = tell;
  }

  get profile(): Profile {
    return this.#observed.reduce(withObservation, this.#device.profile);
  }

  list(resource: string): Promise<readonly DeviceRecord[]> {
    return this.#device.list(resource);
  }

  read(resource: string, record: DeviceRecord): Promise<DeviceRecord | undefined> {
    return this.#device.read?.(resource, record) ?? Promise.resolve(undefined);
  }

  async write(request: Step['request']): ReturnType<StepDevice['write']> {
    try {
      return await this.#device.write(request);
    } finally {
      if (this.#device.takesOneConnection === true) await this.observe({ kind: 'one connection' });
    }
  }

  async observe(observation: Observation): Promise<void> {
    if (isKnown(this.profile, observation)) return;
    this.#observed = [...this.#observed, observation];
    await this.#tell(observation);
  }
}

function isKnown(profile: Profile, observation: Observation): boolean {
  switch (observation.kind) {
    case 'proven':
      return originOfWrite(profile, observation.write, observation.resource) !== 'assumed';
    case 'one connection':
      return profile.connections !== undefined;
    case 'positional':
      return hasPositionalIds(profile);
    case 'writing': {
      const { hidden = [], ...seen } = observation.seen;
      const known: Partial<ResourceProfile> = profile.resources[observation.resource] ?? {};
      return (
        hidden.every((field) => known.hidden?.includes(field) === true) &&
        isDeepStrictEqual({ ...known, ...seen }, known)
      );
    }
    case 'volatile': {
      const known = volatileFields(profile, observation.resource);
      return observation.fields.every((field) => known.includes(field));
    }
  }
}
