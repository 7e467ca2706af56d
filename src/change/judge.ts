import { ProtocolError, UnreachableError } from '../device/errors.ts';
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
  type Listed,
  type OtherRecords,
  otherRecordsOf,
  pairRecords,
  whose,
} from './pairing.ts';
import { withNotRestored } from './data-loss.ts';
import {
  unreadFields,
  unreadNotes,
  withoutUnread,
  vanishedFields,
  type Unread,
} from './unread-fields.ts';
import { type Difference, type StepEnd, withNotes } from './verdict.ts';
import { isRefusal, type Refusal, type RequestOutcome } from './send.ts';
import type { Step } from './step.ts';
import type { Note } from '../output/sentences.ts';

interface Readings {
  readonly before: readonly DeviceRecord[];
  readonly after: readonly DeviceRecord[];
  /** The record in the response. */
  readonly answer?: DeviceRecord | undefined;
  /** The record at its own path, or that it is gone there; set only if the list left that open. */
  readonly own?: { readonly record?: DeviceRecord } | undefined;
}

/** What reading shows of a step, whatever the device said. */
export interface Evidence {
  readonly profile: Profile;
  /** The step, without the fields that no record shows any more: their values are unknown. */
  readonly step: Step;
  readonly held: DeviceRecord | undefined;
  /** The asked fields that are not as asked. */
  readonly missed: readonly Compared[];
  /** What else has changed in the record; `sent` is the value before. */
  readonly sideEffects: readonly Compared[];
  readonly unread: Unread;
  /** All fields that records show are as asked. */
  readonly isAsAsked: boolean;
  /** It shows a part of the change: the device took the request. */
  readonly isShown: boolean;
  readonly isUntouched: boolean;
  /** How many records have the key that the step wants to have once. */
  readonly sameKey: number;
  readonly others: OtherRecords;
  /** Fields that no record shows any more. */
  readonly vanished: readonly string[];
  readonly isOwnPathRead: boolean;
  /** The id in the response, if no reading shows the record. */
  readonly claimedId: string | undefined;
}

const UNREAD: Unread = { hidden: [], rehashed: [], hashes: [], unreported: [] };

/** Compares the readings before and after a request. Pure. */
export function evidenceOf(profile: Profile, planned: Step, readings: Readings): Evidence {
  const { before, answer, own } = readings;
  const { action, resource, keyField, before: image } = planned;
  const found = (records: readonly DeviceRecord[]): DeviceRecord | undefined =>
    image && findRecord(profile, planned, records, image);
  const target = found(before);
  const rest = before.filter((record) => record !== target);
  const known = action === 'delete' ? rest : before;
  const vanished = vanishedFields(profile, planned, known, readings.after);
  const shown = (record: DeviceRecord): DeviceRecord => withoutFields(record, vanished);
  const step: Step = {
    ...planned,
    before: image && shown(image),
    after: planned.after && shown(planned.after),
    asked: shown(planned.asked),
  };
  const listed = own && found(readings.after);
  const unlisted = own?.record ? [own.record] : [];
  const after = own
    ? [...readings.after.filter((record) => record !== listed), ...unlisted]
    : readings.after;
  const list = { profile, resource, keyField, records: after };
  const others = vanished.length === 0 ? rest : rest.map(shown);
  const isThere = action === 'add' || target !== undefined;
  const id = answer && !hasPositionalIds(profile) ? idOf(profile, answer) : undefined;
  const { held, others: otherRecords } = follow(step, list, { others, isThere, id });
  const isGrown = action === 'add' || after.length > before.length;
  const key = { ...step.before, ...step.after }[keyField] ?? null;
  const isDelete = action === 'delete';
  const isMore = own !== undefined || isSummary(profile, resource);
  return {
    ...{ profile, step, held, vanished, others: otherRecords, isOwnPathRead: own !== undefined },
    ...(held === undefined
      ? {
          ...{ missed: [], sideEffects: [], unread: UNREAD },
          ...{ isAsAsked: isDelete, isShown: isDelete, isUntouched: action === 'add' },
        }
      : compared(profile, step, held, { records: [...before, ...after], isMore })),
    sameKey: isGrown && !isDelete ? whose(list, { keys: [key] }).byKey.length : 0,
    claimedId: held === undefined ? id : undefined,
  };
}

