import { ProtocolError, UnreachableError } from '../device/errors.ts';
import { uncomparedFields } from '../device/observation.ts';
import { idOf, type Profile } from '../device/profile.ts';
import type { DeviceRecord } from '../device/record.ts';
import { isTimeStamp } from '../device/value-text.ts';
import type { DevshError } from '../errors.ts';
import {
  differencesOf,
  differencesOfNew,
  type Compared,
  foldedText,
  isRespelled,
  isSameValue,
} from './compare.ts';
import { find, sameKey } from './find-record.ts';
import { withLosses } from './losses.ts';
import { isMasked } from './mask.ts';
import { bystandersOf, pairRecords, type Bystanders } from './pairing.ts';
import type { Step } from './plan.ts';
import { unreadFields, unreadNote, type Unread } from './unread-fields.ts';
import type { StepEnd } from './verdict.ts';
import { withBystanders } from './with-bystanders.ts';
import { valueAt } from '../value-at.ts';

/** How the device answered the request: with a 2xx, with a refusal, or not at all. */
export type Answered =
  /** `objection`: what the answer objects to in spite of its status. */
  | { readonly kind: 'accepted'; readonly objection?: string }
  | { readonly kind: 'refused' | 'lost'; readonly error: DevshError };

/** The records of the resource just before the request and just after it. */
export interface Readings {
  readonly before: readonly DeviceRecord[];
  readonly after: readonly DeviceRecord[];
}

/**
 * The verdict on a step, from what the device holds before and after it. The answer to the request
 * only tells `no effect` from `failed`; what is held decides all else, of the other records, too. Pure.
 */
export function judge(
  profile: Profile,
  step: Step,
  answered: Answered,
  readings: Readings,
): StepEnd {
  return withLosses(step, judgeStep(profile, step, answered, readings));
}

function judgeStep(profile: Profile, step: Step, answered: Answered, readings: Readings): StepEnd {
  switch (step.action) {
    case 'add':
      return judgeAdd(profile, step, answered, readings);
    case 'set':
      return judgeSet(profile, step, answered, readings);
    case 'delete':
      return judgeDelete(profile, step, answered, readings);
  }
}

function judgeAdd(
  profile: Profile,
  step: Step,
  answered: Answered,
  { before, after }: Readings,
): StepEnd {
  const wanted = step.after ?? {};
  const twins = new Set(sameKey(step, after, wanted));
  const others = after.filter((record) => !twins.has(record));
  const pairing = pairRecords(profile, step, before, others);
  const folded = foldedKey(step, wanted);
  const held =
    [...twins][0] ?? pairing.newcomers.find((record) => foldedKey(step, record) === folded);
  const bystanders = bystandersOf(profile, step, before, pairing, held);
  if (held === undefined) return withBystanders(step, notCarriedOut(answered), bystanders);
  const compared = Object.fromEntries(
    Object.entries(wanted).filter(
      ([field]) => Object.hasOwn(step.asked, field) || Object.hasOwn(step.filled, field),
    ),
  );
  const unread = unreadFields(profile, step, { before, after }, held);
  const differences = without(unread, differencesOfNew(compared, held));
  const differing: StepEnd = {
    verdict: 'differs',
    record: held,
    differences,
    ...noteOf(objectionText(answered) ?? respelling(differences)),
  };
  if (twins.size > 1) {
    const note = `the device now holds ${twins.size} records with this ${step.keyField}`;
    return withBystanders(step, { ...differing, note }, bystanders);
  }
  if (differences.length > 0) return withBystanders(step, differing, bystanders);
  const done: StepEnd = { verdict: 'done', record: held, ...remark(answered, unread) };
  return withBystanders(step, done, bystanders);
}

function foldedKey({ keyField }: Step, record: DeviceRecord): string {
  return foldedText(record[keyField]);
}

function respelling(differences: readonly Compared[]): string | undefined {
  if (!isRespelled(differences)) return undefined;
  return 'the device took it and stored it in its own spelling';
}

function noteOf(...texts: readonly (string | undefined)[]): { note: string } | undefined {
  const said = texts.filter((text) => text !== undefined);
  return said.length === 0 ? undefined : { note: said.join('; ') };
}

/** The record that a `set` or `delete` is about as it is after the request, and all the others. */
function followTarget(
  profile: Profile,
  step: Step,
  { before, after }: Readings,
): { held: DeviceRecord | undefined; bystanders: Bystanders } {
  const image = step.before ?? {};
  const wanted = { ...image, ...step.after };
  const target = find(profile, step, before, image);
  const others = before.filter((record) => record !== target);
  // What has the id and the new key is the record, even if another one now has the old key.
  const id = idOf(profile, image);
  const renamed =
    step.action === 'set' && id !== undefined
      ? sameKey(step, after, wanted).find((record) => idOf(profile, record) === id)
      : undefined;
  if (renamed !== undefined) {
    const rest = after.filter((record) => record !== renamed);
    const pairing = pairRecords(profile, step, others, rest);
    return { held: renamed, bystanders: bystandersOf(profile, step, others, pairing) };
  }
  const pairing = pairRecords(profile, step, before, after);
  const heir = target && pairing.heirs.get(target);
  const isSet = step.action === 'set';
  const held = heir ?? (isSet ? sameKey(step, pairing.newcomers, wanted)[0] : undefined);
  return { held, bystanders: bystandersOf(profile, step, others, pairing, held) };
}

