import {
  hasPositionalIds,
  idOf,
  ownFields,
  type Profile,
  uncomparedFields,
} from '../device/profile.ts';
import { type DeviceRecord, valueAt } from '../device/record.ts';
import { isTimeStamp, valueText } from '../device/value-text.ts';
import { changesSince } from './compare.ts';
import { recordName, type Step } from './plan.ts';
import type { StepEnd } from './verdict.ts';
import { someOf } from '../text/one-line.ts';

/** Whose records are paired, and what they are called by. */
type About = Pick<Step, 'keyField' | 'resource'>;

/** Which record of one reading is which of the next. */
interface Pairing {
  /** A record before -> the same one after; what is gone is not in it. */
  readonly matches: ReadonlyMap<DeviceRecord, DeviceRecord>;
  readonly added: readonly DeviceRecord[];
}

/**
 * Pairs the records of two readings, each at most once: by id and natural key, then by natural key
 * (a device may give new ids, or the place in the list as id), then by id (a changed key). An id that
 * is a place in the list tells nothing: there the whole content does. Takes time in proportion to the
 * number of records.
 */
export function pairRecords(
  profile: Profile,
  { keyField, resource }: About,
  before: readonly DeviceRecord[],
  after: readonly DeviceRecord[],
): Pairing {
  const id = (record: DeviceRecord): string | undefined => idOf(profile, record);
  const key = (record: DeviceRecord): string | undefined =>
    valueText(record[keyField]) || undefined;
  // The length keeps the two apart, whatever they contain.
  const named = (key = '', more = ''): string => `${key.length}:${key}${more}`;
  const both = (record: DeviceRecord): string => named(key(record), id(record));
  const keyAndContent = (record: DeviceRecord): string => named(key(record), content(record));
  const content = (record: DeviceRecord): string =>
    contentText(record, [keyField, ...uncomparedFields(profile, resource)]);
  const names = !hasPositionalIds(profile)
    ? [both, key, id]
    : profile.idFields.includes(keyField)
      ? [content]
      : [keyAndContent, key];
  const matches = new Map<DeviceRecord, DeviceRecord>();
  let added = after;
  for (const nameOf of names) {
    const places = new Map<string, DeviceRecord[]>();
    // From the last on, so that `pop` gives the first.
    for (const record of added.toReversed()) {
      const name = nameOf(record);
      if (name === undefined) continue;
      const place = places.get(name);
      if (place === undefined) places.set(name, [record]);
      else place.push(record);
    }
    const paired = new Set<DeviceRecord>();
    for (const record of before) {
      const name = matches.has(record) ? undefined : nameOf(record);
      const match = name === undefined ? undefined : places.get(name)?.pop();
      if (match === undefined) continue;
      matches.set(record, match);
      paired.add(match);
    }
    added = added.filter((record) => !paired.has(record));
    if (added.length === 0 || matches.size === before.length) break;
  }
  return { matches: matches, added: added };
}

/** What became of the records that a step was not about, by natural key. */
export interface OtherRecords {
  readonly gone: readonly string[];
  /** The gone ones as they were. */
  readonly lost: readonly DeviceRecord[];
  /** With the fields: `zoe (lang)`. */
  readonly changed: readonly string[];
  readonly added: readonly string[];
}

/** A record as one text, without the fields that are left out. */
function contentText(record: DeviceRecord, leftOut: readonly string[]): string {
  const fields = Object.keys(record).filter((field) => !leftOut.includes(field));
  return JSON.stringify(fields.sort().map((field) => [field, valueText(record[field])]));
}

/**
 * Points in time, counters and ids change by themselves: they are left out.
 *
 * @param own the record that the step itself may have added
 */
export function otherRecordsOf(
  profile: Profile,
  { keyField, resource }: About,
  others: readonly DeviceRecord[],
  { matches: matches, added: addedRecords }: Pairing,
  own?: DeviceRecord,
): OtherRecords {
  const nameOf = (record: DeviceRecord): string =>
    valueText(record[keyField]) || idOf(profile, record) || '?';
  const ignored = [...profile.idFields, ...ownFields(profile, resource)];
  const lost: DeviceRecord[] = [];
  const changed: string[] = [];
  for (const record of others) {
    const match = matches.get(record);
    if (match === undefined) {
      lost.push(record);
    } else if (!isIdentical(record, match)) {
      const fields = changesSince(record, match, ignored)
        .filter(({ sent }) => !isTimeStamp(sent))
        .map(({ field }) => field);
      if (fields.length > 0) changed.push(`${nameOf(record)} (${fields.join(', ')})`);
    }
  }
  const added = addedRecords.filter((record) => record !== own).map(nameOf);
  return { gone: lost.map(nameOf), lost, changed, added };
}

/** Tells most of many records apart from those that are worth a closer look. */
function isIdentical(before: DeviceRecord, after: DeviceRecord): boolean {
  const fields = Object.keys(after);
  return (
    fields.length === Object.keys(before).length &&
    fields.every((field) => valueAt(before, field) === valueAt(after, field))
  );
}

/** So many records are named, the others counted. */
const NAMED = 10;

/**
 * Nothing is `done` when other records are gone or changed. A step that was not carried out stays
 * `failed` beside changed ones, which may be somebody else's work; missing ones are never passed over.
 * Added ones are told of; where the record itself does not show, one of them may be it under another name.
 */
export function withOtherRecords(
  step: Step,
  own: StepEnd,
  { gone, lost, changed, added }: OtherRecords,
): StepEnd {
  if (gone.length === 0 && changed.length === 0 && added.length === 0) return own;
  const isUntouched = own.verdict === 'no effect' || own.verdict === 'failed';
  const notes = [
    isUntouched ? untouchedText(step) : own.note,
    gone.length > 0
      ? `no longer in its list, without being asked: ${someOf(gone, NAMED)}`
      : undefined,
    changed.length > 0 ? `changed, too, without being asked: ${someOf(changed, NAMED)}` : undefined,
    added.length > 0 ? `added meanwhile: ${someOf(added, NAMED)}` : undefined,
  ];
  const isOnlyAdded = gone.length === 0 && changed.length === 0;
  const staysAsItIs =
    (gone.length === 0 && (own.verdict === 'failed' || own.verdict === 'unknown')) ||
    (isOnlyAdded && (own.verdict !== 'no effect' || step.action === 'delete'));
  return {
    ...own,
    verdict: staysAsItIs ? own.verdict : 'differs',
    note: notes.filter((note) => note !== undefined).join('; '),
    ...(lost.length > 0 && { gone: lost }),
  };
}

function untouchedText(step: Step): string {
  return `${recordName(step)} itself ${step.action === 'add' ? 'does not show' : 'is as before'}`;
}
