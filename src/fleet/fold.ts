import { type DeviceRecord, type DeviceRef, grouped, valueText } from '../device/record.ts';
import { type Comparison, comparisonBy } from './compared.ts';

export interface DeviceRecords {
  readonly device: DeviceRef;
  readonly records: readonly DeviceRecord[];
}

/** One record and all devices that have it with the same content. */
export interface FoldedRow {
  readonly devices: readonly DeviceRef[];
  /** The record of the first device. */
  readonly record: DeviceRecord;
  /** The record of each device. Per-device fields may differ. */
  readonly records: readonly DeviceRecord[];
  /** The fields in which records with this key differ between devices. */
  readonly differing: readonly string[];
  readonly of: number;
  /** The number of selected devices that were not read. */
  readonly unread: number;
}

/** Equal records of several devices, in device order. */
interface Group {
  devices: DeviceRef[];
  records: DeviceRecord[];
  /** A returned row shares the two arrays, so they must be copied before a change. */
  isShared: boolean;
  differing: readonly string[];
  /** Position of the first record: the place of its device, and its index there. */
  place: number;
  at: number;
  newest: DeviceRef;
  /** The group of a second record with the same content on one device. If merged, one of the two would be hidden. */
  next: Group | undefined;
  /** All groups with the same key; undefined without a key. */
  variants: Group[] | undefined;
}

const NONE: readonly string[] = [];

/** Merges equal records of several devices into one row (`comparedText`), in the order of their places. */
export class Fold {
  readonly #keyField: string;
  readonly #comparison: Comparison;
  readonly #places = new Map<DeviceRef, number>();
  readonly #groups: Group[] = [];
  readonly #byContent = new Map<string, Group>();
  readonly #byKey = new Map<string, Group[]>();
  /** Groups whose differences must be computed again. */
  readonly #changed = new Set<Group[]>();

  constructor(keyField: string, perDevice: readonly string[]) {
    this.#keyField = keyField;
    this.#comparison = comparisonBy(keyField, new Set(perDevice));
  }

  /** @param place the unique position of the device among the others */
  add({ device, records }: DeviceRecords, place: number): void {
    this.#places.set(device, place);
    const devices: [DeviceRef] = [device];
    for (const [at, record] of records.entries()) {
      const content = this.#comparison.content(record);
      let before: Group | undefined;
      let group = this.#byContent.get(content);
      while (group?.newest === device) [before, group] = [group, group.next];
      if (group !== undefined) {
        this.#join(group, device, record, at);
        continue;
      }
      const created = this.#begin(devices, record, at);
      if (before === undefined) this.#byContent.set(content, created);
      else before.next = created;
    }
  }

  /** @param unread number of selected devices that were not added */
  rows(unread: number): FoldedRow[] {
    this.#groups.sort(byPlace);
    for (const variants of this.#changed) {
      markDifferences(variants.sort(byPlace), this.#comparison);
    }
    this.#changed.clear();
    const of = this.#places.size;
    return this.#groups.map((group) => {
      group.isShared = true;
      const { devices, records, differing } = group;
      return { devices, record: records[0] ?? {}, records, differing, of, unread };
    });
  }

  /** @param devices a list with the device, which all groups of it share */
  #begin(devices: [DeviceRef], record: DeviceRecord, at: number): Group {
    const [device] = devices;
    const group: Group = {
      devices,
      records: [record],
      isShared: true,
      differing: NONE,
      place: this.#placeOf(device),
      at,
      newest: device,
      next: undefined,
      variants: undefined,
    };
    this.#groups.push(group);
    const key = valueText(record[this.#keyField]);
    // A single object has no key: it is the same record on all devices.
    if (key === '' && this.#keyField !== '') return group;
    group.variants = this.#byKey.get(key);
    if (group.variants === undefined) {
      this.#byKey.set(key, (group.variants = [group]));
    } else {
      group.variants.push(group);
      this.#changed.add(group.variants);
    }
    return group;
  }

  #join(group: Group, device: DeviceRef, record: DeviceRecord, at: number): void {
    const place = this.#placeOf(device);
    let [index, end] = [0, group.devices.length];
    while (index < end) {
      const middle = (index + end) >> 1;
      if (this.#placeOf(group.devices[middle]) > place) end = middle;
      else index = middle + 1;
    }
    if (group.isShared) {
      group.devices = [...group.devices];
      group.records = [...group.records];
      group.isShared = false;
    }
    group.devices.splice(index, 0, device);
    group.records.splice(index, 0, record);
    group.newest = device;
    if (index > 0) return;
    Object.assign(group, { place, at });
    if (group.variants !== undefined && group.variants.length > 1)
      this.#changed.add(group.variants);
  }

  #placeOf(device: DeviceRef | undefined): number {
    return (device && this.#places.get(device)) ?? -1;
  }
}

function byPlace(a: Group, b: Group): number {
  return a.place - b.place || a.at - b.at;
}

/** @param unread the number of selected devices that were not read */
export function foldRecords(
  reads: readonly DeviceRecords[],
  keyField: string,
  perDevice: readonly string[],
  unread = 0,
): FoldedRow[] {
  const [only, ...others] = reads;
  if (only !== undefined && others.length === 0) return rowsOf(only, keyField, perDevice, unread);
  const fold = new Fold(keyField, perDevice);
  for (const [place, read] of reads.entries()) fold.add(read, place);
  return fold.rows(unread);
}

/** The rows of the only device that was read. Compares only records with the same key. */
function rowsOf(
  { device, records }: DeviceRecords,
  keyField: string,
  perDevice: readonly string[],
  unread: number,
): FoldedRow[] {
  const devices = [device];
  const rows = records.map((record) => {
    return { devices, record, records: [record], differing: NONE, of: 1, unread };
  });
  const keyOf = ({ record }: FoldedRow): string => valueText(record[keyField]);
  const keys = new Set<string>();
  const repeated = new Set<string>();
  for (const row of rows) {
    const key = keyOf(row);
    if (keys.has(key)) repeated.add(key);
    else keys.add(key);
  }
  if (keyField !== '') repeated.delete('');
  if (repeated.size === 0) return rows;
  const variants = grouped(rows, (row) => (repeated.has(keyOf(row)) ? keyOf(row) : undefined));
  const comparison = comparisonBy(keyField, new Set(perDevice));
  for (const same of variants.values()) markDifferences(same, comparison);
  return rows;
}

function markDifferences(
  variants: readonly Pick<Group, 'records' | 'differing'>[],
  { counts, text }: Comparison,
): void {
  const variantRecords = variants.map(({ records }) => records[0] ?? {});
  const first = variantRecords[0] ?? {};
  const all = [...new Set(variantRecords.flatMap((record) => Object.keys(record)))];
  const fields = all.filter((field) => {
    if (!counts(field)) return false;
    const own = text(first, field);
    return variantRecords.some((one) => text(one, field) !== own);
  });
  for (const group of variants) group.differing = fields;
}
