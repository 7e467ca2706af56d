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
  type Value,
  valueAt,
  valueText,
} from '../device/record.ts';
import { isStored } from '../device/equality.ts';
import type { Change } from './change.ts';
import { changesSince } from './compare.ts';
import { NAMED } from './data-loss.ts';
import { recordName } from './plan.ts';
import { canonicalId } from './identity.ts';
import type { StepEnd } from './verdict.ts';
import { someOf } from '../text/one-line.ts';
import type { Step } from './step.ts';

type About = Pick<Step, 'keyField' | 'resource'>;

interface Pairing {
  /** Record before -> the same record after. Removed records are absent. */
  readonly matches: ReadonlyMap<DeviceRecord, DeviceRecord>;
  readonly added: readonly DeviceRecord[];
}

/**
 * Pairs the records of two readings, each at most once: by id and natural key, then by natural key (a
 * device may assign new ids), then by id (a renamed record). Positional ids identify nothing: there the
 * whole content is compared. Linear in the number of records.
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
  // The length separates the two parts, whatever they contain.
  const named = (key = '', more = ''): string => `${key.length}:${key}${more}`;
  const both = (record: DeviceRecord): string => named(key(record), id(record));
  const keyAndContent = (record: DeviceRecord): string => named(key(record), content(record));
  const content = (record: DeviceRecord): string =>
    contentText(record, [keyField, ...ignoredFields(profile, resource)]);
  const names = !hasPositionalIds(profile)
    ? [both, key, id]
    : profile.idFields.includes(keyField)
      ? [content]
      : [keyAndContent, key];
  const matches = new Map<DeviceRecord, DeviceRecord>();
  let added = after;
  for (const nameOf of names) {
    // Reversed, so that `pop` returns the first.
    const places = grouped(added.toReversed(), nameOf);
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
  return { matches, added };
}

/** What became of the other records, by natural key. */
export interface OtherRecords {
  readonly gone: readonly string[];
  readonly lost: readonly DeviceRecord[];
  /** Each with its changed fields: `zoe (lang)`. */
  readonly changed: readonly string[];
  readonly added: readonly string[];
}

function contentText(record: DeviceRecord, leftOut: readonly string[]): string {
  const fields = Object.keys(record).filter((field) => !leftOut.includes(field));
  return JSON.stringify(fields.sort().map((field) => [field, valueText(record[field])]));
}

/** Timestamps, counters and ids are not compared; `own`: the record that the step itself may have added. */
export function otherRecordsOf(
  profile: Profile,
  { keyField, resource }: About,
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
    fields.every((field) => valueAt(before, field) === valueAt(after, field))
  );
}

/**
 * A step is never `done` if other records were removed or changed. A failed step stays `failed` beside
 * changed records, which may be another user's work; removed records always count. Added records are
 * mentioned: one of them may be the step's record under another name.
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
      ? `no longer in the list, without a request: ${someOf(gone, NAMED)}`
      : undefined,
    changed.length > 0 ? `also changed without a request: ${someOf(changed, NAMED)}` : undefined,
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
  return `${recordName(step)} itself ${step.action === 'add' ? 'does not show' : 'is unchanged'}`;
}

/** A list of one resource, as it was read. */
export interface Listed {
  readonly profile: Profile;
  readonly keyField: string;
  readonly records: readonly DeviceRecord[];
}

/** The records of a list that may be the one that is known by an id and a natural key. */
export interface Whose {
  readonly byId: readonly DeviceRecord[];
  readonly byKey: readonly DeviceRecord[];
  /** The first that is it by both. */
  readonly own: DeviceRecord | undefined;
}

/**
 * The one comparison of identities: what follows from it, the gate, a step or a verdict says.
 *
 * @param id undefined where none is known, or ids identify nothing
 * @param keys the natural key that is expected, and others that it may have by now
 */
export function whose(
  { profile, keyField, records }: Listed,
  id: string | undefined,
  keys: readonly Value[],
): Whose {
  const index = RecordIndex.of(records);
  const byId = id === undefined ? [] : index.withId(profile, id);
  const byKey = [...new Set(keys.flatMap((key) => index.withValue(keyField, key)))];
  const own = byKey.find((record) => byId.includes(record));
  return { byId, byKey, own };
}

/** The records that a change may mean: by its key, as a name or an id, and by whom it means. Of an add, by its name. */
export function recordsNamed(listed: Listed, change: Change): readonly DeviceRecord[] {
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
  const { byKey } = whose(
    listed,
    undefined,
    names.filter((name) => name !== ''),
  );
  return [...new Set([...byKey, ...ids.flatMap((id) => whose(listed, id, []).byId)])];
}

type Sought = Pick<Step, 'action' | 'keyField' | 'resource'>;

/**
 * Finds the record of a step: by id and natural key, by id, or by natural key where a device may have given it another
 * id; nothing is deleted by its name alone. With positional ids: by natural key, and of several the one with the same
 * content.
 */
export function findRecord(
  profile: Profile,
  step: Sought,
  records: readonly DeviceRecord[],
  image: DeviceRecord,
): DeviceRecord | undefined {
  if (hasPositionalIds(profile)) return findByContent(profile, step, records, image);
  const { action, keyField } = step;
  const id = idOf(profile, image);
  const keys = [image[keyField] ?? null];
  const { byId, byKey, own } = whose({ profile, keyField, records }, id, keys);
  if (own !== undefined || byId.length > 1) return own;
  return byId[0] ?? (action === 'delete' && id !== undefined ? undefined : byKey[0]);
}

function findByContent(
  profile: Profile,
  step: Sought,
  records: readonly DeviceRecord[],
  image: DeviceRecord,
): DeviceRecord | undefined {
  const isKeyless = profile.idFields.includes(step.keyField);
  const named = isKeyless ? records : sameKey(step, records, image);
  const ignored = ignoredFields(profile, step.resource);
  const same = named.filter((record) => changesSince(image, record, ignored).length === 0);
  // If several have the same content, take the one whose position has not changed.
  const id = idOf(profile, image);
  const own = same.find((record) => idOf(profile, record) === id) ?? same[0];
  return own ?? (isKeyless ? undefined : named[0]);
}

export function sameKey(
  step: Pick<Step, 'keyField'>,
  records: readonly DeviceRecord[],
  image: DeviceRecord,
): readonly DeviceRecord[] {
  return RecordIndex.of(records).withValue(step.keyField, image[step.keyField] ?? null);
}

/** Index of the records of a reading: a file may change thousands of records on one device. */
export class RecordIndex {
  readonly #records: readonly DeviceRecord[];
  readonly #byField = new Map<string, FieldIndex>();
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
    // A record without a key has none, however the device says so.
    const isKeyless = valueText(value) === '';
    return records.filter((record) =>
      isKeyless ? valueText(record[field]) === '' : isStored(value, record[field]),
    );
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
