import { idOf, type Profile } from '../device/profile.ts';
import type { DeviceRecord } from '../device/record.ts';
import { isTimeStamp, valueText } from '../device/value-text.ts';
import { isSecretField } from '../device/secret-fields.ts';
import type { DevshError } from '../errors.ts';
import { differencesOf, isSameValue } from './compare.ts';
import { isMasked } from './mask.ts';
import type { Step } from './plan.ts';
import type { Difference, Verdict } from './verdict.ts';

/** How the device answered the request: with a 2xx, with a refusal, or not at all. */
export type Answered =
  { readonly kind: 'accepted' } | { readonly kind: 'refused' | 'lost'; readonly error: DevshError };

export interface Judgement {
  readonly verdict: Verdict;
  readonly record?: DeviceRecord;
  readonly differences?: readonly Difference[];
  readonly note?: string;
  readonly error?: DevshError;
}

/** The records of the resource just before the request and just after it. */
export interface Readings {
  readonly before: readonly DeviceRecord[];
  readonly after: readonly DeviceRecord[];
}

/**
 * The verdict on a step, from what the device holds before and after it. The answer to the request
 * only tells `no effect` from `failed`; what is held decides all else. Pure.
 */
export function judge(
  profile: Profile,
  step: Step,
  answered: Answered,
  readings: Readings,
): Judgement {
  switch (step.action) {
    case 'add':
      return judgeAdd(step, answered, readings);
    case 'set':
      return judgeSet(profile, step, answered, readings);
    case 'delete':
      return judgeDelete(profile, step, answered, readings);
  }
}

function judgeAdd(step: Step, answered: Answered, { after }: Readings): Judgement {
  const wanted = step.after ?? {};
  const twins = after.filter((record) =>
    isSameValue(wanted[step.keyField] ?? null, record[step.keyField]),
  );
  const [held] = twins;
  if (held === undefined) return notCarriedOut(answered);
  const compared = Object.fromEntries(
    Object.entries(wanted).filter(([field]) => field in step.asked || field in step.filled),
  );
  const hidden = hiddenSecrets(step, held);
  const differences = without(hidden, differencesOf(compared, held));
  if (twins.length > 1) {
    const note = `the device now holds ${twins.length} records with this ${step.keyField}`;
    return { verdict: 'differs', record: held, differences, note };
  }
  if (differences.length > 0) return { verdict: 'differs', record: held, differences };
  return { verdict: 'done', record: held, ...remark(answered, hidden) };
}

function judgeSet(profile: Profile, step: Step, answered: Answered, readings: Readings): Judgement {
  const before = step.before ?? {};
  const wanted = step.after ?? {};
  const held = find(profile, step, readings.after, wanted);
  if (held === undefined) {
    return { verdict: 'differs', note: 'the record is gone since the request' };
  }
  const hidden = hiddenSecrets(step, held);
  if (hidden.length === Object.keys(step.asked).length) return judgeHidden(answered, held, hidden);
  const missed = without(hidden, differencesOf(step.asked, held));
  const sideEffects = differencesOf(withoutAsked(step, before), held).filter(
    // A plan from a file or a journal does not know the secrets of before.
    ({ field, sent }) => !isTimeStamp(sent) && !isMasked(before, field),
  );
  const added = readings.after.length - readings.before.length;
  const twins = sameKey(step, readings.after, wanted).length;
  if (twins > 1 && added > 0) {
    const note = 'the device made a second record instead of changing the first';
    return { verdict: 'differs', record: held, differences: missed, note };
  }
  if (missed.length === 0 && sideEffects.length === 0) {
    return { verdict: 'done', record: held, ...remark(answered, hidden) };
  }
  const isUntouched = without(hidden, differencesOf(wantedChanges(step, before), before)).every(
    ({ field }) => isSameValue(before[field] ?? null, held[field]),
  );
  if (isUntouched && sideEffects.length === 0) return notCarriedOut(answered, held);
  return {
    verdict: 'differs',
    record: held,
    differences: [...missed, ...sideEffects],
    ...(sideEffects.length > 0 && {
      note: `changed without being asked: ${sideEffects.map(({ field }) => field).join(', ')}`,
    }),
  };
}

