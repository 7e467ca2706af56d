import { setTimeout as sleep } from 'node:timers/promises';
import { hasDependents, type Profile, updateFacts } from '../device/profile.ts';
import type { DeviceRecord } from '../device/record.ts';
import { DevshError, expectedError } from '../errors.ts';
import type { Allowed } from './allow.ts';
import { driftError, sincePlan } from './gate.ts';
import { comparisonFor, differencesOf } from './compare.ts';
import { isSecretField } from '../device/sensitive-fields.ts';
import { readOwnPath } from '../fleet/absence.ts';
import { runStep, readResource } from './run-step.ts';
import type { RotationWork } from './rotate-step.ts';
import { withAdvice } from './doubts.ts';
import { guardOf, isOwnRotation, losesLogin } from './guard.ts';
import type { PendingStep } from './journal.ts';
import { noteMovedIds, withCurrentId, Watch } from './observe.ts';
import type { RunControl } from './run-control.ts';
import type { DevicePlan } from './plan.ts';
import { resultFor, type StepEnd, type StepResult } from './verdict.ts';
import { grouped } from '../device/record.ts';
import { rotationOf, type Step } from './step.ts';
import { type Note, textOf } from '../output/sentences.ts';

interface ApplyWork extends RotationWork {
  readonly pending: readonly PendingStep[];
  readonly allowed: Allowed;
  readonly control?: RunControl | undefined;
  /** Why nothing more may be sent; undefined while sending may continue. */
  readonly stopReason: () => string | undefined;
  readonly report: (result: StepResult) => void;
}

/**
 * Applies a plan to one device, under its lock: reads the records again, refuses all steps if one has drifted, then
 * runs them one by one. Each read-back is the reading before the next step.
 */
export async function applyToDevice(work: ApplyWork): Promise<void> {
  const { devicePlan, session } = work;
  const isOwn = ({ step }: PendingStep): number => Number(isOwnRotation(step, session.credential));
  // The secret of the login in use comes last: the steps of other accounts need that login.
  const left = work.pending.toSorted((one, other) => isOwn(one) - isOwn(other));
  if (left.length === 0) return;
  const readings = new LatestReadings(work);
  try {
    await readings.read(left);
    await recheckDrift(work, left, readings);
  } catch (error) {
    if (!(error instanceof DevshError) || error.code === 'settings') throw error;
    await endUnread(work, left, error);
    return;
  }
  const found = new Map<PendingStep, Awaited<ReturnType<typeof settledNow>>>();
  for (const one of left) {
    found.set(one, await settledNow(work, one.step, readings.of(one.step.resource)));
  }
  let skipReason = [...found.values()].find((settled) => settled?.drift !== undefined)?.drift;
  for (const one of left) {
    // Others may have changed the device during a pause.
    if (await work.control?.ready(work.signal)) readings.expire();
    if (work.stopReason() === undefined && !(await ensureRead(work, one, readings))) continue;
    // Another user may have changed this record during the steps before it.
    const records = readings.of(one.step.resource);
    const settled = found.get(one) ?? (await settledNow(work, one.step, records));
    const reason = work.stopReason();
    if (settled !== undefined) {
      await end(work, one, settled.end);
      skipReason ??= settled.drift;
    } else if (skipReason !== undefined) {
      await end(work, one, { verdict: 'skipped', notes: [skipped(skipReason)] });
    } else if (reason !== undefined) {
      work.report(unreachedResult(devicePlan, one, reason));
    } else {
      skipReason = await applyStep(work, one, readings);
    }
  }
}

/** The end of a step that must not be sent: its record has drifted, or somebody else has already done it. */
async function settledNow(
  { session, access }: Pick<ApplyWork, 'session' | 'access'>,
  step: Step,
  records: readonly DeviceRecord[],
): Promise<{ readonly end: StepEnd; readonly drift?: string } | undefined> {
  const { profile, ref } = session;
  const { answer, drift } = sincePlan(profile, step, records);
  if (drift === undefined) return undefined;
  const { action, resource, before, purpose } = step;
  const end: StepEnd = { verdict: 'unchanged', notes: [{ code: 'seen', is: 'already' }] };
  if (answer.kind === 'go' && isAsWished(profile, step, answer.record)) {
    return { end: { ...end, record: answer.record } };
  }
  if (action === 'delete' && before && answer.kind === 'absent' && purpose?.kind !== 'typed') {
    const own = await readOwnPath({ session, access, resource, records }, before);
    if (own.kind === 'absent') return { end };
  }
  return { end: { verdict: 'drift', error: driftError(ref, drift) }, drift: textOf(drift) };
}

