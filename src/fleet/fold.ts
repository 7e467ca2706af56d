import { type DeviceRecord, type DeviceRef, valueAt, valueText } from '../device/record.ts';
import { comparedText, isCompared } from './compared.ts';

export interface DeviceRecords {
  readonly device: DeviceRef;
  readonly records: readonly DeviceRecord[];
}

/** One record and all devices that have it with the same content. */
export interface FoldedRow {
  readonly devices: readonly DeviceRef[];
  /** From the first of the devices. */
  readonly record: DeviceRecord;
  /** From each of the devices; per-device fields may differ. */
  readonly records: readonly DeviceRecord[];
  /** The fields in which records with this key differ between devices. */
  readonly differing: readonly string[];
  /** The number of devices that were read. */
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
  /** Another record with the same content on one device: merging the two would hide one. */
  next: Group | undefined;
  /** All groups with the same key; undefined without a key. */
  readonly variants: Group[] | undefined;
}

const NONE: readonly string[] = [];

/**
 * Merges the records of several devices: equal ones become one row, compared by `comparedText`. Ignores
 * `perDevice` fields (ids, counters), secrets and timestamps. Devices can be added as they respond: rows
 * are in the order of their places.
 */
export class Fold {
  readonly #keyField: string;
  readonly #perDevice: ReadonlySet<string>;
  readonly #contentOf: ((record: DeviceRecord) => string) | undefined;
  readonly #places = new Map<DeviceRef, number>();
  readonly #groups: Group[] = [];
  readonly #byContent = new Map<string, Group>();
  readonly #byKey = new Map<string, Group[]>();
  /** Groups whose differences must be computed again. */
  readonly #changed = new Set<Group[]>();

  /** @param isAlone no second device follows, so nothing is compared */
  constructor(keyField: string, perDevice: readonly string[], isAlone = false) {
    this.#keyField = keyField;
    this.#perDevice = new Set(perDevice);
    this.#contentOf = isAlone ? undefined : contentReader(keyField, this.#perDevice);
  }

  /** @param place the unique position of the device among the others */
  add({ device, records }: DeviceRecords, place: number): void {
    this.#places.set(device, place);
    for (const [at, record] of records.entries()) {
      const content = this.#contentOf?.(record);
      let before: Group | undefined;
      let group = content === undefined ? undefined : this.#byContent.get(content);
      while (group?.newest === device) [before, group] = [group, group.next];
      if (group !== undefined) {
        this.#join(group, device, record, at);
        continue;
      }
      const created = this.#begin(device, record, at);
      if (before !== undefined) before.next = created;
      else if (content !== undefined) this.#byContent.set(content, created);
    }
  }

  /** @param unread number of selected devices that were not added */
  rows(unread: number): FoldedRow[] {
    this.#groups.sort(byPlace);
    for (const variants of this.#changed) {
      markDifferences(variants.sort(byPlace), this.#keyField, this.#perDevice);
    }
    this.#changed.clear();
    const of = this.#places.size;
    return this.#groups.map((group) => {
      group.isShared = true;
      const { devices, records, differing } = group;
      return { devices, record: records[0] ?? {}, records, differing, of, unread };
    });
  }

  #begin(device: DeviceRef, record: DeviceRecord, at: number): Group {
    const variants = this.#variantsOf(record);
    const group: Group = {
      devices: [device],
      records: [record],
      isShared: false,
      differing: NONE,
      place: this.#placeOf(device),
      at,
      newest: device,
      next: undefined,
      variants,
    };
    this.#groups.push(group);
    variants?.push(group);
    if (variants !== undefined && variants.length > 1) this.#changed.add(variants);
    return group;
  }

  #variantsOf(record: DeviceRecord): Group[] | undefined {
    const key = valueText(record[this.#keyField]);
    // A single object has no key: it is the same record on all devices.
    if (key === '' && this.#keyField !== '') return undefined;
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const variants: Group[] = [];
    this.#byKey.set(key, variants);
    return variants;
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

/** `unread`: number of selected devices that were not read. */
export function foldRecords(
  reads: readonly DeviceRecords[],
  keyField: string,
  perDevice: readonly string[],
  unread = 0,
): FoldedRow[] {
  const fold = new Fold(keyField, perDevice, reads.length < 2);
  for (const [place, read] of reads.entries()) fold.add(read, place);
  return fold.rows(unread);
}

/** The note beside a row; empty if all devices have the same. States only the number of unread devices. */
export function foldNote(row: FoldedRow, isFiltered = false): string {
  const { devices, differing, of, unread } = row;
  if (differing.length > 0) return `differs: ${differing.join(', ')}`;
  const isAlone = devices.length === 1;
  if (unread > 0 && of > 1 && devices.length >= of) return sharedText(of, unread);
  if (unread === 0 && devices.length >= of) return '';
  // A filter may have hidden the same key on another device.
  const prefix = isFiltered ? 'matches ' : '';
  if (isAlone) return prefix + (unread === 0 ? 'only here' : `here; ${unread} not read`);
  return `${prefix}on ${devices.length} of ${of}${unread === 0 ? '' : ' read'}`;
}

/** "the same on all", if all were read. */
export function sharedText(of: number, unread: number): string {
  return unread === 0 ? 'the same on all' : `same on ${of} read`;
}

/** One string of everything that must be equal; lengths separate the parts. */
function contentReader(
  keyField: string,
  perDevice: ReadonlySet<string>,
): (record: DeviceRecord) => string {
  let shape: readonly string[] = [];
  let compared: readonly string[] = [];
  return (record) => {
    const fields = Object.keys(record);
    // Records of one device mostly have the same fields in the same order.
    if (fields.length !== shape.length || fields.some((field, index) => field !== shape[index])) {
      shape = fields;
      compared = fields.filter((field) => isCompared(field, keyField, perDevice)).sort();
    }
    let content = '';
    for (const field of compared) {
      const text = comparedText(field, record[field], perDevice);
      if (text !== '') content += `${field}=${text.length}:${text};`;
    }
    return content;
  };
}

function markDifferences(
  variants: readonly Group[],
  keyField: string,
  perDevice: ReadonlySet<string>,
): void {
  const variantRecords = variants.map(({ records }) => records[0] ?? {});
  const first = variantRecords[0] ?? {};
  const all = [...new Set(variantRecords.flatMap((record) => Object.keys(record)))];
  const fields = all.filter((field) => {
    if (!isCompared(field, keyField, perDevice)) return false;
    const text = comparedText(field, valueAt(first, field), perDevice);
    return variantRecords.some(
      (one) => comparedText(field, valueAt(one, field), perDevice) !== text,
    );
  });
  for (const group of variants) group.differing = fields;
}
