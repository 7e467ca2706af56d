import { issuesOf } from '../device/complaint.ts';
import { omittedFields } from '../device/encode.ts';
import { ProtocolError, RejectedError } from '../device/errors.ts';
import type { DeviceFacts } from '../device/facts.ts';
import {
  fieldFacts,
  fieldsWith,
  hasPositionalIds,
  idOf,
  isChoiceField,
  keyFieldOf,
  originOfWrite,
  type Profile,
  ignoredFields,
  updateFacts,
  type WriteFacts,
  writeFactsOf,
} from '../device/profile.ts';
import {
  type DeviceRecord,
  frequencies,
  isNested,
  isTimeStamp,
  onlyFields,
  type Value,
  valueAt,
  valueText,
  withoutFields,
} from '../device/record.ts';
import { isSecretField } from '../device/sensitive-fields.ts';
import { isEqual } from '../device/equality.ts';
import { changesSince } from './compare.ts';
import { WRITE_OF } from './doubts.ts';
import { findRecord, pairRecords } from './pairing.ts';
import type { RequestOutcome } from './send.ts';
import type { Identity } from './identity.ts';
import { recordName } from './plan.ts';
import { isShown } from './unread-fields.ts';
import type { StepEnd } from './verdict.ts';
import { type Step, withRequest } from './step.ts';
import { textOf } from '../output/sentences.ts';

/*
 * Learns from writes and repeated reads how a device behaves: volatile fields, ids that move, fields that
 * are never shown. The results are facts; no step waits for them.
 */

type About = Pick<Step, 'keyField' | 'resource' | 'asked'>;

/** Fields that changed without a request and may be counters or clocks: undocumented ones whose values have digits. */
function suspectFields(
  profile: Profile,
  { keyField, resource, asked }: About,
  earlier: readonly DeviceRecord[],
  later: readonly DeviceRecord[],
): string[] {
  const ignored = [
    keyField,
    ...profile.idFields,
    ...ignoredFields(profile, resource),
    ...fieldsWith(profile, resource, 'needed'),
    ...Object.keys(asked),
  ];
  const { matches } = pairRecords({ profile, keyField, resource }, earlier, later);
  const fields = [...matches].flatMap(([record, match]) =>
    changesSince(record, match, ignored)
      .filter(({ sent, held }) => isReading(sent) && isReading(held) && !isTimeStamp(sent))
      .filter(({ field }) => !isChoiceField(fieldFacts(profile, resource, field)))
      .map(({ field }) => field),
  );
  return [...new Set(fields)];
}

/** Whether a value may be a counter or a clock: `7`, `"3 days, 2:11"`. */
function isReading(value: Value | undefined): boolean {
  return typeof value !== 'boolean' && !isNested(value) && /\d/.test(valueText(value));
}

/**
 * Compares successive readings while nothing is sent: what changes again is volatile. A request or another
 * user changes a field once.
 */
export class Watch {
  readonly #facts: DeviceFacts;
  readonly #about: About;
  readonly #first: readonly DeviceRecord[];
  #last: readonly DeviceRecord[] = [];
  /** What changed from the first reading to the last one. */
  #suspects: readonly string[] = [];

  constructor(facts: DeviceFacts, about: About, first: readonly DeviceRecord[]) {
    this.#facts = facts;
    this.#about = about;
    this.#first = first;
  }

