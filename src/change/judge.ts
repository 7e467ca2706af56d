import { ProtocolError, UnreachableError } from '../device/errors.ts';
import { hasPositionalIds, uncomparedFields } from '../device/observation.ts';
import { idOf, type Profile } from '../device/profile.ts';
import { type DeviceRecord, valueAt } from '../device/record.ts';
import { isTimeStamp, valueText } from '../device/value-text.ts';
import type { DevshError } from '../errors.ts';
import {
  type Compared,
  differencesOf,
  differencesOfNew,
  foldedText,
  isMasked,
  isRespelled,
  isSameValue,
} from './compare.ts';
import { find, sameKey } from './find-record.ts';
import { withLosses } from './losses.ts';
import { type Bystanders, bystandersOf, pairRecords, withBystanders } from './pairing.ts';
import type { Step } from './plan.ts';
import { unreadFields, unreadNote, type Unread } from './unread-fields.ts';
import type { StepEnd } from './verdict.ts';

/** How the device answered the request: with a 2xx, with a refusal, or not at all. */
export type Answered =
  /** `record`: as the answer shows it; `objection`: what it objects to in spite of its status. */
  | {
      readonly kind: 'accepted';
      readonly record?: DeviceRecord | undefined;
      readonly objection?: string | undefined;
    }
  | { readonly kind: 'refused' | 'lost'; readonly error: DevshError };

/** The records of the resource just before the request and just after it. */
export interface Readings {
  readonly before: readonly DeviceRecord[];
  readonly after: readonly DeviceRecord[];
  /** What the path of the record itself tells, where the list left that open: it, or that it is gone. */
  readonly own?: { readonly record?: DeviceRecord };
}

/**
 * The verdict on a step, from what the device holds before and after it. The answer to the request
 * only tells `no effect` from `failed`; what is held decides all else, of the other records, too. What
 * is no longer shown is not known, and neither changed nor as it was. Pure.
 */
export function judge(
  profile: Profile,
  step: Step,
  answered: Answered,
  readings: Readings,
): StepEnd {
  const { before, after, own } = readings;
  const target = step.before && find(profile, step, before, step.before);
  const isDelete = step.action === 'delete';
  const others = isDelete ? before.filter((record) => record !== target) : before;
  const unshown = unshownFields(profile, step, others, after);
  const shown = (record: DeviceRecord): DeviceRecord => withoutFields(record, unshown);
  const listed = step.before && find(profile, step, after, step.before);
  const rest = own === undefined ? after : after.filter((record) => record !== listed);
  const seen: Readings = {
    before: unshown.length === 0 ? before : before.map(shown),
    after: own?.record ? [...rest, own.record] : rest,
    ...(own && { own }),
  };
  const end = judgeStep(profile, withShown(step, shown), answered, seen);
  const notes = [
    ...(after.length === 0 && others.length > 0 ? ['its list is empty now'] : []),
    ...(own && end.verdict !== 'no effect' ? ownPathNotes(listed, own.record) : []),
    ...(unshown.length > 0 ? [`no longer shown: ${unshown.join(', ')}`] : []),
  ];
  return withLosses(step, withReserve(end, notes));
}

/** Where the list and the path of the record do not say the same. */
function ownPathNotes(listed: DeviceRecord | undefined, own: DeviceRecord | undefined): string[] {
  if (own !== undefined) {
    return [`its own path shows ${listed === undefined ? 'it' : 'the change'}, the list does not`];
  }
  return listed === undefined ? [] : ['its own path no longer shows it, the list still does'];
}

/** What makes a verdict less than `done`. */
function withReserve(end: StepEnd, notes: readonly string[]): StepEnd {
  if (notes.length === 0) return end;
  return {
    ...end,
    verdict: end.verdict === 'done' ? 'differs' : end.verdict,
    ...noteOf(end.note, ...notes),
  };
}

/** Fields that other records than a deleted one had, and that no record shows any more. */
function unshownFields(
  profile: Profile,
  { keyField, resource, asked }: Step,
  before: readonly DeviceRecord[],
  after: readonly DeviceRecord[],
): readonly string[] {
  const shown = new Set(after.flatMap((record) => Object.keys(record)));
  const ignored = [keyField, ...profile.idFields, ...uncomparedFields(profile, resource)];
  const gone = new Set(
    before.flatMap((record) =>
      Object.keys(record).filter((field) => !shown.has(field) && valueText(record[field]) !== ''),
    ),
  );
  // Many devices leave out what is empty: it is as it was asked for.
  const isEmptied = (field: string): boolean =>
    Object.hasOwn(asked, field) && valueText(asked[field]) === '';
  return after.length === 0
    ? []
    : [...gone].filter((field) => !ignored.includes(field) && !isEmptied(field));
}

function withShown(step: Step, shown: (record: DeviceRecord) => DeviceRecord): Step {
  const { before, after, asked } = step;
  return {
    ...step,
    ...(before && { before: shown(before) }),
    ...(after && { after: shown(after) }),
    asked: shown(asked),
  };
}

