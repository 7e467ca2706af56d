import { rememberedFor } from '../text/remember.ts';
import { isComparable, shownKey } from '../device/sensitive-fields.ts';
import {
  hasPositionalIds,
  idOf,
  managedFields,
  type Profile,
  ignoredFields,
} from '../device/profile.ts';
import {
  type DeviceRecord,
  formText,
  grouped,
  isNested,
  isTimeStamp,
  jsonText,
  type Value,
  valueAt,
  valueText,
  withoutFields,
} from '../device/record.ts';
import { isEqual, isStored } from '../device/equality.ts';
import type { Change } from './change.ts';
import { changesSince } from './compare.ts';
import { canonicalId } from './identity.ts';
import type { Step } from './step.ts';

/** A list of one resource, as it was read. */
export interface Listed {
  readonly profile: Profile;
  readonly resource: string;
  readonly keyField: string;
  readonly records: readonly DeviceRecord[];
}

/** What is known of a record that is looked for. */
interface KnownBy {
  readonly ids?: readonly (string | undefined)[];
  /** The natural key that is expected, and others that it may have by now. */
  readonly keys?: readonly Value[];
  /** The record as it was: where ids are positions, its content tells which one it is. */
  readonly image?: DeviceRecord | undefined;
}

/** The records of a list that may be the one that is known. */
export interface Whose {
  readonly byId: readonly DeviceRecord[];
  readonly byKey: readonly DeviceRecord[];
  /** The first that is it by both; where ids are positions, by key and content. */
  readonly own: DeviceRecord | undefined;
}

const NONE: ReadonlySet<DeviceRecord> = new Set();

/**
 * The only comparison of identities. The gate, a step or a verdict decides what follows from it.
 *
 * @param taken records that are known to be other ones
 */
export function whose(
  { profile, resource, keyField, records }: Listed,
  { ids = [], keys = [], image }: KnownBy,
  taken = NONE,
): Whose {
  const index = RecordIndex.of(records);
  const free = (found: readonly (readonly DeviceRecord[])[]): readonly DeviceRecord[] =>
    [...new Set(found.flat())].filter((record) => !taken.has(record));
  const byId = free(ids.map((id) => (id === undefined ? [] : index.withId(profile, id))));
  const byKey = free(keys.map((key) => index.withValue(keyField, key)));
  if (image === undefined || !hasPositionalIds(profile)) {
    return { byId, byKey, own: byKey.find((record) => byId.includes(record)) };
  }
  const isKeyless = profile.idFields.includes(keyField);
  const ignored = ignoredFields(profile, resource);
  const id = idOf(profile, image);
  const isSame = (record: DeviceRecord): boolean =>
    changesSince(image, record, ignored).length === 0;
  const alike = isKeyless ? free([index.withContent(image, ignored)]) : byKey;
  const named = isKeyless && alike.length === 0 ? free([records]) : alike;
  // If several have the same content, take the one whose position has not changed.
  const own = named.find((one) => idOf(profile, one) === id && isSame(one)) ?? named.find(isSame);
  const isOwn = own === undefined ? [] : [own];
  return { byId: [], byKey: isKeyless ? isOwn : byKey, own };
}

/** What identifies a record. One with an id and without a key is known by its id alone. */
function knownBy({ profile, keyField }: Omit<Listed, 'records'>, image: DeviceRecord): KnownBy {
  const id = hasPositionalIds(profile) ? undefined : idOf(profile, image);
  const key = image[keyField] ?? null;
  return { ids: [id], keys: id !== undefined && valueText(key) === '' ? [] : [key], image };
}

/**
 * The record of a step: by id and natural key, by id, or by natural key where a device may have given it another id;
 * nothing is deleted by its name alone.
 */
export function findRecord(
  profile: Profile,
  { action, keyField, resource }: Pick<Step, 'action' | 'keyField' | 'resource'>,
  records: readonly DeviceRecord[],
  image: DeviceRecord,
): DeviceRecord | undefined {
  const listed = { profile, resource, keyField, records };
  const known = knownBy(listed, image);
  const { byId, byKey, own } = whose(listed, known);
  if (own !== undefined || byId.length > 1) return own;
  const needsId = action === 'delete' && known.ids?.[0] !== undefined;
  return byId[0] ?? (needsId ? undefined : byKey[0]);
}

interface Pairing {
  /** Record before -> the same record after. Removed records are absent. */
  readonly matches: ReadonlyMap<DeviceRecord, DeviceRecord>;
  readonly added: readonly DeviceRecord[];
}

/**
 * Pairs the records of two readings, each at most once. It prefers the natural key to the id: where a device gives new
 * ids, a delete without effect would look done. Linear in the number of records.
 */
export function pairRecords(
  about: Omit<Listed, 'records'>,
  before: readonly DeviceRecord[],
  after: readonly DeviceRecord[],
): Pairing {
  const matches = unchangedIn(before, after);
  const unchanged = new Set(matches.values());
  let added = after.filter((record) => !unchanged.has(record));
  for (const by of ['own', 'byKey', 'byId'] as const) {
    if (added.length === 0 || matches.size === before.length) break;
    const listed = { ...about, records: added };
    const taken = new Set<DeviceRecord>();
    for (const record of before) {
      if (matches.has(record)) continue;
      const { own, byKey, byId } = whose(listed, knownBy(about, record), taken);
      const match = { own, byKey: byKey[0], byId: byId[0] }[by];
      if (match === undefined) continue;
      matches.set(record, match);
      taken.add(match);
    }
    added = added.filter((record) => !taken.has(record));
  }
  return { matches, added };
}