  /** Takes the next reading. Returns whether a field may be a counter, which only another reading shows. */
  next(records: readonly DeviceRecord[]): boolean {
    if (this.#suspects.length > 0) {
      const changed = suspectFields(this.#facts.profile, this.#about, this.#last, records);
      const again = changed.filter((field) => this.#suspects.includes(field));
      this.#facts.setFields(this.#about.resource, again, { volatile: true });
    }
    this.#last = records;
    this.#suspects = suspectFields(this.#facts.profile, this.#about, this.#first, records);
    return this.#suspects.length > 0;
  }
}

/** Notes that ids are positions in the list, if an id now belongs to another record. */
export function noteMovedIds(
  facts: DeviceFacts,
  step: Step,
  before: readonly DeviceRecord[],
  after: readonly DeviceRecord[],
): void {
  const example = movedId(facts.profile, step, before, after);
  if (example !== undefined) facts.set('ids', 'positional', undefined, example);
}

/** The same for the records that older intents mean: devsh may have been killed before it saw ids move. */
export function noteIdsMovedSince(
  facts: DeviceFacts,
  resource: string,
  meant: readonly Identity[],
  records: readonly DeviceRecord[],
): void {
  const { profile } = facts;
  const keyField = keyFieldOf(profile, resource, records);
  const [idField] = profile.idFields;
  if (idField === undefined) return;
  const images = meant.flatMap(({ id, key }): DeviceRecord[] =>
    id === undefined ? [] : [{ [keyField]: key, [idField]: id }],
  );
  const example = movedId(profile, { keyField, resource }, images, records);
  if (example !== undefined) facts.set('ids', 'positional', undefined, example);
}

/** Describes a record that has the earlier id of another one: then ids are positions. Keys of several records do not count. */
export function movedId(
  profile: Profile,
  { keyField, resource }: Pick<Step, 'keyField' | 'resource'>,
  before: readonly DeviceRecord[],
  after: readonly DeviceRecord[],
): string | undefined {
  if (profile.idFields.includes(keyField)) return undefined;
  const holders = new Set(before.map((record) => idOf(profile, record)));
  const counts = new Map(frequencies(before.map((record) => valueText(record[keyField]))));
  const { matches } = pairRecords({ profile, keyField, resource }, before, after);
  for (const [record, match] of matches) {
    const key = valueText(record[keyField]);
    const [id = '', now = ''] = [idOf(profile, record), idOf(profile, match)];
    if (id !== now && holders.has(now) && counts.get(key) === 1) {
      const name = recordName({ resource, key });
      return textOf({ code: 'seen', is: 'moved-id', name, id, now });
    }
  }
  return undefined;
}

/** A step with the current id of its record: positional ids shift when another record is removed. */
export function withCurrentId(
  profile: Profile,
  step: Step,
  records: readonly DeviceRecord[],
): Step {
  const { action, before, asked } = step;
  if (before === undefined || !hasPositionalIds(profile)) return step;
  const held = findRecord(profile, step, records, before);
  if (held === undefined || idOf(profile, held) === idOf(profile, before)) return step;
  const after = action === 'delete' ? undefined : { ...held, ...asked };
  return withRequest(profile, { ...step, before: held, after });
}

/** What a request came to. */
interface Ended {
  readonly outcome: RequestOutcome;
  readonly end: StepEnd;
}

/** A record before and after a request. */
interface Images {
  readonly before: DeviceRecord;
  readonly held: DeviceRecord;
}

/** How devices refuse a field that only they set, and in what place a text names it. */
const ONLY_DEVICE =
  /read[- ]?only|internal[- ]use|(?:may not|cannot|can't|must not) be (?:set|changed|modified|written|specified)|(?:extra|additional|invalid|un(?:known|expected|recognized|supported)) (?:input|field|property|properties|attribute|key|parameter)s?\b(?! value)/i;
const NAMES = /(?:["'`]|: ?|^|field |attribute )([\w.-]*\w)/g;

/** The fields of a record made again that the device refuses to take, because only it sets them. */
export function refusedFields(
  { asked, keyField, purpose, removes = [] }: Step,
  outcome: RequestOutcome,
): string[] {
  if (purpose?.kind !== 'restore' || removes.length > 0) return [];
  const { error } = outcome.kind === 'refused' ? outcome : {};
  const names = Object.keys(asked);
  const issues =
    error instanceof RejectedError
      ? error.issues
      : error instanceof ProtocolError
        ? issuesOf(error.body ?? '', names)
        : {};
  const complaints = Object.entries(issues).flatMap(([about, texts]) =>
    texts
      .filter((text) => ONLY_DEVICE.test(text))
      .flatMap((text) =>
        names.includes(about) ? [about] : [...text.matchAll(NAMES)].map(([, name]) => name),
      ),
  );
  const refused = names.filter((field) => field !== keyField && complaints.includes(field));
  return refused.length < names.length ? refused : [];
}

/** Leaves out the fields that only the device sets. Their old values are lost, unless the device sets them again. */
export function withoutRefused(profile: Profile, step: Step, fields: readonly string[]): Step {
  const { after = {}, effects } = step;
  const lost = { ...effects.lost, ...onlyFields(step.asked, fields) };
  return withRequest(profile, {
    ...step,
    asked: withoutFields(step.asked, fields),
    after: withoutFields(after, fields),
    effects: { ...effects, lost },
  });
}

/** Learns that the way to write works, and what happens to fields that are not shown. */
export function learnFromWrite(
  facts: DeviceFacts,
  step: Step,
  { before, after }: Readonly<Record<'before' | 'after', readonly DeviceRecord[]>>,
  { outcome, end: { verdict, record, notes } }: Ended,
): void {
  if (outcome.kind !== 'accepted' || step.purpose?.kind === 'typed') return;
  const { profile } = facts;
  const { action, resource, asked, request } = step;
  const write = WRITE_OF[action];
  // Only a success without any note proves the way to write.
  const isProof = verdict === 'done' && notes === undefined;
  if (isProof && originOfWrite(profile, write, resource) === 'assumed') {
    const { method, path, encoding } = writeFactsOf(profile, write, resource);
    facts.set(write, { method, path, encoding });
  }
  if (record === undefined) return;
  const group = `resources.${resource}` as const;
  const unshown = Object.keys(asked).filter((field) => {
    const isIn = (one: DeviceRecord): boolean => Object.hasOwn(one, field);
    // Many devices omit empty fields.
    const isEmptied = valueText(valueAt(asked, field)) === '' && before.some(isIn);
    return !isEmptied && !after.some(isIn);
  });
  if (verdict !== 'done' && verdict !== 'differs' && verdict !== 'unknown') return;
  const isDone = verdict === 'done';
  const isHidden = (field: string): boolean =>
    isDone || (verdict === 'differs' && isSecretField(field));
  const [hidden, untold] = [unshown.filter(isHidden), unshown.filter((field) => !isHidden(field))];
  facts.setFields(resource, untold, { untold: true });
  if (verdict === 'unknown') return;
  facts.setFields(resource, hidden, { hidden: true });
  const isRepeated = Object.keys(asked).some(
    (field) => (request.form ?? []).filter(([name]) => name === field).length > 1,
  );
  if (isRepeated && isDone) facts.set(`${group}.update.lists`, 'repeated');
  const image = step.before;
  facts.set(
    `${group}.update.leftOut`,
    image && leftOutMeaning(profile, step, { before: image, held: record, verdict }),
  );
  const isWhole = updateFacts(profile, resource).record === 'whole';
  if (isWhole || action === 'add')
    facts.set(`${group}.update.nullAs`, nullSeen(step, before, record));
  if (updateFacts(profile, resource).record !== 'whole') return;
  const shown = fieldsWith(profile, resource, 'shown');
  const always = (field: string): boolean => after.every((one) => Object.hasOwn(one, field));
  const gone = shown.filter((field) => !Object.hasOwn(record, field));
  if (gone.length === 0 && shown.length > 0) return;
  facts.setFields(resource, gone, { shown: false });
  facts.setFields(resource, Object.keys(record).filter(always), { shown: true });
}

/** How the form said null: by an empty text that is null now, or by leaving out a field that has stayed null. */
function nullSeen(
  { request: { form }, before: image }: Step,
  before: readonly DeviceRecord[],
  held: DeviceRecord,
): WriteFacts['nullAs'] {
  if (form === undefined) return undefined;
  const nulls = Object.keys(held).filter((field) => held[field] === null);
  const textOf = (field: string) => form.find(([name]) => name === field)?.[1];
  if (nulls.some((field) => textOf(field) === '')) return 'empty';
  const hasStayed = (field: string): boolean =>
    textOf(field) === undefined && valueAt(image, field) === null && !isSecretField(field);
  return before.length > 0 && nulls.some(hasStayed) ? 'left_out' : undefined;
}

/** Only a shown secret that was not sent proves that the device keeps omitted fields. */
function leftOutMeaning(
  profile: Profile,
  { resource, asked }: Step,
  { before, held, verdict }: Images & Pick<StepEnd, 'verdict'>,
): WriteFacts['leftOut'] {
  if (updateFacts(profile, resource).record !== 'whole') return undefined;
  const fields = omittedFields(profile, resource, before, asked).filter((field) =>
    Object.hasOwn(before, field),
  );
  if (fields.some((field) => valueText(valueAt(held, field)) === '')) return 'erased';
  const secrets = fields.filter((field) => isSecretField(field) && isShown(before[field]));
  if (secrets.some((field) => isEqual(before[field], valueAt(held, field)))) {
    return 'kept';
  }
  const isOpen = updateFacts(profile, resource).leftOut === undefined;
  return isOpen && verdict === 'done' ? 'not seen' : undefined;
}