function withoutFields(record: DeviceRecord, fields: readonly string[]): DeviceRecord {
  if (fields.length === 0) return record;
  return Object.fromEntries(Object.entries(record).filter(([field]) => !fields.includes(field)));
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

function judgeAdd(profile: Profile, step: Step, answered: Answered, readings: Readings): StepEnd {
  const { before, after } = readings;
  const wanted = step.after ?? {};
  const twins = new Set(sameKey(step, after, wanted));
  const others = after.filter((record) => !twins.has(record));
  const pairing = pairRecords(profile, step, before, others);
  const folded = foldedKey(step, wanted);
  const answeredId = idAnswered(profile, answered);
  const held =
    [...twins][0] ??
    pairing.newcomers.find((record) => foldedKey(step, record) === folded) ??
    pairing.newcomers.find((record) => isId(answeredId, idOf(profile, record)));
  const bystanders = bystandersOf(profile, step, before, pairing, held);
  if (held === undefined) {
    return withBystanders(step, notShown(answered, answeredId, readings), bystanders);
  }
  const compared = Object.fromEntries(
    Object.entries(wanted).filter(
      ([field]) => Object.hasOwn(step.asked, field) || Object.hasOwn(step.filled, field),
    ),
  );
  const unread = unreadFields(profile, step, [...before, ...after], held);
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

/** A new record that does not show: where the device answered with it, it may be there all the same. */
function notShown(answered: Answered, id: string | undefined, readings: Readings): StepEnd {
  const isOpen = id !== undefined && readings.own === undefined;
  if (!isOpen || objectionText(answered) !== undefined) return notCarriedOut(answered, readings);
  const note = `the device answered with the record (id ${id}), its list does not show it`;
  return { verdict: 'unknown', note };
}

function idAnswered(profile: Profile, answered: Answered): string | undefined {
  if (answered.kind !== 'accepted' || answered.record === undefined) return undefined;
  return hasPositionalIds(profile) ? undefined : idOf(profile, answered.record);
}

function isId(id: string | undefined, other: string | undefined): boolean {
  return id !== undefined && id === other;
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

const GONE = 'the record is gone since the request: neither its list nor its own path shows it';

function judgeSet(profile: Profile, step: Step, answered: Answered, readings: Readings): StepEnd {
  const { held, bystanders } = followTarget(profile, step, readings);
  const own: StepEnd =
    held === undefined
      ? { verdict: 'differs', note: readings.own ? GONE : 'its list no longer shows it' }
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
  const unread = unreadFields(profile, step, [...readings.before, ...readings.after], held);
  const missed = without(unread, differencesOf(step.asked, held));
  const ignored = [...uncomparedFields(profile, step.resource), ...unread.hashes];
  const sideEffects = changesUnasked(step, held, ignored);
  const added = readings.after.length - readings.before.length;
  const twins = sameKey(step, readings.after, step.after ?? {}).length;
  if (twins > 1 && added > 0) {
    const note = 'the device made a second record instead of changing the first';
    return { verdict: 'differs', record: held, differences: missed, note };
  }
  if (missed.length === 0 && sideEffects.length === 0) {
    const isAllHidden =
      unread.hidden.length > 0 && unread.hidden.length === Object.keys(step.asked).length;
    if (isAllHidden) return judgeHidden(answered, held, unread);
    return { verdict: 'done', record: held, ...remark(answered, unread) };
  }
  const isUntouched =
    unread.rehashed.length === 0 &&
    without(unread, differencesOf(wantedChanges(step, before), before)).every(({ field }) =>
      isSameValue(valueAt(before, field) ?? null, valueAt(held, field)),
    );
  if (isUntouched && sideEffects.length === 0) {
    return missed.every(({ field }) => unread.untold.includes(field))
      ? judgeUntold(answered, readings, held, unread)
      : notCarriedOut(answered, readings, held);
  }
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

/** What became different in a record although nobody asked for it; `sent`: as it was. */
function changesUnasked(
  step: Step,
  held: DeviceRecord,
  ignored: readonly string[],
): readonly Compared[] {
  const before = step.before ?? {};
  return differencesOf(withoutAsked(step, before), held).filter(
    // A plan from a file or a journal does not know the secrets of before.
    ({ field, sent }) => !isTimeStamp(sent) && !isMasked(before, field) && !ignored.includes(field),
  );
}

function judgeDelete(
  profile: Profile,
  step: Step,
  answered: Answered,
  readings: Readings,
): StepEnd {
  const { held, bystanders } = followTarget(profile, step, readings);
  if (held === undefined) {
    return withBystanders(step, { verdict: 'done', ...remark(answered) }, bystanders);
  }
  const changed =
    answered.kind === 'refused'
      ? []
      : changesUnasked(step, held, uncomparedFields(profile, step.resource));
  const own: StepEnd =
    changed.length === 0
      ? notCarriedOut(answered, readings, held)
      : {
          verdict: 'differs',
          record: held,
          differences: changed.map(({ sent, ...one }) => ({ ...one, was: sent })),
          ...noteOf(objectionText(answered), 'the record is still there, and has changed'),
        };
  return withBystanders(step, own, bystanders);
}

/** Nothing changed: a 2xx was a lie, a refusal stands, a lost request never took effect. */
function notCarriedOut(
  answered: Answered,
  { own }: Pick<Readings, 'own'>,
  held?: DeviceRecord,
): StepEnd {
  const record = held && { record: held };
  switch (answered.kind) {
    case 'accepted':
      return {
        verdict: 'no effect',
        ...record,
        note:
          objectionText(answered) ??
          `the device accepted it, but ${own ? 'nothing changed' : 'reading back shows no change'}`,
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

/** The same of fields of which nobody has told that there are any: then the answer tells nothing either. */
function judgeUntold(
  answered: Answered,
  readings: Readings,
  held: DeviceRecord,
  { untold }: Unread,
): StepEnd {
  if (answered.kind === 'refused' || objectionText(answered) !== undefined) {
    return notCarriedOut(answered, readings, held);
  }
  return {
    verdict: 'unknown',
    record: held,
    ...(answered.kind === 'lost' && { error: answered.error }),
    note: `${untold.join(', ')} cannot be read back: not known whether the device has stored it`,
  };
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