/** The most places by which a record may have moved in the list. */
const NEAR = 8;

/** The records that both lists show without a change, in about the same place: few are left to search for. */
function unchangedIn(
  before: readonly DeviceRecord[],
  after: readonly DeviceRecord[],
): Map<DeviceRecord, DeviceRecord> {
  const matches = new Map<DeviceRecord, DeviceRecord>();
  let place = 0;
  for (const record of before) {
    for (let at = place; at < Math.min(place + NEAR, after.length); at += 1) {
      const match = after[at];
      if (match === undefined || !isIdentical(record, match)) continue;
      matches.set(record, match);
      place = at + 1;
      break;
    }
  }
  return matches;
}

/** The records that a change may mean: those with its key as name or id, and the one that it means. For an add: its name. */
export function recordsNamed(
  listed: Omit<Listed, 'resource'>,
  change: Change,
): readonly DeviceRecord[] {
  const { profile, keyField } = listed;
  const isAdd = change.action === 'add';
  const key = isAdd
    ? valueText(change.fields[keyField])
    : change.target.kind === 'key'
      ? change.target.key
      : '';
  const [, field = '', value = ''] = /^([^=]+)=(.*)$/s.exec(key) ?? [];
  const isId = profile.idFields.includes(field);
  const names = [key, change.meant?.key ?? '', field === keyField ? value : ''];
  const ids = [change.meant?.id, isAdd ? undefined : isId || field === keyField ? value : key];
  const keys = names.filter((name) => name !== '');
  const { byKey, byId } = whose({ ...listed, resource: change.resource }, { ids, keys });
  return [...new Set([...byKey, ...byId])];
}

/** What became of the other records, by natural key. */
export interface OtherRecords {
  readonly gone: readonly string[];
  readonly lost: readonly DeviceRecord[];
  /** Each with its changed fields: `zoe (lang)`. */
  readonly changed: readonly string[];
  readonly added: readonly string[];
}

/** Timestamps, counters and ids are not compared; `own`: the record that the step itself may have added. */
export function otherRecordsOf(
  profile: Profile,
  { keyField, resource }: Pick<Step, 'keyField' | 'resource'>,
  others: readonly DeviceRecord[],
  { matches, added: addedRecords, own }: Pairing & { readonly own?: DeviceRecord | undefined },
): OtherRecords {
  const nameOf = (record: DeviceRecord): string =>
    shownKey(keyField, record[keyField]) || idOf(profile, record) || '?';
  const ignored = [...profile.idFields, ...managedFields(profile, resource)];
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

/** A fast check that skips most records. */
function isIdentical(before: DeviceRecord, after: DeviceRecord): boolean {
  const fields = Object.keys(after);
  return (
    fields.length === Object.keys(before).length &&
    fields.every((field) => isEqual(valueAt(before, field), valueAt(after, field)))
  );
}

/** Index of the records of a reading: a file may change thousands of records on one device. */
class RecordIndex {
  readonly #records: readonly DeviceRecord[];
  readonly #byField = new Map<string, FieldIndex>();
  readonly #byContent = new Map<string, ReadonlyMap<string, readonly DeviceRecord[]>>();
  readonly #byId = new WeakMap<Profile, ReadonlyMap<string, readonly DeviceRecord[]>>();

  /** The index of a reading, built once: readings do not change. */
  static readonly of = rememberedFor(
    (records: readonly DeviceRecord[]) => new RecordIndex(records),
  );

  private constructor(records: readonly DeviceRecord[]) {
    this.#records = records;
  }

  /** The records whose field holds `value`, perhaps in another spelling, in the order of the reading. */
  withValue(field: string, value: Value): readonly DeviceRecord[] {
    const index = this.#byField.get(field) ?? {
      records: grouped(this.#records, (record) => formText(record[field] ?? null)),
      hasOnlyTexts: this.#records.every((record) => isPlain(record[field] ?? null)),
    };
    this.#byField.set(field, index);
    const isIndexed = index.hasOnlyTexts && isPlain(value);
    const records = isIndexed ? (index.records.get(formText(value)) ?? []) : this.#records;
    if (isComparable(value)) {
      return this.#records.filter((record) => shownKey(field, record[field]) === value);
    }
    // A record without a key may show that as null, as an empty text, or not at all.
    const isKeyless = valueText(value) === '';
    return records.filter((record) =>
      isKeyless ? valueText(record[field]) === '' : isStored(value, record[field]),
    );
  }

  /** The records that show the same texts as another one. */
  withContent(image: DeviceRecord, ignored: readonly string[]): readonly DeviceRecord[] {
    const textOf = (record: DeviceRecord): string =>
      jsonText(Object.entries(withoutFields(record, ignored)).sort());
    const name = ignored.join();
    const index = this.#byContent.get(name) ?? grouped(this.#records, textOf);
    this.#byContent.set(name, index);
    return index.get(textOf(image)) ?? [];
  }

  /** The records with this id, in any spelling of it. */
  withId(profile: Profile, id: string): readonly DeviceRecord[] {
    let index = this.#byId.get(profile);
    if (index === undefined) {
      index = grouped(this.#records, (record) => {
        const own = idOf(profile, record);
        return own === undefined ? undefined : canonicalId(own);
      });
      this.#byId.set(profile, index);
    }
    return index.get(canonicalId(id)) ?? [];
  }
}

interface FieldIndex {
  readonly records: ReadonlyMap<string, readonly DeviceRecord[]>;
  /** Booleans and nested values may be equal although their texts differ. */
  readonly hasOnlyTexts: boolean;
}

function isPlain(value: Value): boolean {
  return typeof value !== 'boolean' && !isNested(value);
}
