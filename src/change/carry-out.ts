import { recordName, type Step } from './plan.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  MAX_THROTTLES,
  MAX_THROTTLE_MS,
  ProtocolError,
  RejectedError,
  UnreachableError,
  UntrustedError,
} from '../device/errors.ts';
import {
  hasPositionalIds,
  uncomparedFields,
  withObservation,
  type Observation,
} from '../device/observation.ts';
import { idOf, updateFacts, type Profile, type ResourceProfile } from '../device/profile.ts';
import type { WriteAnswer } from '../device/device.ts';
import { type DeviceRecord, valueAt } from '../device/record.ts';
import { valueText } from '../device/value-text.ts';
import { CancelledError, CredentialError, DevshError } from '../errors.ts';
import { changesSince, isSameValue } from './compare.ts';
import { find, RecordIndex } from './find-record.ts';
import { judge, type Answered, type Readings } from './judge.ts';
import { isShown } from './unread-fields.ts';
import { leftOutFields } from '../device/encode.ts';
import { isSecretField } from '../device/secret-fields.ts';
import { movedId, restlessFields, suspectFields } from './restless.ts';
import { pairRecords } from './pairing.ts';
import type { StepEnd } from './verdict.ts';
import { WRITE_OF } from './doubts.ts';

/** What a step needs of its device. */
export interface StepDevice {
  readonly profile: Profile;
  list(resource: string): Promise<readonly DeviceRecord[]>;
  /** One record at its own path. */
  read?(resource: string, record: DeviceRecord): Promise<DeviceRecord | undefined>;
  /** Sends a request once. */
  write(request: Step['request']): Promise<Partial<WriteAnswer> | undefined>;
  /** Whether it was seen to take one connection at a time. */
  readonly takesOneConnection?: boolean;
}

/** How long to wait before reading again when a change does not show yet. */
export const SETTLE_DELAYS_MS = [200, 800];

/** What a step is carried out with, besides its device. */
export interface CarryOutOptions {
  /** Is awaited just before each time the request leaves: the journal. */
  readonly beforeSend: () => Promise<void>;
  readonly settleDelaysMs?: readonly number[];
  /** Aborted: what has left is still read back, but nothing is waited for to be sent again. */
  readonly signal?: AbortSignal;
}

interface Ended {
  readonly end: StepEnd;
  /** The records read back, where they could be. */
  readonly after?: readonly DeviceRecord[];
  /** What this showed of how the device speaks. */
  readonly observed?: readonly Observation[];
}

/**
 * Carries out one step: sends, reads back, judges. Only what the device put off (429) is sent again,
 * after the time that it asks for, and only when reading back shows that nothing at all has changed.
 * Expected failures are a result, not thrown.
 *
 * @param before the records of the resource just before
 */
export async function carryOut(
  step: Step,
  device: StepDevice,
  before: readonly DeviceRecord[],
  { beforeSend, settleDelaysMs = SETTLE_DELAYS_MS, signal }: CarryOutOptions,
): Promise<Ended> {
  for (let sent = 1; ; sent += 1) {
    await beforeSend();
    try {
      const answered = await send(step, device);
      const waitMs = sent > MAX_THROTTLES ? undefined : askedWaitMs(answered);
      if (waitMs !== undefined) await wait(waitMs, signal);
      const ended = await readBack(step, answered, before, device, settleDelaysMs);
      const isOver = waitMs === undefined || signal?.aborted === true;
      if (isOver || !isAsBefore(step, known(device.profile, ended), before, ended)) return ended;
    } catch (error) {
      if (error instanceof DevshError) return { end: { verdict: 'failed', error } };
      throw error;
    }
  }
}

/** How long the device asks to wait before the request is sent again, where that is worth waiting. */
function askedWaitMs(answered: Answered): number | undefined {
  if (answered.kind !== 'refused' || !(answered.error instanceof RejectedError)) return undefined;
  const { retryAfterMs } = answered.error;
  return retryAfterMs !== undefined && retryAfterMs <= MAX_THROTTLE_MS ? retryAfterMs : undefined;
}

/** Ends early when `signal` is aborted. */
async function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(milliseconds, undefined, { ...(signal && { signal }) }).catch((error: unknown) => {
    if (signal?.aborted !== true) throw error;
  });
}

function known(profile: Profile, { observed = [] }: Ended): Profile {
  return observed.reduce(withObservation, profile);
}

