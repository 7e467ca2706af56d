import {
  hasPositionalIds,
  idOf,
  ignoredFields,
  isSingle,
  type Profile,
} from '../device/profile.ts';
import { DeviceError } from '../device/errors.ts';
import { DriftError } from '../errors.ts';
import { type DeviceRecord, type DeviceRef, jsonText, valueAt } from '../device/record.ts';
import { quoteWord } from '../text/words.ts';
import { isStored } from '../device/equality.ts';
import { recordsWhere } from './change.ts';
import { changesSince } from './compare.ts';
import type { Step } from './step.ts';
import { type Consent, identityOf, isPersonal, keyOf, likenessOf, type Meant } from './identity.ts';
import { findRecord, type Listed, whose, type Whose } from './pairing.ts';
import { quotedKey, recordName } from './plan.ts';
import { type Note, textOf } from '../output/sentences.ts';
import type { Action } from './verdict.ts';

/** The gate asks: only the user knows whether this record is the one that is meant. Nothing was sent. */
export class DoubtError extends DeviceError {
  override readonly code = 'doubt';
  override readonly exitCode = 6;

  readonly reason: Note;
  readonly consent: Consent;

  constructor(device: DeviceRef, reason: Note, consent: Consent) {
    const mark = quoteWord(`${device.name}=${consent.key}`);
    super(device, { code: 'not-as-meant', is: 'asked', reason: textOf(reason), mark });
    this.reason = reason;
    this.consent = consent;
  }
}

export interface Intent {
  readonly action: Action;
  readonly resource: string;
  readonly meant: Meant;
  /** The fields that the intent writes: what it has written already contradicts nothing. */
  readonly writes: DeviceRecord;
}

/** All records of the resource, as just read. */
export interface Reading extends Omit<Listed, 'resource'> {
  readonly device: string;
}

export type Answer =
  | { readonly kind: 'go'; readonly record: DeviceRecord }
  /** The record is not there: an add may go, a delete has nothing to do. */
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'drift' | 'ask';
      readonly reason: Note;
      /** The record in doubt; absent if there is none. */
      readonly record?: DeviceRecord | undefined;
    };

/**
 * May this intent touch a record of this device now? The only place that decides whose record it is: by id,
 * natural key and person. Pure: it reads and writes nothing, and no answer is a promise about later readings.
 */
export function mayAct(intent: Intent, reading: Reading): Answer {
  const { meant } = intent;
  const answer = answerTo(intent, reading);
  if (meant.age === 'fresh') return answer;
  if (answer.kind === 'go') {
    const drift = filterDrift(intent, reading, answer.record);
    if (drift !== undefined) return { kind: 'drift', reason: drift, record: answer.record };
  }
  const asked = withDoubt(intent, answer);
  if (asked.kind !== 'ask') return asked;
  const consent = consentTo(reading, meant, asked.record);
  const isAgreed = meant.also?.some(
    ({ key, shown }) =>
      key === consent.key &&
      (shown === undefined || jsonText({ ...shown }) === jsonText({ ...consent.shown })),
  );
  return isAgreed === true ? goTo(asked.record) : asked;
}

function answerTo(intent: Intent, reading: Reading): Answer {
  const { resource, action, meant } = intent;
  const { profile, records } = reading;
  if (isSingle(profile, resource)) return goTo(records[0]);
  if (hasPositionalIds(profile)) {
    if (meant.image !== undefined) {
      return goTo(findRecord(profile, { ...intent, ...reading }, records, meant.image));
    }
    if (meant.id !== undefined) {
      return answerTo({ ...intent, meant: { ...meant, id: undefined } }, reading);
    }
  }
  if (meant.age === 'fresh') return freshAnswer(intent, reading);
  return action === 'add' ? answerToAdd(intent, reading) : answerByRecord(intent, reading);
}

function goTo(record: DeviceRecord | undefined): Answer {
  return record === undefined ? { kind: 'absent' } : { kind: 'go', record };
}