function judgeDelete(
  profile: Profile,
  step: Step,
  answered: Answered,
  readings: Readings,
): Judgement {
  const before = step.before ?? {};
  const held = find(profile, step, readings.after, before);
  const others = readings.before.filter(
    (record) => record !== find(profile, step, readings.before, before),
  );
  const lost = others.filter((record) => !isStillThere(profile, step, readings.after, record));
  if (lost.length > 0) {
    const names = lost.map((record) => valueText(record[step.keyField] ?? '?')).join(', ');
    const note = `gone, too, without being asked: ${names}`;
    return { verdict: 'differs', ...(held && { record: held }), note };
  }
  if (held !== undefined) return notCarriedOut(answered, held);
  return { verdict: 'done', ...remark(answered) };
}

/** Nothing changed: a 2xx was a lie, a refusal stands, a lost request never took effect. */
function notCarriedOut(answered: Answered, held?: DeviceRecord): Judgement {
  const record = held && { record: held };
  switch (answered.kind) {
    case 'accepted':
      return {
        verdict: 'no effect',
        ...record,
        note: 'the device accepted it, but nothing changed',
      };
    case 'refused':
      return { verdict: 'failed', ...record, error: answered.error };
    case 'lost':
      return {
        verdict: 'failed',
        ...record,
        error: answered.error,
        note: 'the answer was lost; reading back shows that nothing changed',
      };
  }
}

/**
 * Secrets that were asked for and that the device does not show, or shows masked or hashed: what it
 * holds cannot be compared. One that is shown as it was before has visibly not changed.
 */
function hiddenSecrets(step: Step, held: DeviceRecord): string[] {
  return Object.keys(step.asked).filter((field) => {
    const [sent, before, now] = [step.asked[field] ?? null, step.before?.[field], held[field]];
    if (!isSecretField(field) || isSameValue(sent, now)) return false;
    const isShown = typeof now === 'string' && now !== '' && !/^[*\u2022\u25cfx.]+$/i.test(now);
    return !(isShown && before !== undefined && isSameValue(before, now));
  });
}

/** A change of nothing but secrets that cannot be read back: only the answer tells. */
function judgeHidden(answered: Answered, held: DeviceRecord, hidden: readonly string[]): Judgement {
  const note = hiddenNote(hidden);
  switch (answered.kind) {
    case 'accepted':
      return { verdict: 'done', record: held, note };
    case 'refused':
      return { verdict: 'failed', record: held, error: answered.error };
    case 'lost':
      return {
        verdict: 'unknown',
        record: held,
        error: answered.error,
        note: `the answer was lost, and ${note}`,
      };
  }
}

function hiddenNote(hidden: readonly string[]): string {
  return `${hidden.join(', ')} cannot be read back`;
}

function without(fields: readonly string[], differences: readonly Difference[]): Difference[] {
  return differences.filter(({ field }) => !fields.includes(field));
}

/** What is to be said of a step that was carried out: the device did not say so, or a secret is not shown. */
function remark(answered: Answered, hidden: readonly string[] = []): { note: string } | undefined {
  switch (answered.kind) {
    case 'accepted':
      return hidden.length === 0 ? undefined : { note: hiddenNote(hidden) };
    case 'refused':
      return {
        note: `the device refused it (${answered.error.message}), but reading back shows it`,
      };
    case 'lost':
      return { note: 'the answer was lost; reading back shows it' };
  }
}

/** The record that a step is about: by id where there is one, else by natural key. */
export function find(
  profile: Profile,
  step: Step,
  records: readonly DeviceRecord[],
  image: DeviceRecord,
): DeviceRecord | undefined {
  const id = idOf(profile, image);
  const byId =
    id === undefined ? undefined : records.find((record) => idOf(profile, record) === id);
  return (
    byId ??
    (step.action === 'delete' && id !== undefined ? undefined : sameKey(step, records, image)[0])
  );
}

function sameKey(
  step: Step,
  records: readonly DeviceRecord[],
  image: DeviceRecord,
): DeviceRecord[] {
  const key = image[step.keyField] ?? null;
  return records.filter((record) => isSameValue(key, record[step.keyField]));
}

/** By id, or by natural key where a device gives new ids (or array positions). */
function isStillThere(
  profile: Profile,
  step: Step,
  records: readonly DeviceRecord[],
  record: DeviceRecord,
): boolean {
  const id = idOf(profile, record);
  return (
    (id !== undefined && records.some((other) => idOf(profile, other) === id)) ||
    sameKey(step, records, record).length > 0
  );
}

function withoutAsked(step: Step, before: DeviceRecord): DeviceRecord {
  return Object.fromEntries(Object.entries(before).filter(([field]) => !(field in step.asked)));
}

function wantedChanges(step: Step, before: DeviceRecord): DeviceRecord {
  return Object.fromEntries(
    Object.entries(step.asked).filter(([field, value]) => !isSameValue(value, before[field])),
  );
}