/** Whether reading back proves that nothing has changed, whatever was answered. */
function isAsBefore(
  step: Step,
  profile: Profile,
  before: readonly DeviceRecord[],
  { after }: Ended,
): boolean {
  if (after === undefined) return false;
  if (pairRecords(profile, step, before, after).newcomers.length > 0) return false;
  if (movedId(profile, step, before, after) !== undefined) return false;
  // A secret that is not shown proves nothing; then an accepted request counts as done.
  return judge(profile, step, { kind: 'accepted' }, { before, after }).verdict === 'no effect';
}

/** What became of a request that was sent before a crash; undefined when it had no effect at all. */
export function settleDoubt(
  profile: Profile,
  step: Step,
  records: readonly DeviceRecord[],
): StepEnd | undefined {
  const lost: Answered = { kind: 'lost', error: new CancelledError('interrupted') };
  // Nothing is known of before; a new record was not there, or it would not have been sent.
  const before = step.action === 'add' ? [] : records;
  const end = judge(profile, step, lost, { before, after: records });
  if (end.verdict === 'failed') return undefined;
  if (end.verdict === 'unknown') return end;
  const key = step.after?.[step.keyField] ?? null;
  if (step.action === 'add' && !isSameValue(key, end.record?.[step.keyField])) {
    const note = `it was sent before the interruption; the device has ${valueText(end.record?.[step.keyField])}, which may be it`;
    return { ...end, verdict: 'unknown', note };
  }
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
    const isTaken = RecordIndex.of(records).holding(step.keyField, key).length > 0;
    return isTaken ? `${recordName(step)} was added since the plan` : undefined;
  }
  const held = find(profile, step, records, before);
  if (sharesId(profile, records, hasPositionalIds(profile) ? (held ?? before) : before)) {
    return `${recordName(step)} shares its id with another one since the plan`;
  }
  if (held === undefined) return `${recordName(step)} is gone since the plan`;
  const changed = changesSince(before, held, uncomparedFields(profile, step.resource));
  if (changed.length === 0) return undefined;
  const fields = changed.map(({ field }) => field).join(', ');
  return `${recordName(step)} changed since the plan (${fields})`;
}

/** A request that names this record by its id might hit another one. */
function sharesId(
  profile: Profile,
  records: readonly DeviceRecord[],
  record: DeviceRecord,
): boolean {
  const id = idOf(profile, record);
  return id !== undefined && RecordIndex.of(records).withId(profile, id).length > 1;
}