interface Followed {
  readonly others: readonly DeviceRecord[];
  /** The record existed before the step, or the step adds it. */
  readonly isThere: boolean;
  readonly id: string | undefined;
}

/** Finds the record of a step after its request, and what became of the others. A renamed record has its new name. */
function follow(
  step: Step,
  { records: after, ...about }: Listed,
  { others, isThere, id }: Followed,
): Pick<Evidence, 'held' | 'others'> {
  const { action, keyField, before } = step;
  const { profile } = about;
  const expected: DeviceRecord = { ...before, ...step.after };
  const pairing = pairRecords(about, isThere ? [...others, expected] : others, after);
  const key = foldedText(expected[keyField]);
  const isNew = (record: DeviceRecord): boolean => foldedText(record[keyField]) === key;
  const isAnswer = (record: DeviceRecord): boolean =>
    id !== undefined && idOf(profile, record) === id;
  const { matches, added } = pairing;
  const held =
    matches.get(expected) ??
    (before && findRecord(profile, step, added, before)) ??
    (action === 'delete' ? undefined : (added.find(isNew) ?? added.find(isAnswer)));
  return { held, others: otherRecordsOf(profile, step, others, { ...pairing, own: held }) };
}

/** @param isMore the record may show more fields than the list did before */
function compared(
  profile: Profile,
  step: Step,
  held: DeviceRecord,
  { records, isMore }: { readonly records: readonly DeviceRecord[]; readonly isMore: boolean },
) {
  const { before = {}, after = {}, action, asked, effects, purpose, resource, removes = [] } = step;
  const isAdd = action === 'add';
  const isRestored = purpose?.kind === 'restore';
  const unread = unreadFields(profile, step, records, held);
  const facts = isAdd ? profile.create : updateFacts(profile, resource);
  const isSame = comparisonFor(profile, resource, facts, isRestored);
  const sent = [...Object.keys(asked), ...Object.keys(effects.filled ?? {})];
  const differing = isAdd
    ? (isRestored ? differencesOf : differencesOfNew)(onlyFields(after, sent), held, isSame)
    : differencesOf(asked, held, isSame);
  const gained = isAdd && isRestored ? gainedBy(profile, step, held) : [];
  const kept = removes.filter((field) => Object.hasOwn(held, field));
  const missed = [
    ...withoutUnread(unread, [...differing, ...gained]),
    ...kept.map((field) => ({ field, sent: undefined, held: held[field] })),
  ];
  const expected = [...ignoredFields(profile, resource), ...unread.hashes];
  const more = isMore ? Object.keys(held).filter((field) => !Object.hasOwn(before, field)) : [];
  const wanted = [...Object.keys(asked), ...removes];
  const sideEffects = isAdd
    ? []
    : changesSince(before, held, [...expected, ...wanted, ...more]).filter(
        (one) => !isTimeStamp(one.sent),
      );
  const { hidden, unreported, rehashed } = unread;
  const isOpen = missed.every(({ field }) => unreported.includes(field));
  const isStill = (field: string): boolean =>
    hidden.includes(field) || isAsBefore(valueAt(before, field), valueAt(held, field));
  const isIgnored =
    action === 'delete' ||
    // A value that the device spells in its own way is an effect, even if it was the same before.
    (!isAdd && !isOpen && rehashed.length === 0 && !isRespelled(missed) && wanted.every(isStill));
  const requested = [...differencesOf(asked, before, isSame).map(({ field }) => field), ...removes];
  return {
    ...{ missed, sideEffects, unread },
    isAsAsked: action !== 'delete' && isOpen && sideEffects.length === 0,
    isShown: requested.some((field) => ![...hidden, ...unreported].includes(field)),
    isUntouched: isIgnored && sideEffects.length === 0,
  };
}

