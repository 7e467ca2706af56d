import { UnauthorizedError, UnreachableError, ProtocolError } from '../device/errors.ts';
import type { Profile } from '../device/profile.ts';
import type { DeviceRecord } from '../device/record.ts';
import { DevshError, DriftError } from '../errors.ts';
import { fanOut } from '../fleet/fan-out.ts';
import type { Access, Member } from '../fleet/member.ts';
import { isSameValue, isTimeStamp } from './compare.ts';
import { find, judge, type Answered } from './judge.ts';
import type { DevicePlan, Plan, Step } from './plan.ts';
import type { StepResult } from './verdict.ts';

export interface ApplyOptions {
  readonly access: Access;
  /** How many devices at a time; on one device always one step after the other. */
  readonly width: number;
  /** Aborted: the request in flight is finished and read back, the rest is `skipped`. */
  readonly signal?: AbortSignal | undefined;
}

/** After so many refused logins nothing more is sent: a wrong password must not lock accounts. */
const MAX_REFUSED_LOGINS = 2;

/** How long to wait before reading again when a change does not show yet. */
const SETTLE_DELAYS_MS = [200, 800];

/**
 * Carries out a plan, device by device, and yields the result of each step when it has been read
 * back. Never throws for what a device does; a device that fails keeps the others going.
 */
export async function* applyPlan(
  plan: Plan,
  members: ReadonlyMap<string, Member>,
  options: ApplyOptions,
): AsyncGenerator<StepResult> {
  let refusedLogins = 0;
  const planned = plan.devices.filter(({ steps }) => steps.length > 0);
  yield* fanOut<DevicePlan, StepResult>(planned, options.width, async (devicePlan, emit) => {
    const member = members.get(devicePlan.device.name);
    for (const step of devicePlan.steps) {
      const stop = stopReason(options.signal, refusedLogins);
      const result =
        member === undefined || stop !== undefined
          ? skipped(devicePlan, step, stop ?? 'not connected')
          : await carryOut(step, member, options.access);
      if (result.error instanceof UnauthorizedError && result.error.code === 'unauthorized') {
        refusedLogins += 1;
      }
      emit(result);
    }
  });
}

function stopReason(signal: AbortSignal | undefined, refusedLogins: number): string | undefined {
  if (signal?.aborted === true) return 'cancelled before it was sent';
  if (refusedLogins >= MAX_REFUSED_LOGINS) return 'not sent: the login was refused twice';
  return undefined;
}

function skipped({ device }: DevicePlan, step: Step, note: string): StepResult {
  const { resource, key, action } = step;
  return { device, resource, key, action, verdict: 'skipped', note };
}

/** One step: read, compare with the plan, send once, read back, judge. */
async function carryOut(step: Step, member: Member, access: Access): Promise<StepResult> {
  const { resource, key, action } = step;
  const result = { device: member.ref, resource, key, action };
  const list = (): Promise<readonly DeviceRecord[]> => member.list(access, resource);
  try {
    const before = await list();
    const profile = await member.use(access, (device) => Promise.resolve(device.profile));
    const drift = driftOf(profile, step, before);
    if (drift !== undefined) {
      const error = new DriftError(`${member.ref.name}: ${drift}; nothing was sent`);
      return { ...result, verdict: 'drift', error };
    }
    const answered = await send(step, member, access);
    return { ...result, ...(await readBack(profile, step, answered, before, list)) };
  } catch (error) {
    if (error instanceof DevshError) return { ...result, verdict: 'failed', error };
    throw error;
  }
}

/** What has changed since the plan, in words; undefined when the plan still holds. */
function driftOf(
  profile: Profile,
  step: Step,
  records: readonly DeviceRecord[],
): string | undefined {
  const { before, after } = step;
  if (before === undefined) {
    const key = after?.[step.keyField] ?? null;
    const isTaken = records.some((record) => isSameValue(key, record[step.keyField]));
    return isTaken ? `${step.resource} ${step.key} was added since the plan` : undefined;
  }
  const held = find(profile, step, records, before);
  if (held === undefined) return `${step.resource} ${step.key} is gone since the plan`;
  const fields = [...new Set([...Object.keys(before), ...Object.keys(held)])].filter(
    (field) => !isSameValue(before[field] ?? null, held[field]) && !isTimeStamp(held[field]),
  );
  if (fields.length === 0) return undefined;
  return `${step.resource} ${step.key} changed since the plan (${fields.join(', ')})`;
}

/** Sends the one request of a step. Throws when it certainly did not reach the device. */
async function send(step: Step, member: Member, access: Access): Promise<Answered> {
  try {
    await member.use(access, (device) => device.write(step.request));
    return { kind: 'accepted' };
  } catch (error) {
    if (!(error instanceof DevshError)) throw error;
    if (error instanceof UnreachableError) {
      if (!error.mayHaveArrived) throw error;
      return { kind: 'lost', error };
    }
    return { kind: 'refused', error };
  }
}

async function readBack(
  profile: Profile,
  step: Step,
  answered: Answered,
  before: readonly DeviceRecord[],
  list: () => Promise<readonly DeviceRecord[]>,
): Promise<Omit<StepResult, 'device' | 'resource' | 'key' | 'action'>> {
  for (let attempt = 0; ; attempt += 1) {
    let after: readonly DeviceRecord[];
    try {
      after = await list();
    } catch (error) {
      if (!(error instanceof DevshError)) throw error;
      return unread(answered, error);
    }
    const judgement = judge(profile, step, answered, { before, after });
    const delayMs = SETTLE_DELAYS_MS[attempt];
    // An answer may come before the change shows, and a lost request may still be at work.
    const mayStillSettle =
      judgement.verdict === 'no effect' ||
      (judgement.verdict === 'failed' && answered.kind === 'lost');
    if (!mayStillSettle || delayMs === undefined) return judgement;
    await new Promise((resolve) => setTimeout(resolve, delayMs));
  }
}

/** Reading back failed: only a clear refusal still tells what happened. */
function unread(
  answered: Answered,
  error: DevshError,
): Omit<StepResult, 'device' | 'resource' | 'key' | 'action'> {
  const isClearRefusal = answered.kind === 'refused' && !(answered.error instanceof ProtocolError);
  if (isClearRefusal) return { verdict: 'failed', error: answered.error };
  const reason = answered.kind === 'accepted' ? 'the device accepted it' : 'the answer was lost';
  return {
    verdict: 'unknown',
    error: answered.kind === 'accepted' ? error : answered.error,
    note: `${reason}, but reading back failed: look again before you repeat it`,
  };
}
