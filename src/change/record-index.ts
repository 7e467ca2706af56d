import { idOf, type Profile } from '../device/profile.ts';
import type { DeviceRecord, Value } from '../device/record.ts';
import { comparable, isSameValue } from './compare.ts';

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

function grouped(
  records: readonly DeviceRecord[],
  nameOf: (record: DeviceRecord) => string | undefined,
): ReadonlyMap<string, readonly DeviceRecord[]> {
  const groups = new Map<string, DeviceRecord[]>();
  for (const record of records) {
    const name = nameOf(record);
    if (name === undefined) continue;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [record]);
    else group.push(record);
  }
  return groups;
}