function isAsWished(profile: Profile, step: Step, record: DeviceRecord): boolean {
  const { action, resource, asked, purpose, removes = [] } = step;
  if (action === 'delete' || purpose?.kind === 'rotate' || purpose?.kind === 'typed') return false;
  const facts = action === 'add' ? profile.create : updateFacts(profile, resource);
  const isSame = comparisonFor(profile, resource, facts, purpose?.kind === 'restore');
  return (
    Object.keys(asked).every((field) => Object.hasOwn(record, field) && !isSecretField(field)) &&
    differencesOf(asked, record, isSame).length === 0 &&
    !removes.some((field) => Object.hasOwn(record, field))
  );
}

/** Runs one step that has not drifted. Resolves to the reason why later steps must not be sent. */
async function applyStep(
  work: ApplyWork,
  { step: planned, ref }: PendingStep,
  readings: LatestReadings,
): Promise<string | undefined> {
  const { session, devicePlan } = work;
  const before = readings.of(planned.resource);
  const step = withCurrentId(session.profile, planned, before);
  const one = { step, ref };
  const mayWrite = guardOf(session, () => before, work.allowed);
  const refusal = mayWrite(step, before.length - 1);
  if (refusal !== undefined) {
    await end(work, one, { verdict: 'failed', error: refusal });
    return refusal.message;
  }
  const along =
    step.action === 'delete' && hasDependents(session.profile)
      ? await (await import('./dependents.ts')).watchAlong(work, step)
      : undefined;
  if (along?.drift !== undefined) {
    const error = driftError(devicePlan.device, along.drift);
    await end(work, one, { verdict: 'drift', error });
    return textOf(along.drift);
  }
  const done =
    step.purpose?.kind === 'rotate'
      ? await (await import('./rotate-step.ts')).rotateStep(work, one)
      : await runStep(work, one, before, step !== planned);
  const checked = along === undefined ? done.end : await along.check(done.end);
  const stepEnd = withAdvice(devicePlan.device, session.profile, step, checked);
  readings.take(step, done.after);
  await session.facts.notified;
  await end(work, one, stepEnd);
  if (losesLogin(session, step, stepEnd)) return textOf({ code: 'stopped', is: 'login-lost' });
  return undefined;
}

/** Reads a resource again if its last read-back failed. Resolves to whether its records are known. */
async function ensureRead(
  work: ApplyWork,
  one: PendingStep,
  readings: LatestReadings,
): Promise<boolean> {
  if (!readings.isStale(one.step.resource)) return true;
  try {
    await readings.read([one]);
    return true;
  } catch (error) {
    await endUnread(work, [one], expectedError(error));
    return false;
  }
}

/** Steps before which the device could not be read, or was not waited for after Ctrl-C. */
async function endUnread(
  work: ApplyWork,
  pending: readonly PendingStep[],
  error: DevshError,
): Promise<void> {
  const reason = work.signal.aborted ? work.stopReason() : undefined;
  if (reason === undefined) await endWithError(work, pending, error);
  else for (const one of pending) work.report(unreachedResult(work.devicePlan, one, reason));
}

/** Secrets that an earlier run may have sent become `unknown`, the others `failed`. */
export async function endWithError(
  work: Pick<ApplyWork, 'devicePlan' | 'journal' | 'report'>,
  pending: readonly PendingStep[],
  error: DevshError,
): Promise<void> {
  for (const one of pending) {
    await end(work, one, { verdict: wasSent(one) ? 'unknown' : 'failed', error });
  }
}

function skipped(reason: string): Note {
  return { code: 'not-sent', is: 'skipped', reason };
}

