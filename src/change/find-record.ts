import { hasPositionalIds, idOf, type Profile, uncomparedFields } from '../device/profile.ts';
import { type DeviceRecord, grouped, type Value } from '../device/record.ts';
import { changesSince, comparable, isSameValue } from './compare.ts';
import type { Step } from './plan.ts';

/**
 * The record that a step is about: by id where there is one, else by natural key. Of several with one
 * id it is the one with the natural key as well. Where an id is only a place in the list, it is the one
 * with the natural key, of several the one with the same content.
 */
export function find(
  profile: Profile,
  step: Step,
  records: readonly DeviceRecord[],
  image: DeviceRecord,
): DeviceRecord | undefined {
  if (hasPositionalIds(profile)) return findByContent(profile, step, records, image);
  const id = idOf(profile, image);
  const byKey = sameKey(step, records, image);
  if (id === undefined) return byKey[0];
  const byId = RecordIndex.of(records).withId(profile, id);
  const byBoth = sameKey(step, byId, image)[0];
  if (byBoth !== undefined || byId.length > 1) return byBoth;
  return byId[0] ?? (step.action === 'delete' ? undefined : byKey[0]);
}

function findByContent(
  profile: Profile,
  step: Step,
  records: readonly DeviceRecord[],
  image: DeviceRecord,
): DeviceRecord | undefined {
  const isKeyless = profile.idFields.includes(step.keyField);
  const named = isKeyless ? records : sameKey(step, records, image);
  const ignored = uncomparedFields(profile, step.resource);
  const same = named.filter((record) => changesSince(image, record, ignored).length === 0);
  // Where several are the same in all, the one that still has its place is the one that is meant.
  const id = idOf(profile, image);
  const own = same.find((record) => idOf(profile, record) === id) ?? same[0];
  return own ?? (isKeyless ? undefined : named[0]);
}

/** All records with the natural key that `image` has. */
export function sameKey(
  step: Step,
  records: readonly DeviceRecord[],
  image: DeviceRecord,
): readonly DeviceRecord[] {
  return RecordIndex.of(records).holding(step.keyField, image[step.keyField] ?? null);
}

/**
 * Finds records of one reading without looking at each of them for each question: a file may change
 * thousands on one device.
 */
export class RecordIndex {
  readonly #records: readonly DeviceRecord[];
  readonly #byField = new Map<string, FieldIndex>();
  readonly #byId = new WeakMap<Profile, ReadonlyMap<string, readonly DeviceRecord[]>>();

  /** The index of a reading, made once: what was read does not change. */
  static of(records: readonly DeviceRecord[]): RecordIndex {
    const index = indexes.get(records) ?? new RecordIndex(records);
    indexes.set(records, index);
    return index;
  }

  private constructor(records: readonly DeviceRecord[]) {
    this.#records = records;
  }

  /** The records whose field holds this, as `isSameValue` has it; in the order of the reading. */
  holding(field: string, value: Value): readonly DeviceRecord[] {
    const index = this.#byField.get(field) ?? indexBy(this.#records, field);
    this.#byField.set(field, index);
    if (index.hasOnlyTexts && isPlain(value)) return index.records.get(comparable(value)) ?? [];
    return this.#records.filter((record) => isSameValue(value, record[field]));
  }

  withId(profile: Profile, id: string): readonly DeviceRecord[] {
    let index = this.#byId.get(profile);
    if (index === undefined) {
      index = grouped(this.#records, (record) => idOf(profile, record));
      this.#byId.set(profile, index);
    }
    return index.get(id) ?? [];
  }
}

const indexes = new WeakMap<readonly DeviceRecord[], RecordIndex>();

interface FieldIndex {
  readonly records: ReadonlyMap<string, readonly DeviceRecord[]>;
  /** Booleans and nested values are the same as others in more ways than one text tells. */
  readonly hasOnlyTexts: boolean;
}

function indexBy(records: readonly DeviceRecord[], field: string): FieldIndex {
  return {
    records: grouped(records, (record) => comparable(record[field] ?? null)),
    hasOnlyTexts: records.every((record) => isPlain(record[field] ?? null)),
  };
}

function isPlain(value: Value): boolean {
  return typeof value !== 'boolean' && (typeof value !== 'object' || value === null);
}