function judgeSet(profile: Profile, step: Step, answered: Answered, readings: Readings): StepEnd {
  const { held, bystanders } = followTarget(profile, step, readings);
  const own: StepEnd =
    held === undefined
      ? { verdict: 'differs', note: 'the record is gone since the request' }
      : judgeHeld(profile, step, answered, readings, held);
  return withBystanders(step, own, bystanders);
}

function judgeHeld(
  profile: Profile,
  step: Step,
  answered: Answered,
  readings: Readings,
  held: DeviceRecord,
): StepEnd {
  const before = step.before ?? {};
  const unread = unreadFields(profile, step, readings, held);
  const missed = without(unread, differencesOf(step.asked, held));
  const ignored = [...uncomparedFields(profile, step.resource), ...unread.hashes];
  const sideEffects = differencesOf(withoutAsked(step, before), held).filter(
    // A plan from a file or a journal does not know the secrets of before.
    ({ field, sent }) => !isTimeStamp(sent) && !isMasked(before, field) && !ignored.includes(field),
  );
  const added = readings.after.length - readings.before.length;
  const twins = sameKey(step, readings.after, step.after ?? {}).length;
  if (twins > 1 && added > 0) {
    const note = 'the device made a second record instead of changing the first';
    return { verdict: 'differs', record: held, differences: missed, note };
  }
  if (missed.length === 0 && sideEffects.length === 0) {
    const isAllHidden = unread.hidden.length === Object.keys(step.asked).length;
    if (isAllHidden) return judgeHidden(answered, held, unread);
    return { verdict: 'done', record: held, ...remark(answered, unread) };
  }
  const isUntouched =
    unread.rehashed.length === 0 &&
    without(unread, differencesOf(wantedChanges(step, before), before)).every(({ field }) =>
      isSameValue(valueAt(before, field) ?? null, valueAt(held, field)),
    );
  if (isUntouched && sideEffects.length === 0) return notCarriedOut(answered, held);
  const changed = sideEffects.map(({ field }) => field).join(', ');
  return {
    verdict: 'differs',
    record: held,
    differences: [...missed, ...sideEffects.map(({ sent, ...one }) => ({ ...one, was: sent }))],
    ...noteOf(
      missed.length > 0 ? objectionText(answered) : undefined,
      respelling([...missed, ...sideEffects]),
      changed === '' ? undefined : `changed without being asked: ${changed}`,
    ),
  };
}

function judgeDelete(
  profile: Profile,
  step: Step,
  answered: Answered,
  readings: Readings,
): StepEnd {
  const { held, bystanders } = followTarget(profile, step, readings);
  const own: StepEnd =
    held === undefined ? { verdict: 'done', ...remark(answered) } : notCarriedOut(answered, held);
  return withBystanders(step, own, bystanders);
}

/** Nothing changed: a 2xx was a lie, a refusal stands, a lost request never took effect. */
function notCarriedOut(answered: Answered, held?: DeviceRecord): StepEnd {
  const record = held && { record: held };
  switch (answered.kind) {
    case 'accepted':
      return {
        verdict: 'no effect',
        ...record,
        note: objectionText(answered) ?? 'the device accepted it, but nothing changed',
      };
    case 'refused':
      return { verdict: 'failed', ...record, error: answered.error };
    case 'lost':
      return {
        verdict: 'failed',
        ...record,
        error:
          answered.error instanceof UnreachableError ? answered.error.settled() : answered.error,
        note: `${lostText(answered.error)}; reading back shows that nothing changed`,
      };
  }
}

function objectionText(answered: Answered): string | undefined {
  const objection = answered.kind === 'accepted' ? answered.objection : undefined;
  return objection && `the device answered: ${objection}`;
}

/** A change of nothing but what cannot be read back: only the answer tells. */
function judgeHidden(answered: Answered, held: DeviceRecord, unread: Unread): StepEnd {
  const note = unreadNote(unread) ?? '';
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

function without({ hidden, rehashed }: Unread, differences: readonly Compared[]): Compared[] {
  return differences.filter(({ field }) => !hidden.includes(field) && !rehashed.includes(field));
}

/** What is to be said of a step that was carried out: the device did not say so, or not all is shown. */
function remark(answered: Answered, unread?: Unread): { note: string } | undefined {
  const unreadText = unread && unreadNote(unread);
  switch (answered.kind) {
    case 'accepted':
      return noteOf(unreadText);
    case 'refused':
      return noteOf(
        `the device refused it (${answered.error.message}), but reading back shows it`,
        unreadText,
      );
    case 'lost':
      return noteOf(`${lostText(answered.error)}; reading back shows it`, unreadText);
  }
}

function lostText(error: DevshError): string {
  return error instanceof ProtocolError ? 'the answer was of no use' : 'the answer was lost';
}

function withoutAsked(step: Step, before: DeviceRecord): DeviceRecord {
  return Object.fromEntries(
    Object.entries(before).filter(([field]) => !Object.hasOwn(step.asked, field)),
  );
}

function wantedChanges(step: Step, before: DeviceRecord): DeviceRecord {
  return Object.fromEntries(
    Object.entries(step.asked).filter(
      ([field, value]) => !isSameValue(value, valueAt(before, field)),
    ),
  );
}