function wasSent({ step }: PendingStep): boolean {
  return rotationOf(step)?.isSent === true;
}

/** The result of a step that was not reached. It is not journaled, so that `resume` can still run it. */
export function unreachedResult(
  devicePlan: DevicePlan,
  one: PendingStep,
  reason: string,
): StepResult {
  const end: StepEnd = wasSent(one)
    ? { verdict: 'unknown', notes: [{ code: 'not-sent', is: 'unchecked', reason }] }
    : { verdict: 'skipped', notes: [skipped(reason)] };
  return resultFor(devicePlan.device, one.step, end);
}

/** Reads again if a record seems to have drifted: only a counter changes again although nothing is sent. */
async function recheckDrift(
  { session, settleDelaysMs }: ApplyWork,
  left: readonly PendingStep[],
  readings: LatestReadings,
): Promise<void> {
  const planned = beforeImages(left);
  const watches = onePerResource(left).map(({ step }) => {
    const images = planned.get(step.resource) ?? [];
    return { step, watch: new Watch(session.facts, { ...step, asked: {} }, images) };
  });
  for (const delayMs of [...settleDelaysMs, undefined]) {
    const open = watches.filter(({ step: { resource }, watch }) => {
      const records = readings.of(resource);
      const hasDrifted = left.some(
        ({ step }) =>
          step.resource === resource &&
          sincePlan(session.profile, step, records).drift !== undefined,
      );
      return hasDrifted && watch.next(records);
    });
    if (open.length === 0 || delayMs === undefined) return;
    await sleep(delayMs);
    await readings.read(open);
  }
}

async function end(
  { devicePlan, journal, report }: Pick<ApplyWork, 'devicePlan' | 'journal' | 'report'>,
  { step, ref }: PendingStep,
  stepEnd: StepEnd,
): Promise<void> {
  const { response, ...kept } = stepEnd;
  const result = resultFor(devicePlan.device, step, kept);
  try {
    await journal.ended(ref, result);
  } finally {
    // A known result must be reported, even if the disk is full.
    report(response === undefined ? result : { ...result, response });
  }
}

/** The records of the last reading, by resource; before it, the before-images of the plan. */
class LatestReadings {
  readonly #work: ApplyWork;
  readonly #latest: Map<string, readonly DeviceRecord[]>;
  /** Resources whose last read-back failed. */
  readonly #stale = new Set<string>();

  constructor(work: ApplyWork) {
    this.#work = work;
    this.#latest = beforeImages(work.devicePlan.steps.map((step) => ({ step })));
  }

  of(resource: string): readonly DeviceRecord[] {
    return this.#latest.get(resource) ?? [];
  }

  isStale(resource: string): boolean {
    return this.#stale.has(resource);
  }

  /** From now on, all readings are too old to compare with. */
  expire(): void {
    for (const resource of this.#latest.keys()) this.#stale.add(resource);
  }

  /** Ctrl-C interrupts it at once, because no write is in flight. */
  async read(steps: readonly HasStep[]): Promise<void> {
    for (const { step } of onePerResource(steps)) {
      this.take(step, await readResource(this.#work, step.resource, this.#work.signal));
    }
    await this.#work.session.facts.notified;
  }

  /** `undefined`: reading back failed. */
  take(step: Step, records: readonly DeviceRecord[] | undefined): void {
    const { resource } = step;
    if (records === undefined) {
      this.#stale.add(resource);
      return;
    }
    noteMovedIds(this.#work.session.facts, step, this.of(resource), records);
    this.#latest.set(resource, records);
    this.#stale.delete(resource);
  }
}

type HasStep = Pick<PendingStep, 'step'>;

function beforeImages(steps: readonly HasStep[]): Map<string, readonly DeviceRecord[]> {
  const images = steps.flatMap(({ step: { resource, before } }) =>
    before ? { resource, before } : [],
  );
  const groups = grouped(images, ({ resource }) => resource);
  return new Map([...groups].map(([name, of]) => [name, of.map(({ before }) => before)]));
}

function onePerResource<One extends HasStep>(steps: readonly One[]): One[] {
  return [...new Map(steps.map((one) => [one.step.resource, one])).values()];
}