/** The plan was made from a reading that had the record: anything else that is there now is a later change. */
function freshAnswer(intent: Intent, reading: Reading): Answer {
  const { meant } = intent;
  const { byId, byKey } = candidates(intent, reading);
  const found = about(intent);
  if (meant.id === undefined && byKey.length > 1) {
    return { kind: 'drift', reason: { ...found, is: 'same-name', count: byKey.length } };
  }
  const record = meant.id === undefined ? byKey[0] : byId[0];
  if (record === undefined) {
    const [other] = byKey;
    if (other === undefined) return { kind: 'absent' };
    return { kind: 'drift', reason: { ...found, is: 'other', id: idText(reading, other) } };
  }
  const key = keyOf(reading.profile, reading.keyField, record);
  if (key !== meant.key) {
    return { kind: 'drift', reason: { ...found, is: 'now', now: quotedKey(key) }, record };
  }
  return goToPerson(intent, record, 'changed');
}

function goToPerson(intent: Intent, record: DeviceRecord, is: 'changed' | 'person'): Answer {
  const what = likenessOf(intent.meant.person, record, []).contradicting.join(', ');
  if (what === '') return { kind: 'go', record };
  return { kind: 'drift', reason: { ...about(intent), is, what }, record };
}

/** A record with the key is the one that is meant, unless its person is another one. The device may have reused the id. */
function answerToAdd(intent: Intent, reading: Reading): Answer {
  const { meant } = intent;
  const { byKey, own } = candidates(intent, reading);
  const record = own ?? (meant.isKeyShared === true ? undefined : byKey[0]);
  return record === undefined ? { kind: 'absent' } : goToPerson(intent, record, 'person');
}

function answerByRecord(intent: Intent, reading: Reading): Answer {
  const { resource, meant, writes } = intent;
  const { records } = reading;
  const { byId, byKey, ...both } = candidates(intent, reading, writes);
  const found = about(intent);
  const isUnique = byKey.length === 1;
  const own = meant.isIdGone === true ? both.own : undefined;
  const named = isUnique ? byKey[0] : own;
  // Who has an id that was gone may be another one, as if there were no ids; who has another id is.
  const held = meant.isIdGone === true ? undefined : byId[0];
  if (isUnique && named !== undefined && !isPersonal(resource, { ...named, ...meant.person })) {
    return { kind: 'go', record: named };
  }
  if (byId.length > 1) return { kind: 'drift', reason: { ...found, is: 'same-id' } };
  if (held === undefined) {
    // The other records with its name had that name beside it.
    const isOther = meant.isKeyShared === true && meant.id !== undefined;
    if (own === undefined && isOther) return { kind: 'absent' };
    if (own === undefined && byKey.length > 1)
      return { kind: 'drift', reason: { ...found, is: 'same-name', count: byKey.length } };
  }
  const record = held ?? named;
  if (record === undefined) return { kind: 'absent' };
  if (held === undefined && meant.id !== undefined && record !== own) {
    const id = idText(reading, record);
    return { kind: 'drift', reason: { ...found, is: 'other', id }, record };
  }
  const others = records.filter((one) => one !== record);
  const { agreeing, contradicting } = likenessOf(meant.person, record, others, writes);
  const what = contradicting.join(', ');
  if (held === undefined) {
    if (what !== '') return { kind: 'drift', reason: { ...found, is: 'person', what }, record };
    if (agreeing.length > 0) return { kind: 'go', record };
    const is = meant.isIdGone === true ? 'unlisted' : 'unknown';
    return { kind: 'ask', reason: { ...found, is }, record };
  }
  if (byKey.includes(record)) {
    // Names change; an id and an e-mail belong to one person.
    if (what === '' || agreeing.includes('e-mail')) return { kind: 'go', record };
    return { kind: 'ask', reason: { ...found, is: 'person', what }, record };
  }
  const now = quotedKey(keyOf(reading.profile, reading.keyField, record));
  if (byKey.length > 0) {
    const id = idText(reading, byKey[0]);
    return { kind: 'drift', reason: { ...found, is: 'swapped', now, id }, record };
  }
  const is = what === '' ? 'now' : 'now-other';
  return { kind: 'ask', reason: { ...found, is, now, what }, record };
}

function about({ resource, meant: { key } }: Intent) {
  return { code: 'not-as-meant', name: recordName({ resource, key }) } as const;
}

/** The records with the id, and those with the key that is expected or that the intent itself writes. */
function candidates(
  { resource, meant: { id, key } }: Intent,
  reading: Reading,
  writes: DeviceRecord = {},
): Whose {
  const { profile, keyField } = reading;
  const isIdentifying = id !== undefined && !profile.idFields.includes(keyField);
  const keys = [key === '' ? undefined : key, valueAt(writes, keyField)];
  const known = keys.filter((one) => one !== undefined);
  return whose({ ...reading, resource }, { ids: [isIdentifying ? id : undefined], keys: known });
}

