import { ExpiredSessionError, ProtocolError, UnreachableError } from '../device/errors.ts';
import {
  fieldFacts,
  hasPositionalIds,
  idOf,
  ignoredFields,
  isSummary,
  managedFields,
  type Profile,
  updateFacts,
} from '../device/profile.ts';
import { type DeviceRecord, isTimeStamp, valueAt, withoutFields } from '../device/record.ts';
import type { DevshError } from '../errors.ts';
import type { isEqual } from '../device/equality.ts';
import { isSecretField } from '../device/sensitive-fields.ts';
import {
  changesSince,
  type Compared,
  comparisonFor,
  differencesOf,
  differencesOfNew,
  isAsBefore,
  foldedText,
  isRespelled,
} from './compare.ts';
import {
  findRecord,
  type OtherRecords,
  otherRecordsOf,
  pairRecords,
  sameKey,
  whose,
  withOtherRecords,
} from './pairing.ts';
import { withNotRestored } from './data-loss.ts';
import {
  unreadFields,
  unreadNote,
  withoutUnread,
  vanishedFields,
  type Unread,
} from './unread-fields.ts';
import { noteOf, type StepEnd } from './verdict.ts';
import type { Step } from './step.ts';
import type { WriteResponse } from '../device/device.ts';

/** The outcome of the request: a 2xx response, a refusal, or no usable response. */
export type RequestOutcome =
  | ({ readonly kind: 'accepted' } & Partial<WriteResponse>)
  /** `isRepeated`: an earlier request of the step got no answer that counts. */
  | {
      readonly kind: 'refused';
      readonly error: DevshError;
      readonly isRepeated?: boolean | undefined;
    }
  | { readonly kind: 'lost'; readonly error: DevshError };

/** A device that says no (4xx, or an error as the body) has not carried out the step. A 5xx says nothing. */
export function isRefusal(outcome: RequestOutcome): boolean {
  if (outcome.kind !== 'refused' || outcome.isRepeated === true) return false;
  const { error } = outcome;
  return !(error instanceof ProtocolError) && !(error instanceof ExpiredSessionError);
}

export interface Readings {
  readonly before: readonly DeviceRecord[];
  readonly after: readonly DeviceRecord[];
  /** The record at its own path, or that it is gone there; set only if the list left that open. */
  readonly own?: { readonly record?: DeviceRecord } | undefined;
}

interface Case extends Readings {
  readonly profile: Profile;
  readonly step: Step;
  readonly outcome: RequestOutcome;
}

/** The verdict on the step's own record, and what became of the other records. */
interface OwnEnd {
  readonly own: StepEnd;
  readonly otherRecords: OtherRecords;
}

/**
 * The verdict on a step, from the records before and after it, including the other records. The outcome of
 * the request only tells `no effect` from `failed`. Fields that are no longer shown count as unknown:
 * neither changed nor unchanged. Pure.
 */
export function judge(
  profile: Profile,
  step: Step,
  outcome: RequestOutcome,
  readings: Readings,
): StepEnd {
  const { before, after, own } = readings;
  const target = step.before && findRecord(profile, step, before, step.before);
  const isDelete = step.action === 'delete';
  const others = isDelete ? before.filter((record) => record !== target) : before;
  const vanished = vanishedFields(profile, step, others, after);
  const shown = (record: DeviceRecord): DeviceRecord => withoutFields(record, vanished);
  const listed = step.before && findRecord(profile, step, after, step.before);
  const rest = own === undefined ? after : after.filter((record) => record !== listed);
  const shownCase: Case = {
    profile,
    step: {
      ...step,
      before: step.before && shown(step.before),
      after: step.after && shown(step.after),
      asked: shown(step.asked),
    },
    outcome,
    before: vanished.length === 0 ? before : before.map(shown),
    after: own?.record ? [...rest, own.record] : rest,
    own,
  };
  const { own: ownEnd, otherRecords } = JUDGE[step.action](shownCase);
  const settled =
    outcome.kind === 'refused' && isRefusal(outcome) ? asRefused(ownEnd, outcome) : ownEnd;
  const end = withOtherRecords(shownCase.step, settled, otherRecords);
  const notes = [
    ...(after.length === 0 && others.length > 0 ? ['the list is empty now'] : []),
    ...(vanished.length > 0 ? [`no longer shown: ${vanished.join(', ')}`] : []),
  ];
  const shownAt =
    own && end.verdict === 'done' ? 'its own path shows it, but the list does not' : undefined;
  const whole = withReserve({ ...end, note: noteOf(end.note, shownAt) }, notes);
  return withNotRestored(profile, step, withReason(outcome, whole));
}

