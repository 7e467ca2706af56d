import {
  hasPositionalIds,
  idOf,
  ignoredFields,
  isSingle,
  type Profile,
} from '../device/profile.ts';
import { DeviceError } from '../device/errors.ts';
import { type DeviceRecord, type DeviceRef, jsonText, valueAt } from '../device/record.ts';
import { quoteWord } from '../text/words.ts';
import { isStored } from '../device/equality.ts';
import { recordsWhere } from './change.ts';
import { changesSince } from './compare.ts';
import type { Step } from './step.ts';
import { type Consent, identityOf, isPersonal, keyOf, likenessOf, type Meant } from './identity.ts';
import { findRecord, type Listed, whose, type Whose } from './pairing.ts';
import { quotedKey, recordName } from './plan.ts';
import type { Action } from './verdict.ts';

/** The gate asks: only the user knows whether this record is the one that is meant. Nothing was sent. */
export class DoubtError extends DeviceError {
  override readonly code = 'doubt';
  override readonly exitCode = 6;

  readonly reason: string;
  readonly consent: Consent;

  constructor(device: DeviceRef, reason: string, consent: Consent) {
    const mark = `--also ${quoteWord(`${device.name}=${consent.key}`)}`;
    super(device, `${reason}; ${mark} takes it; nothing was sent`);
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
      readonly kind: 'drift';
      readonly reason: string;
      readonly record?: DeviceRecord | undefined;
    }
  | {
      readonly kind: 'ask';
      readonly reason: string;
      /** The record in doubt; absent if there is none. */
      readonly record?: DeviceRecord | undefined;
      /** The yes that would answer it. */
      readonly consent: Consent;
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
  const asked = withDoubt(intent, reading, answer);
  if (asked.kind !== 'ask') return asked;
  const { consent, record } = asked;
  const isAgreed = meant.also?.some(
    ({ key, shown }) =>
      key === consent.key &&
      (shown === undefined || jsonText({ ...shown }) === jsonText({ ...consent.shown })),
  );
  return isAgreed === true ? goTo(record) : asked;
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
  const name = recordName({ ...intent, key: meant.key });
  if (meant.id === undefined && byKey.length > 1) {
    return { kind: 'drift', reason: `${name} shares its name with another record` };
  }
  const record = meant.id === undefined ? byKey[0] : byId[0];
  if (record === undefined) {
    const [other] = byKey;
    if (other === undefined) return { kind: 'absent' };
    return {
      kind: 'drift',
      reason: `${name} was replaced by another record${idText(reading, other)}`,
    };
  }
  if (keyOf(reading.profile, reading.keyField, record) !== meant.key) {
    return {
      kind: 'drift',
      reason: `${name} was renamed to ${quotedKey(keyOf(reading.profile, reading.keyField, record))}`,
      record,
    };
  }
  const { contradicting } = likenessOf(meant.person, record, []);
  if (contradicting.length === 0) return { kind: 'go', record };
  const reason = `${name} changed (${contradicting.join(', ')})`;
  return { kind: 'drift', reason, record };
}

/** A record with the key is the one that is meant, unless its person is another one. The device may have reused the id. */
function answerToAdd(intent: Intent, reading: Reading): Answer {
  const { resource, meant } = intent;
  const { byKey, own } = candidates(intent, reading);
  const record = own ?? (meant.isKeyShared === true ? undefined : byKey[0]);
  if (record === undefined) return { kind: 'absent' };
  const { contradicting } = likenessOf(meant.person, record, []);
  if (contradicting.length === 0) return { kind: 'go', record };
  const name = recordName({ resource, key: meant.key });
  const reason = `${name} is held by another record (${contradicting.join(', ')})`;
  return { kind: 'drift', reason, record };
}

function answerByRecord(intent: Intent, reading: Reading): Answer {
  const { resource, meant, writes } = intent;
  const { records } = reading;
  const { byId, byKey, ...both } = candidates(intent, reading, writes);
  const name = recordName({ resource, key: meant.key });
  const isUnique = byKey.length === 1;
  const own = meant.isIdGone === true ? both.own : undefined;
  const named = isUnique ? byKey[0] : own;
  // Who has an id that was gone may be another one, as if there were no ids; who has another id is.
  const held = meant.isIdGone === true ? undefined : byId[0];
  if (isUnique && named !== undefined && !isPersonal(resource, { ...named, ...meant.person })) {
    return { kind: 'go', record: named };
  }
  const ask = (record: DeviceRecord, reason: string): Answer => {
    return { kind: 'ask', reason, record, consent: consentTo(reading, record) };
  };
  if (byId.length > 1)
    return { kind: 'drift', reason: `${name} shares its id with another record` };
  if (held !== undefined) {
    const others = records.filter((one) => one !== held);
    const { agreeing, contradicting } = likenessOf(meant.person, held, others, writes);
    if (byKey.includes(held)) {
      // Names change; an id and an e-mail belong to one person.
      if (contradicting.length === 0 || agreeing.includes('e-mail'))
        return { kind: 'go', record: held };
      return ask(held, `${name} shows another person (${contradicting.join(', ')})`);
    }
    const now = quotedKey(keyOf(reading.profile, reading.keyField, held));
    if (byKey.length > 0) {
      const reason = `${name} is now ${now}, and another record has its name${idText(reading, byKey[0])}`;
      return { kind: 'drift', reason, record: held };
    }
    const details = contradicting.length === 0 ? '' : ` (${contradicting.join(', ')})`;
    return ask(held, `${name} is now ${now}${details}`);
  }
  // The other records with its name had that name beside it.
  if (meant.isKeyShared === true && meant.id !== undefined && own === undefined) {
    return { kind: 'absent' };
  }
  if (byKey.length > 1 && own === undefined) {
    return { kind: 'drift', reason: `${byKey.length} records have the name of ${name}` };
  }
  if (named === undefined) return { kind: 'absent' };
  if (meant.id !== undefined && named !== own) {
    const reason = `${name} is another record now${idText(reading, named)}`;
    return { kind: 'drift', reason, record: named };
  }
  const others = records.filter((one) => one !== named);
  const { agreeing, contradicting } = likenessOf(meant.person, named, others, writes);
  if (contradicting.length > 0) {
    const reason = `${name} shows another person (${contradicting.join(', ')})`;
    return { kind: 'drift', reason, record: named };
  }
  if (agreeing.length > 0) return { kind: 'go', record: named };
  const gone = meant.isIdGone === true ? `${name} was not in the list in between, and ` : '';
  return ask(named, `${gone}nothing known shows whose ${gone === '' ? name : 'it'} is`);
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
function filterDrift(
  { resource, meant: { filter, key }, writes }: Intent,
  { device }: Reading,
  record: DeviceRecord,
): string | undefined {
  if (filter === undefined) return undefined;
  const written = Object.keys(writes).filter((field) =>
    isStored(writes[field], valueAt(record, field)),
  );
  if (recordsWhere(filter, [record], device, written).length > 0) return undefined;
  return `${recordName({ resource, key })} no longer matches "${filter}"`;
}

const TAKEN = 'a run since has written to another person under its id';

function withDoubt({ action, meant }: Intent, reading: Reading, answer: Answer): Answer {
  const { key } = meant;
  const isTaken = meant.isIdTaken === true && answer.kind !== 'absent';
  const reason = meant.doubt ?? (isTaken ? TAKEN : undefined);
  if (reason === undefined || answer.kind === 'drift') return answer;
  if (answer.kind === 'ask') return { ...answer, reason: `${reason}; ${answer.reason}` };
  if (answer.kind === 'go') {
    const { record } = answer;
    return { kind: 'ask', reason, record, consent: consentTo(reading, record) };
  }
  return action === 'add' ? { kind: 'ask', reason, consent: { key } } : answer;
}

function consentTo({ profile, keyField }: Reading, record: DeviceRecord): Consent {
  const shown = identityOf(profile, keyField, record);
  return { key: shown.key, shown };
}

function idText({ profile }: Reading, record: DeviceRecord | undefined): string {
  const id = record && idOf(profile, record);
  return id === undefined ? '' : ` (id ${quotedKey(id)})`;
}

/** The record that the plan was made for, by its own reading, and how it is not as planned. */
export function sincePlan(
  profile: Profile,
  step: Step,
  records: readonly DeviceRecord[],
): { readonly answer: Answer; readonly drift?: string | undefined } {
  const { action, resource, keyField, before, after } = step;
  const name = recordName(step);
  const listed = { profile, resource, keyField, device: '', records };
  if (before === undefined) {
    const [record, other] = whose(listed, { keys: [after?.[keyField] ?? null] }).byKey;
    if (record === undefined) return { answer: { kind: 'absent' } };
    const drift = `${name} was added since the plan`;
    return {
      answer: other === undefined ? { kind: 'go', record } : { kind: 'drift', reason: drift },
      drift,
    };
  }
  const meant = {
    ...identityOf(profile, keyField, before),
    ...{ age: 'fresh' as const, image: before },
  };
  const answer = mayAct({ action, resource, meant, writes: {} }, listed);
  const held = 'record' in answer ? answer.record : undefined;
  const id = idOf(profile, hasPositionalIds(profile) ? (held ?? before) : before);
  // A request to its id might hit another record.
  if (whose(listed, { ids: [id] }).byId.length > 1) {
    return { answer, drift: `${name} has shared its id with another record since the plan` };
  }
  if (answer.kind === 'drift') return { answer, drift: `${answer.reason} since the plan` };
  if (held === undefined) return { answer, drift: `${name} was deleted since the plan` };
  if (step.purpose?.kind === 'typed' && idOf(profile, held) !== idOf(profile, before)) {
    return { answer, drift: `${name} has another id since the plan` };
  }
  // A revision shows a change of the record that its other fields may not show.
  const revision = profile.revision?.field;
  const ignored = ignoredFields(profile, resource).filter((field) => field !== revision);
  const changed = changesSince(before, held, ignored).map(({ field }) => field);
  const drift =
    changed.length > 0 ? `${name} changed since the plan (${changed.join(', ')})` : undefined;
  return { answer, drift };
}