/** Sends the one request of a step. Throws when it certainly did not reach the device. */
async function send(step: Step, device: StepDevice): Promise<Answered> {
  try {
    const { objection, record } = (await device.write(step.request)) ?? {};
    return {
      kind: 'accepted',
      ...(record && { record }),
      ...(objection !== undefined && { objection }),
    };
  } catch (error) {
    if (!(error instanceof DevshError)) throw error;
    if (error instanceof UntrustedError || error instanceof CredentialError) throw error;
    if (error instanceof UnreachableError) {
      if (!error.mayHaveArrived) throw error;
      return { kind: 'lost', error };
    }
    // No HTTP, too large, not to be unpacked: it says neither yes nor no.
    if (error instanceof ProtocolError && (error.status ?? 200) < 300) {
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
): Promise<Ended> {
  let { profile } = device;
  const observed: Observation[] = [];
  let last: readonly DeviceRecord[] | undefined;
  for (let attempt = 0; ; attempt += 1) {
    let after: readonly DeviceRecord[];
    try {
      after = await device.list(step.resource);
    } catch (error) {
      if (!(error instanceof DevshError)) throw error;
      return { end: unread(answered, error), observed };
    }
    const fields = last === undefined ? [] : restlessFields(profile, step, [before, last, after]);
    if (fields.length > 0) {
      const seen = { kind: 'volatile', resource: step.resource, fields } as const;
      observed.push(seen);
      profile = withObservation(profile, seen);
    }
    let end = judge(profile, step, answered, { before, after });
    const delayMs = settleDelaysMs[attempt];
    // An answer may come before the change shows, and a lost request may still be at work.
    const mayStillSettle =
      end.verdict === 'no effect' || (end.verdict === 'failed' && answered.kind === 'lost');
    const isUnseen = ['differs', 'unknown'].includes(end.verdict) && end.record === undefined;
    const isSuspect = suspectFields(profile, step, before, after).length > 0;
    if (!(mayStillSettle || isUnseen || isSuspect) || delayMs === undefined) {
      const own = await ownPath(step, answered, end, device, after);
      if (own !== undefined) end = judge(profile, step, answered, { before, after, own });
      const proven = proof(step, answered, end);
      const seen = seenWriting(profile, step, { before, after }, answered, end);
      return { end, after, observed: [...observed, ...(proven ? [proven] : []), ...seen] };
    }
    last = after;
    await sleep(delayMs);
  }
}

/**
 * What the path of the record itself tells where its list leaves open whether it is there; undefined
 * where that tells nothing: that there is no such path for this record says something only where there
 * is one for another.
 */
async function ownPath(
  step: Step,
  answered: Answered,
  { verdict, record: held }: StepEnd,
  device: StepDevice,
  after: readonly DeviceRecord[],
): Promise<Readings['own']> {
  const { resource, before, action } = step;
  const isListed = held !== undefined;
  const isOpen = verdict === 'no effect' || (action !== 'delete' && !isListed);
  const record = before ?? (answered.kind === 'accepted' ? answered.record : undefined);
  const id = record && idOf(device.profile, record);
  if (!isOpen || record === undefined || id === undefined || hasPositionalIds(device.profile)) {
    return undefined;
  }
  const read = async (one: DeviceRecord | undefined): Promise<Readings['own'] | DevshError> => {
    try {
      const found = one && (await device.read?.(resource, one));
      return found && { record: found };
    } catch (error) {
      if (error instanceof DevshError) return error;
      throw error;
    }
  };
  const own = await read(record);
  if (!(own instanceof DevshError)) return own;
  if (!(own instanceof RejectedError) || ![404, 410].includes(own.status)) return undefined;
  if (action === 'set' && isListed) return undefined;
  const other = await read(after.find((one) => idOf(device.profile, one) !== id));
  return other === undefined || other instanceof DevshError ? undefined : {};
}

/** What an accepted change showed of fields that are left out, or not shown at all. */
function seenWriting(
  profile: Profile,
  step: Step,
  { before, after }: Readings,
  answered: Answered,
  { verdict, record }: StepEnd,
): Observation[] {
  const isStored = verdict === 'done' || verdict === 'differs';
  if (answered.kind !== 'accepted' || !isStored || record === undefined) return [];
  const { resource, asked, request } = step;
  const hidden = Object.keys(asked).filter(
    (field) =>
      valueText(valueAt(asked, field)) !== '' &&
      (isSecretField(field) || verdict === 'done') &&
      !after.some((one) => Object.hasOwn(one, field)),
  );
  const isRepeated = Object.keys(asked).some(
    (field) => (request.form ?? []).filter(([name]) => name === field).length > 1,
  );
  const image = step.before && find(profile, step, before, step.before);
  const leftOut = image && leftOutMeaning(profile, step, image, record, verdict);
  const known = profile.resources[resource];
  const isWhole = updateFacts(profile, resource).record === 'whole';
  const isNew = known?.shown?.every((field) => Object.hasOwn(record, field)) !== true;
  const shown = Object.keys(record).filter((field) =>
    after.every((one) => Object.hasOwn(one, field)),
  );
  const seen = {
    ...(hidden.length > 0 && { hidden }),
    ...(isRepeated && verdict === 'done' && { lists: 'repeated' as const }),
    ...(leftOut !== undefined && { leftOut }),
    ...(isWhole && isNew && { shown }),
  };
  return Object.keys(seen).length === 0 ? [] : [{ kind: 'writing', resource, seen }];
}

/** Only a secret that is shown, and was not sent, tells that the device keeps what is left out. */
function leftOutMeaning(
  profile: Profile,
  { resource, asked }: Step,
  before: DeviceRecord,
  held: DeviceRecord,
  verdict: StepEnd['verdict'],
): ResourceProfile['leftOut'] {
  if (updateFacts(profile, resource).record !== 'whole') return undefined;
  const fields = leftOutFields(profile, resource, before, asked).filter((field) =>
    Object.hasOwn(before, field),
  );
  if (fields.some((field) => valueText(valueAt(held, field)) === '')) return 'erased';
  const secrets = fields.filter((field) => isSecretField(field) && isShown(before[field]));
  if (secrets.some((field) => isSameValue(before[field] ?? null, valueAt(held, field)))) {
    return 'kept';
  }
  const isOpen = profile.resources[resource]?.leftOut === undefined;
  return isOpen && verdict === 'done' ? 'not seen' : undefined;
}

/** Only what the device accepted and shows without reserve proves that this is the way. */
function proof(
  { action, resource }: Step,
  answered: Answered,
  { verdict, note }: StepEnd,
): Observation | undefined {
  if (answered.kind !== 'accepted' || verdict !== 'done' || note !== undefined) return undefined;
  return { kind: 'proven', write: WRITE_OF[action], resource };
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