/** What a refused request may have changed is never taken for its effect: somebody else may have written it. */
function asRefused(
  { verdict, ...end }: StepEnd,
  { error }: { readonly error: DevshError },
): StepEnd {
  const now = verdict === 'done' ? 'it is as asked now' : 'the record is not as before';
  const note = verdict === 'failed' ? end.note : `refused, and ${now}; devsh cannot tell by whom`;
  return { ...end, verdict: 'failed', error, note };
}

/** Whatever else differs, what the device said of it stands beside. */
function withReason(outcome: RequestOutcome, end: StepEnd): StepEnd {
  const { verdict, note = '', error } = end;
  if (verdict !== 'differs' || outcome.kind === 'lost') return end;
  if (outcome.kind === 'accepted') {
    const objection = objectionText(outcome);
    return objection === undefined || note.includes(objection)
      ? end
      : { ...end, note: noteOf(objection, end.note) };
  }
  return note.includes(outcome.error.message) ? end : { ...end, error: error ?? outcome.error };
}

/** Adds notes; with any of them `done` becomes `differs`. */
function withReserve(end: StepEnd, notes: readonly string[]): StepEnd {
  if (notes.length === 0) return end;
  return {
    ...end,
    verdict: end.verdict === 'done' ? 'differs' : end.verdict,
    note: noteOf(end.note, ...notes),
  };
}

function judgeAdd(about: Case): OwnEnd {
  const { profile, step, before, after } = about;
  const expected = step.after ?? {};
  const withKey = new Set(sameKey(step, after, expected));
  const others = after.filter((record) => !withKey.has(record));
  const pairing = pairRecords(profile, step, before, others);
  const folded = foldedText(expected[step.keyField]);
  const responseId = idInResponse(about);
  const held =
    [...withKey][0] ??
    pairing.added.find((record) => foldedText(record[step.keyField]) === folded) ??
    pairing.added.find(
      (record) => responseId !== undefined && idOf(profile, record) === responseId,
    );
  const otherRecords = otherRecordsOf(profile, step, before, { ...pairing, own: held });
  if (held === undefined) return { own: judgeMissing(about, responseId), otherRecords };
  const own = judgeAdded(about, held, withKey.size);
  return { own, otherRecords };
}

/** @param count how many records have the key of the new one */
function judgeAdded(about: Case, held: DeviceRecord, count: number): StepEnd {
  const { profile, step, outcome, before, after } = about;
  const isConfirmed = outcome.kind === 'accepted' && outcome.objection === undefined;
  const marked = isConfirmed ? {} : { isByReading: true as const };
  const expected = step.after ?? {};
  const compared = Object.fromEntries(
    Object.entries(expected).filter(([field]) =>
      [step.asked, step.effects.filled ?? {}].some((sent) => Object.hasOwn(sent, field)),
    ),
  );
  const unread = unreadFields(profile, step, [...before, ...after], held);
  const missed =
    step.purpose?.kind === 'restore'
      ? [...differencesOf(compared, held), ...gainedBy(profile, step, held)]
      : differencesOfNew(compared, held, sameFor(about));
  const differences = withoutUnread(unread, missed);
  if (count <= 1 && differences.length === 0) {
    return { ...judgeAsAsked(about, held, unread, true), ...marked };
  }
  if (count <= 1 && isUnreported(unread, differences) && outcome.kind === 'accepted') {
    return { ...judgeUndocumented(about, held, unread), ...marked };
  }
  const note =
    count > 1
      ? `the device now has ${count} records with this ${step.keyField}`
      : spellingNote(differences);
  return { verdict: 'differs', record: held, differences, note, ...marked };
}