/** A field that holds what the intent writes matched before it was written. */
function filterDrift(intent: Intent, { device }: Reading, record: DeviceRecord): Note | undefined {
  const { meant, writes } = intent;
  const { filter } = meant;
  if (filter === undefined) return undefined;
  const written = Object.keys(writes).filter((field) =>
    isStored(writes[field], valueAt(record, field)),
  );
  if (recordsWhere(filter, [record], device, written).length > 0) return undefined;
  return { ...about(intent), is: 'unmatched', filter };
}

function withDoubt({ action, meant }: Intent, answer: Answer): Answer {
  const code = 'not-as-meant';
  const taken = meant.isIdTaken === true && answer.kind !== 'absent';
  const doubt = meant.doubt ?? (taken ? ({ code, is: 'taken' } as const) : undefined);
  if (doubt === undefined || answer.kind === 'drift') return answer;
  if (answer.kind === 'absent') return action === 'add' ? { kind: 'ask', reason: doubt } : answer;
  if (answer.kind === 'go') return { ...answer, kind: 'ask', reason: doubt };
  const reasons = { reason: textOf(doubt), more: textOf(answer.reason) };
  return { ...answer, reason: { code, is: 'both', ...reasons } };
}

/** The yes that would answer a question about the record; without one, about the key. */
export function consentTo(
  { profile, keyField }: Pick<Reading, 'profile' | 'keyField'>,
  { key }: Pick<Meant, 'key'>,
  record: DeviceRecord | undefined,
): Consent {
  const shown = record && identityOf(profile, keyField, record);
  return shown === undefined ? { key } : { key: shown.key, shown };
}

function idText({ profile }: Reading, record: DeviceRecord | undefined): string {
  const id = record && idOf(profile, record);
  return id === undefined ? '' : ` (id ${quotedKey(id)})`;
}

/** Why nothing was sent, with these words. */
export function unsentFor(reason: Note): Note {
  return { code: 'not-sent', is: 'reason', reason: textOf(reason) };
}

export function driftError({ name }: DeviceRef, reason: Note): DriftError {
  return new DriftError(unsentFor(reason), { where: name });
}

/** The record that the plan was made for, by its own reading, and how it is not as planned. */
export function sincePlan(
  profile: Profile,
  step: Step,
  records: readonly DeviceRecord[],
): { readonly answer: Answer; readonly drift?: Note | undefined } {
  const { action, resource, keyField, before, after } = step;
  const found = { code: 'not-as-meant', name: recordName(step) } as const;
  const listed = { profile, resource, keyField, device: '', records };
  if (before === undefined) {
    const [record, other] = whose(listed, { keys: [after?.[keyField] ?? null] }).byKey;
    if (record === undefined) return { answer: { kind: 'absent' } };
    const drift: Note = { ...found, is: 'added' };
    return {
      answer: other === undefined ? { kind: 'go', record } : { kind: 'drift', reason: drift },
      drift,
    };
  }
  const identity = identityOf(profile, keyField, before);
  const meant = { ...identity, age: 'fresh', image: before } as const;
  const answer = mayAct({ action, resource, meant, writes: {} }, listed);
  const held = 'record' in answer ? answer.record : undefined;
  const id = idOf(profile, hasPositionalIds(profile) ? (held ?? before) : before);
  // A request to its id might hit another record.
  if (whose(listed, { ids: [id] }).byId.length > 1) {
    return { answer, drift: { ...found, is: 'same-id' } };
  }
  if (answer.kind === 'drift') return { answer, drift: answer.reason };
  if (held === undefined) return { answer, drift: { ...found, is: 'gone' } };
  if (step.purpose?.kind === 'typed' && idOf(profile, held) !== idOf(profile, before)) {
    return { answer, drift: { ...found, is: 'other', id: idText(listed, held) } };
  }
  // A revision shows a change of the record that its other fields may not show.
  const revision = profile.revision?.field;
  const ignored = ignoredFields(profile, resource).filter((field) => field !== revision);
  const changed = changesSince(before, held, ignored).map(({ field }) => field);
  if (changed.length === 0) return { answer };
  return { answer, drift: { ...found, is: 'changed', what: changed.join(', ') } };
}