/** Fields that a restored record has and did not have before; none where the list is a summary, which cannot tell. */
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

/** Whether reading proves that nothing has changed, whatever the response said. */
export function isAllAsBefore({ isUntouched, others }: Evidence): boolean {
  const { gone, changed, added } = others;
  return isUntouched && gone.length + changed.length + added.length === 0;
}

/** The verdict on a step. Readings decide; the outcome of the request only tells `no effect` from `failed`. Pure. */
export function judge(seen: Evidence, outcome: RequestOutcome): StepEnd {
  const { profile, step, held } = seen;
  const own = isRefusal(outcome) ? refusedEnd(seen, outcome) : ownEnd(seen, outcome);
  const isConfirmed = outcome.kind === 'accepted' && outcome.objection === undefined;
  const isByReading = step.action === 'add' && held !== undefined && !isConfirmed;
  return withNotRestored(
    profile,
    step,
    withOthers(seen, isByReading ? { ...own, isByReading } : own),
  );
}

/** A change after a refused request never counts as its effect: somebody else may have made it. */
function refusedEnd(seen: Evidence, { error }: Refusal): StepEnd {
  const { held: record, isUntouched, isAsAsked, isShown, unread } = seen;
  const end = { verdict: 'failed', record, error } as const;
  if (isUntouched || (isAsAsked && !isShown)) return end;
  const is = isAsAsked && unread.hidden.length === 0 ? 'refused-as-asked' : 'refused-changed';
  return { ...end, differences: differencesIn(seen), notes: [{ code: 'seen', is }] };
}

function ownEnd(seen: Evidence, outcome: RequestOutcome): StepEnd {
  const { step, held: record, missed, sideEffects, sameKey } = seen;
  const { action, keyField } = step;
  const differs = { verdict: 'differs', record, differences: differencesIn(seen) } as const;
  if (sameKey > 1) {
    const several = { code: 'seen', is: 'several', count: sameKey, field: keyField } as const;
    return { ...differs, notes: [action === 'add' ? several : { code: 'seen', is: 'second' }] };
  }
  if (seen.isUntouched || (action === 'delete' && record && outcome.kind === 'refused')) {
    return notApplied(seen, outcome);
  }
  if (seen.isAsAsked) return asFarAsShown(seen, outcome);
  if (record === undefined) {
    const is = seen.isOwnPathRead ? 'gone' : 'unlisted';
    return { verdict: 'differs', notes: [{ code: 'seen', is }] };
  }
  const fields = sideEffects.map(({ field }) => field).join(', ');
  return withNotes(
    { ...differs, error: outcome.kind === 'refused' ? outcome.error : undefined },
    objectionIn(outcome),
    action === 'delete' ? { code: 'seen', is: 'still-there' } : undefined,
    isRespelled([...missed, ...sideEffects]) ? { code: 'seen', is: 'respelled' } : undefined,
    fields === '' ? undefined : { code: 'seen', is: 'unasked', fields },
  );
}

function differencesIn({ missed, sideEffects }: Evidence): Difference[] {
  return [...missed, ...sideEffects.map(({ sent, ...one }) => ({ ...one, was: sent }))];
}