/** How the asked values are compared with those of the device. */
function sameFor({ profile, step }: Case): typeof isEqual {
  const facts = step.action === 'add' ? profile.create : updateFacts(profile, step.resource);
  return comparisonFor(profile, step.resource, facts, step.purpose?.kind === 'restore');
}

/** Fields that a restored record has and did not have before. What a summary leaves out is not known. */
function gainedBy(
  profile: Profile,
  { asked, effects: { filled = {}, lost = {} }, resource }: Step,
  held: DeviceRecord,
): Compared[] {
  if (isSummary(profile, resource)) return [];
  const own = [...profile.idFields, ...managedFields(profile, resource)];
  return Object.entries(held).flatMap(([field, value]) =>
    [asked, filled, lost].some((known) => Object.hasOwn(known, field)) ||
    own.includes(field) ||
    fieldFacts(profile, resource, field).readOnly === true ||
    isTimeStamp(value) ||
    isSecretField(field)
      ? []
      : [{ field, sent: undefined, held: value }],
  );
}

/** A new record that is not in the list: if the response contained it, it may exist anyway. */
function judgeMissing(about: Case, id: string | undefined): StepEnd {
  const isOpen = id !== undefined && about.own === undefined;
  if (!isOpen || objectionText(about.outcome) !== undefined) return notApplied(about);
  const note = `the device responded with the record (id ${id}), but its list does not show it`;
  return { verdict: 'unknown', note };
}

function idInResponse({ profile, outcome }: Case): string | undefined {
  if (outcome.kind !== 'accepted' || outcome.record === undefined) return undefined;
  return hasPositionalIds(profile) ? undefined : idOf(profile, outcome.record);
}

function spellingNote(differences: readonly Compared[]): string | undefined {
  if (!isRespelled(differences)) return undefined;
  return 'the device accepted it and stored it in its own spelling';
}

/** Finds the record of a `set` or `delete` after the request, and pairs all others. */
function followTarget({ profile, step, before, after }: Case): {
  held: DeviceRecord | undefined;
  otherRecords: OtherRecords;
} {
  const image = step.before ?? {};
  const expected = { ...image, ...step.after };
  const target = findRecord(profile, step, before, image);
  const others = before.filter((record) => record !== target);
  // The record with the id and the new key is the one, even if another record now has the old key.
  const { keyField } = step;
  const keys = [expected[keyField] ?? null];
  const renamed =
    step.action === 'set'
      ? whose({ profile, keyField, records: after }, idOf(profile, image), keys).own
      : undefined;
  if (renamed !== undefined) {
    const rest = after.filter((record) => record !== renamed);
    const pairing = pairRecords(profile, step, others, rest);
    return { held: renamed, otherRecords: otherRecordsOf(profile, step, others, pairing) };
  }
  const pairing = pairRecords(profile, step, before, after);
  const match = target && pairing.matches.get(target);
  const held =
    match ?? (step.action === 'set' ? sameKey(step, pairing.added, expected)[0] : undefined);
  return { held, otherRecords: otherRecordsOf(profile, step, others, { ...pairing, own: held }) };
}

const GONE =
  'the record has disappeared since the request: neither the list nor its own path shows it';

function judgeSet(about: Case): OwnEnd {
  const { held, otherRecords } = followTarget(about);
  if (held !== undefined) return { own: judgeFound(about, held), otherRecords };
  const note = about.own ? GONE : 'the list no longer shows it';
  return { own: { verdict: 'differs', note }, otherRecords };
}

