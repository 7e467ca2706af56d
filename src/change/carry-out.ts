import { ProtocolError, UnreachableError } from '../device/errors.ts';
import type { Profile } from '../device/profile.ts';
import type { DeviceRecord } from '../device/record.ts';
import { CancelledError, DevshError } from '../errors.ts';
import { changesSince, isSameValue } from './compare.ts';
import { find, judge, type Answered } from './judge.ts';
import type { Step } from './plan.ts';
import type { StepResult } from './verdict.ts';

/** What a step needs of its device. */
export interface StepDevice {
  readonly profile: Profile;
  list(resource: string): Promise<readonly DeviceRecord[]>;
  /** Sends a request once. */
  write(request: Step['request']): Promise<unknown>;
}

/** The end of a step, without what is known of it before. */
export type StepEnd = Omit<StepResult, 'device' | 'resource' | 'key' | 'action'>;

/** How long to wait before reading again when a change does not show yet. */
export const SETTLE_DELAYS_MS = [200, 800];

/**
 * Carries out one step: sends once, reads back, judges. Expected failures are a result, not thrown.
 *
 * @param before the records of the resource just before
 * @param beforeSend is awaited just before the request leaves: the journal
 * @returns the end of the step, and the records read back, where they could be
 */
export async function carryOut(
  step: Step,
  device: StepDevice,
  before: readonly DeviceRecord[],
  beforeSend: () => Promise<void>,
  settleDelaysMs: readonly number[] = SETTLE_DELAYS_MS,
): Promise<{ end: StepEnd; after?: readonly DeviceRecord[] }> {
  await beforeSend();
  try {
    const answered = await send(step, device);
    return await readBack(step, answered, before, device, settleDelaysMs);
  } catch (error) {
    if (error instanceof DevshError) return { end: { verdict: 'failed', error } };
    throw error;
  }
}

/** What became of a request that was sent before a crash; undefined when it had no effect at all. */
export function settleDoubt(
  profile: Profile,
  step: Step,
  records: readonly DeviceRecord[],
): StepEnd | undefined {
  const lost: Answered = { kind: 'lost', error: new CancelledError('interrupted') };
  const end = judge(profile, step, lost, { before: records, after: records });
  if (end.verdict === 'failed') return undefined;
  const note = 'it was sent before the interruption; reading back settled it';
  return { ...end, note };
}

/** What has changed since the plan, in words; undefined when the plan still holds. */
export function driftOf(
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
  const changed = changesSince(before, held);
  if (changed.length === 0) return undefined;
  const fields = changed.map(({ field }) => field).join(', ');
  return `${step.resource} ${step.key} changed since the plan (${fields})`;
}

/** Sends the one request of a step. Throws when it certainly did not reach the device. */
async function send(step: Step, device: StepDevice): Promise<Answered> {
  try {
    await device.write(step.request);
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
  step: Step,
  answered: Answered,
  before: readonly DeviceRecord[],
  device: StepDevice,
  settleDelaysMs: readonly number[],
): Promise<{ end: StepEnd; after?: readonly DeviceRecord[] }> {
  for (let attempt = 0; ; attempt += 1) {
    let after: readonly DeviceRecord[];
    try {
      after = await device.list(step.resource);
    } catch (error) {
      if (!(error instanceof DevshError)) throw error;
      return { end: unread(answered, error) };
    }
    const end = judge(device.profile, step, answered, { before, after });
    const delayMs = settleDelaysMs[attempt];
    // An answer may come before the change shows, and a lost request may still be at work.
    const mayStillSettle =
      end.verdict === 'no effect' || (end.verdict === 'failed' && answered.kind === 'lost');
    if (!mayStillSettle || delayMs === undefined) return { end, after };
    await new Promise((resolve) => setTimeout(resolve, delayMs));
  }
}

/** Reading back failed: only a clear refusal still tells what happened. */
function unread(answered: Answered, error: DevshError): StepEnd {
  const isClearRefusal = answered.kind === 'refused' && !(answered.error instanceof ProtocolError);
  if (isClearRefusal) return { verdict: 'failed', error: answered.error };
  const reason = answered.kind === 'accepted' ? 'the device accepted it' : 'the answer was lost';
  return {
    verdict: 'unknown',
    error: answered.kind === 'accepted' ? error : answered.error,
    note: `${reason}, but reading back failed: look again before you repeat it`,
  };
}