/** Judges a step without effect: a 2xx response was false, a refusal is final, a lost request took no effect. */
function notApplied(seen: Evidence, outcome: RequestOutcome): StepEnd {
  const { held: record, claimedId, isOwnPathRead } = seen;
  if (outcome.kind === 'accepted') {
    const objection = objectionIn(outcome);
    if (claimedId !== undefined && !isOwnPathRead && objection === undefined) {
      return { verdict: 'unknown', notes: [{ code: 'seen', is: 'list-lacks', id: claimedId }] };
    }
    const is = isOwnPathRead ? 'own-no-change' : 'no-change';
    const silent = [{ code: 'seen', is: 'accepted' } as const, { code: 'seen', is } as const];
    return { record, verdict: 'no effect', notes: objection === undefined ? silent : [objection] };
  }
  const { error } = outcome;
  if (outcome.kind === 'refused') return { record, verdict: 'failed', error };
  const settled = error instanceof UnreachableError ? error.settled() : error;
  const notes = [lossIn(error), { code: 'seen', is: 'no-change' } as const];
  return { record, verdict: 'failed', error: settled, notes };
}

function objectionIn(outcome: RequestOutcome): Note | undefined {
  const text = outcome.kind === 'accepted' ? outcome.objection : undefined;
  return text === undefined ? undefined : { code: 'seen', is: 'objection', text };
}

/**
 * Everything that can be read back is as requested. For a field that cannot be read back, only the response tells; for a
 * field that nobody documents, not even the response does.
 */
function asFarAsShown(seen: Evidence, outcome: RequestOutcome): StepEnd {
  const { held: record, unread, missed, isShown, isOwnPathRead } = seen;
  const objection = objectionIn(outcome);
  const isTaken =
    outcome.kind === 'accepted' ? objection === undefined : isShown && outcome.kind === 'lost';
  const fields = missed.map(({ field }) => field).join(', ');
  if (fields === '' && (unread.hidden.length === 0 || isTaken)) {
    return withNotes(
      { verdict: 'done', record },
      ...unconfirmed(outcome),
      ...unreadNotes(unread),
      isOwnPathRead ? { code: 'seen', is: 'own-path-only' } : undefined,
    );
  }
  const { error } = outcome.kind === 'accepted' ? {} : outcome;
  const isPart = isShown && fields === '';
  return withNotes(
    { verdict: isPart ? 'differs' : 'unknown', record, error },
    objection,
    outcome.kind === 'lost' ? lossIn(outcome.error) : undefined,
    ...unreadNotes(unread),
    fields === '' ? undefined : { code: 'seen', is: 'unknown', fields },
  );
}

/** For a step that took effect although the device did not confirm it. */
function unconfirmed(outcome: RequestOutcome): readonly Note[] {
  if (outcome.kind === 'accepted') return [];
  const { kind, error } = outcome;
  const refused = { code: 'seen', is: 'refused', reason: error.message } as const;
  return [kind === 'lost' ? lossIn(error) : refused, { code: 'seen', is: 'shown' }];
}

function lossIn(error: DevshError): Note {
  return { code: 'seen', is: error instanceof ProtocolError ? 'unusable' : 'lost' };
}

/**
 * A step is never `done` if other records were removed or changed. A failed step stays `failed` if others were only
 * changed: that may be another user's work. An added record may be the record of the step under another name.
 */
function withOthers({ step, others, vanished }: Evidence, own: StepEnd): StepEnd {
  const { gone, lost, changed, added } = others;
  const isStill = own.verdict === 'failed' || own.verdict === 'unknown';
  const isDoubtful =
    changed.length + vanished.length > 0 ||
    (added.length > 0 && own.verdict === 'no effect' && step.action !== 'delete');
  const naming = (
    is: 'others-gone' | 'others-changed' | 'vanished' | 'others-added',
    names: readonly string[],
  ): Note | undefined => (names.length > 0 ? { code: 'seen', is, names } : undefined);
  const verdict = gone.length > 0 || (isDoubtful && !isStill) ? 'differs' : own.verdict;
  return withNotes(
    { ...own, verdict, ...(lost.length > 0 && { gone: lost }) },
    naming('others-gone', gone),
    naming('others-changed', changed),
    naming('vanished', vanished),
    naming('others-added', added),
  );
}