function judgeFound(about: Case, held: DeviceRecord): StepEnd {
  const { profile, step, outcome } = about;
  const before = step.before ?? {};
  const unread = unreadFields(profile, step, [...about.before, ...about.after], held);
  const isSame = sameFor(about);
  const missed = [
    ...withoutUnread(unread, differencesOf(step.asked, held, isSame)),
    ...(step.removes ?? [])
      .filter((field) => Object.hasOwn(held, field))
      .map((field) => ({ field, sent: undefined, held: held[field] })),
  ];
  const sideEffects = changesUnasked(about, held, unread.hashes);
  const added = about.after.length - about.before.length;
  const withKeyCount = sameKey(step, about.after, step.after ?? {}).length;
  if (withKeyCount > 1 && added > 0) {
    const note = 'the device added a second record instead of changing the first';
    return { verdict: 'differs', record: held, differences: missed, note };
  }
  if (missed.length === 0 && sideEffects.length === 0) {
    const isShown = requestedFields(step, isSame).some((field) => !unread.hidden.includes(field));
    return judgeAsAsked(about, held, unread, isShown);
  }
  const isUntouched =
    unread.rehashed.length === 0 &&
    [...Object.keys(step.asked), ...(step.removes ?? [])].every(
      (field) =>
        unread.hidden.includes(field) || isAsBefore(valueAt(before, field), valueAt(held, field)),
    );
  if (sideEffects.length === 0 && isUnreported(unread, missed)) {
    if (isUntouched || outcome.kind === 'accepted') return judgeUndocumented(about, held, unread);
  }
  // What the device only spells in its own way is an effect, also if it was so before.
  const isOwnSpelling = spellingNote(missed) !== undefined;
  if (isUntouched && sideEffects.length === 0 && !isOwnSpelling) return notApplied(about, held);
  const changed = sideEffects.map(({ field }) => field).join(', ');
  return {
    verdict: 'differs',
    record: held,
    differences: [...missed, ...sideEffects.map(({ sent, ...one }) => ({ ...one, was: sent }))],
    note: noteOf(
      spellingNote([...missed, ...sideEffects]),
      changed === '' ? undefined : `changed without a request: ${changed}`,
    ),
  };
}

/** Changes of a record beyond the request; `sent` is the value before. */
function changesUnasked(
  { profile, step, own }: Case,
  held: DeviceRecord,
  hashes: readonly string[] = [],
): readonly Compared[] {
  const { before = {}, asked, removes = [], resource } = step;
  const expected = [...Object.keys(asked), ...removes];
  const ignored = [...ignoredFields(profile, resource), ...hashes, ...expected];
  // A record at its own path may show more than its list did before.
  const more = own === undefined && !isSummary(profile, resource) ? [] : Object.keys(held);
  const isNew = (field: string): boolean => !Object.hasOwn(before, field);
  return changesSince(before, held, [...ignored, ...more.filter(isNew)]).filter(
    ({ sent }) => !isTimeStamp(sent),
  );
}

function judgeDelete(about: Case): OwnEnd {
  const { outcome } = about;
  const { held, otherRecords } = followTarget(about);
  if (held === undefined) {
    return { own: { verdict: 'done', note: successNote(outcome) }, otherRecords };
  }
  const changed = outcome.kind === 'refused' ? [] : changesUnasked(about, held);
  if (changed.length === 0) return { own: notApplied(about, held), otherRecords };
  const own: StepEnd = {
    verdict: 'differs',
    record: held,
    differences: changed.map(({ sent, ...one }) => ({ ...one, was: sent })),
    note: 'the record still exists, and has changed',
  };
  return { own, otherRecords };
}

const JUDGE = { add: judgeAdd, set: judgeSet, delete: judgeDelete };

