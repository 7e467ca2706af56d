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
import {
  type DeviceRecord,
  isTimeStamp,
  onlyFields,
  valueAt,
  withoutFields,
} from '../device/record.ts';
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
import { type Difference, noteOf, type StepEnd } from './verdict.ts';
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

/** The record of a step after its request, and what became of the others. */
interface Found {
  readonly held: DeviceRecord | undefined;
  readonly otherRecords: OtherRecords;
}

/** The verdict on the step's own record. */
interface OwnEnd extends StepEnd {
  /** It is as it was, whatever the response. */
  readonly isUntouched?: boolean;
}

interface Judged extends StepEnd {
  /** Reading back proves that nothing has changed, whatever the response. */
  readonly isAsBefore: boolean;
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
): Judged {
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
  const { held, otherRecords } = followRecord(shownCase);
  const { isUntouched = false, ...ownEnd } = judgeOwn(shownCase, held);
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
  const { gone, changed, added } = otherRecords;
  return {
    ...withNotRestored(profile, step, withReason(outcome, whole)),
    isAsBefore: isUntouched && [gone, changed, added].every((names) => names.length === 0),
  };
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

/** Finds the record of the step after the request, and pairs all others. */
function followRecord({ profile, step, before, after, outcome }: Case): Found {
  const { action, keyField } = step;
  const expected = { ...step.before, ...step.after };
  const target = step.before && findRecord(profile, step, before, step.before);
  const named = action === 'add' ? sameKey(step, after, expected) : [];
  // The record with the id and the new key is the one, even if another record now has the old key.
  const renamed =
    action === 'set'
      ? whose({ profile, keyField, records: after }, idOf(profile, expected), [
          expected[keyField] ?? null,
        ]).own
      : undefined;
  const certain = new Set(renamed === undefined ? named : [renamed]);
  const others = before.filter((record) => record !== target);
  const rest = after.filter((record) => !certain.has(record));
  const pairing = pairRecords(profile, step, renamed === undefined ? before : others, rest);
  const key = foldedText(expected[keyField]);
  const id = idInResponse(profile, outcome);
  const added =
    action === 'delete'
      ? undefined
      : (pairing.added.find((record) => foldedText(record[keyField]) === key) ??
        pairing.added.find((record) => id !== undefined && idOf(profile, record) === id));
  const held = [...certain][0] ?? (target && pairing.matches.get(target)) ?? added;
  return { held, otherRecords: otherRecordsOf(profile, step, others, { ...pairing, own: held }) };
}

function judgeOwn(about: Case, held: DeviceRecord | undefined): OwnEnd {
  const { step, own } = about;
  if (step.action === 'delete') return judgeDelete(about, held);
  if (held !== undefined) return judgeHeld(about, held);
  if (step.action === 'add') return judgeMissing(about);
  const note = own ? GONE : 'the list no longer shows it';
  return { verdict: 'differs', note };
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
function judgeMissing(about: Case): OwnEnd {
  const id = idInResponse(about.profile, about.outcome);
  const isOpen = id !== undefined && about.own === undefined;
  if (!isOpen || objectionText(about.outcome) !== undefined) return notApplied(about);
  const note = `the device responded with the record (id ${id}), but its list does not show it`;
  return { verdict: 'unknown', note };
}

function idInResponse(profile: Profile, outcome: RequestOutcome): string | undefined {
  if (outcome.kind !== 'accepted' || outcome.record === undefined) return undefined;
  return hasPositionalIds(profile) ? undefined : idOf(profile, outcome.record);
}

function spellingNote(differences: readonly Compared[]): string | undefined {
  if (!isRespelled(differences)) return undefined;
  return 'the device accepted it and stored it in its own spelling';
}

const GONE =
  'the record has disappeared since the request: neither the list nor its own path shows it';

function judgeHeld(about: Case, held: DeviceRecord): OwnEnd {
  const { profile, step, outcome } = about;
  const { before = {}, after = {}, action, asked, effects, purpose, removes = [] } = step;
  const isAdd = action === 'add';
  const isRestored = purpose?.kind === 'restore';
  const isConfirmed = outcome.kind === 'accepted' && outcome.objection === undefined;
  const marked = (end: OwnEnd): OwnEnd =>
    isAdd && !isConfirmed ? { ...end, isByReading: true } : end;
  const unread = unreadFields(profile, step, [...about.before, ...about.after], held);
  const isSame = sameFor(about);
  const sent = [...Object.keys(asked), ...Object.keys(effects.filled ?? {})];
  const missed = isAdd
    ? (isRestored ? differencesOf : differencesOfNew)(onlyFields(after, sent), held, isSame)
    : differencesOf(asked, held, isSame);
  const gained = isAdd && isRestored ? gainedBy(profile, step, held) : [];
  const kept = removes.filter((field) => Object.hasOwn(held, field));
  const differences = [
    ...withoutUnread(unread, [...missed, ...gained]),
    ...kept.map((field) => ({ field, sent: undefined, held: held[field] })),
  ];
  const sideEffects = isAdd ? [] : changesUnasked(about, held, unread.hashes);
  const count = sameKey(step, about.after, after).length;
  if (count > 1 && (isAdd || about.after.length > about.before.length)) {
    const note = isAdd
      ? `the device now has ${count} records with this ${step.keyField}`
      : 'the device added a second record instead of changing the first';
    return marked({ verdict: 'differs', record: held, differences, note });
  }
  if (differences.length === 0 && sideEffects.length === 0) {
    const isShown = requestedFields(step, isSame).some((field) => !unread.hidden.includes(field));
    return marked(judgeAsAsked(about, held, unread, isShown));
  }
  const isUntouched =
    !isAdd &&
    unread.rehashed.length === 0 &&
    [...Object.keys(asked), ...removes].every(
      (field) =>
        unread.hidden.includes(field) || isAsBefore(valueAt(before, field), valueAt(held, field)),
    );
  if (sideEffects.length === 0 && isUnreported(unread, differences)) {
    if (isUntouched || outcome.kind === 'accepted') {
      return marked(judgeUndocumented(about, held, unread));
    }
  }
  // What the device only spells in its own way is an effect, also if it was so before.
  const isOwnSpelling = spellingNote(differences) !== undefined;
  if (isUntouched && sideEffects.length === 0 && !isOwnSpelling) return notApplied(about, held);
  const changed = sideEffects.map(({ field }) => field).join(', ');
  return marked({
    verdict: 'differs',
    record: held,
    differences: [...differences, ...wasBefore(sideEffects)],
    note: noteOf(
      spellingNote([...differences, ...sideEffects]),
      changed === '' ? undefined : `changed without a request: ${changed}`,
    ),
  });
}

function wasBefore(changes: readonly Compared[]): Difference[] {
  return changes.map(({ sent, ...one }) => ({ ...one, was: sent }));
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

function judgeDelete(about: Case, held: DeviceRecord | undefined): OwnEnd {
  const { outcome } = about;
  if (held === undefined) return { verdict: 'done', note: successNote(outcome) };
  const changed = changesUnasked(about, held);
  const isUntouched = changed.length === 0;
  if (isUntouched || outcome.kind === 'refused') return { ...notApplied(about, held), isUntouched };
  return {
    verdict: 'differs',
    record: held,
    differences: wasBefore(changed),
    note: 'the record still exists, and has changed',
  };
}

/** Judges a step without effect: a 2xx response was false, a refusal is final, a lost request took no effect. */
function notApplied({ outcome, own }: Case, record?: DeviceRecord): OwnEnd {
  const untouched = { record, isUntouched: true };
  if (outcome.kind === 'accepted') {
    const observation = own ? 'nothing changed' : 'read-back shows no change';
    const note = objectionText(outcome) ?? `the device accepted it, but ${observation} so far`;
    return { ...untouched, verdict: 'no effect', note };
  }
  const { error } = outcome;
  if (outcome.kind === 'refused') return { ...untouched, verdict: 'failed', error };
  const note = `${lostText(error)}; read-back shows no change so far`;
  const settled = error instanceof UnreachableError ? error.settled() : error;
  return { ...untouched, verdict: 'failed', error: settled, note };
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
  const objection = objectionText(outcome);
  const isTaken =
    outcome.kind === 'accepted' ? objection === undefined : isShown && outcome.kind === 'lost';
  if (unread.hidden.length === 0 || isTaken) return done;
  const unreadText = unreadNote(unread);
  if (outcome.kind === 'accepted') {
    const verdict = isShown ? 'differs' : 'unknown';
    return { verdict, record, note: noteOf(objection, unreadText) };
  }
  const { error } = outcome;
  if (outcome.kind === 'lost') {
    const note = `the response was lost, and ${unreadText ?? ''}`;
    return { verdict: 'unknown', record, error, note };
  }
  if (!isShown) return { verdict: 'failed', record, error };
  const note = noteOf('read-back shows a part of it', unreadText);
  return { verdict: 'differs', record, error, note };
}

/** Whether nothing is missing but undocumented fields that no record shows. */
function isUnreported({ unreported }: Unread, missed: readonly Compared[]): boolean {
  return missed.every(({ field }) => unreported.includes(field));
}

/** Undocumented fields that no record shows: not even a 2xx response proves that they were stored. */
function judgeUndocumented(about: Case, record: DeviceRecord, { unreported }: Unread): OwnEnd {
  const { outcome } = about;
  if (outcome.kind === 'refused' || objectionText(outcome) !== undefined) {
    return { ...notApplied(about, record), isUntouched: false };
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
  if (outcome.kind === 'accepted') return unreadText;
  const unconfirmed =
    outcome.kind === 'lost'
      ? `${lostText(outcome.error)}; read-back shows it`
      : `the device refused it (${outcome.error.message}), but read-back shows it`;
  return noteOf(unconfirmed, unreadText);
}

function lostText(error: DevshError): string {
  return error instanceof ProtocolError ? 'the response was unusable' : 'the response was lost';
}

/** The fields in which the request differs from the record before. */
function requestedFields(step: Step, isSame: typeof isEqual): string[] {
  const { before = {}, asked, removes = [] } = step;
  return [...differencesOf(asked, before, isSame).map(({ field }) => field), ...removes];
}