/** Judges a step without effect: a 2xx response was false, a refusal is final, a lost request took no effect. */
function notApplied({ outcome, own }: Case, record?: DeviceRecord): StepEnd {
  switch (outcome.kind) {
    case 'accepted': {
      const observation = own ? 'nothing changed' : 'read-back shows no change';
      const note = objectionText(outcome) ?? `the device accepted it, but ${observation} so far`;
      return { verdict: 'no effect', record, note };
    }
    case 'refused':
      return { verdict: 'failed', record, error: outcome.error };
    case 'lost': {
      const { error } = outcome;
      return {
        verdict: 'failed',
        record,
        error: error instanceof UnreachableError ? error.settled() : error,
        note: `${lostText(error)}; read-back shows no change so far`,
      };
    }
  }
}

function objectionText(outcome: RequestOutcome): string | undefined {
  const objection = outcome.kind === 'accepted' ? outcome.objection : undefined;
  return objection && `the device responded: ${objection}`;
}

/**
 * All that can be read back is as requested. Of the rest, only the response tells.
 *
 * @param isShown whether read-back shows any of the change: then the device took the request
 */
function judgeAsAsked(
  { outcome }: Case,
  record: DeviceRecord,
  unread: Unread,
  isShown: boolean,
): StepEnd {
  const done: StepEnd = { verdict: 'done', record, note: successNote(outcome, unread) };
  if (unread.hidden.length === 0) return done;
  const unreadText = unreadNote(unread);
  switch (outcome.kind) {
    case 'accepted': {
      const objection = objectionText(outcome);
      if (objection === undefined) return done;
      const verdict = isShown ? 'differs' : 'unknown';
      return { verdict, record, note: noteOf(objection, unreadText) };
    }
    case 'refused': {
      const { error } = outcome;
      if (!isShown) return { verdict: 'failed', record, error };
      const note = noteOf('read-back shows a part of it', unreadText);
      return { verdict: 'differs', record, error, note };
    }
    case 'lost': {
      if (isShown) return done;
      const note = `the response was lost, and ${unreadText ?? ''}`;
      return { verdict: 'unknown', record, error: outcome.error, note };
    }
  }
}

/** Whether nothing is missing but undocumented fields that no record shows. */
function isUnreported({ unreported }: Unread, missed: readonly Compared[]): boolean {
  return missed.every(({ field }) => unreported.includes(field));
}

/** Undocumented fields that no record shows: not even a 2xx response proves that they were stored. */
function judgeUndocumented(about: Case, record: DeviceRecord, { unreported }: Unread): StepEnd {
  const { outcome } = about;
  if (outcome.kind === 'refused' || objectionText(outcome) !== undefined) {
    return notApplied(about, record);
  }
  return {
    verdict: 'unknown',
    record,
    error: outcome.kind === 'lost' ? outcome.error : undefined,
    note: `${unreported.join(', ')} cannot be read back: unknown whether the device has stored it`,
  };
}

/** For a step that took effect: the device did not confirm it, or not all fields can be read back. */
function successNote(outcome: RequestOutcome, unread?: Unread): string | undefined {
  const unreadText = unread && unreadNote(unread);
  switch (outcome.kind) {
    case 'accepted':
      return unreadText;
    case 'refused':
      return noteOf(
        `the device refused it (${outcome.error.message}), but read-back shows it`,
        unreadText,
      );
    case 'lost':
      return noteOf(`${lostText(outcome.error)}; read-back shows it`, unreadText);
  }
}

function lostText(error: DevshError): string {
  return error instanceof ProtocolError ? 'the response was unusable' : 'the response was lost';
}

/** The fields in which the request differs from the record before. */
function requestedFields(step: Step, isSame: typeof isEqual): string[] {
  const { before = {}, asked, removes = [] } = step;
  return [...differencesOf(asked, before, isSame).map(({ field }) => field), ...removes];
}
