import { type DeviceRecord, type DeviceRef, grouped, valueText } from '../device/record.ts';
import { type Comparison, comparisonBy } from './compared.ts';

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
  readonly of: number;
  /** The number of selected devices that were not read. */
  readonly unread: number;
}

/** A row that more devices may join. */
interface Group extends FoldedRow {
  readonly devices: DeviceRef[];
  readonly records: DeviceRecord[];
  differing: readonly string[];
}

const NONE: readonly string[] = [];

/** Merges equal records of several devices into one row (`comparedText`), in their order. `unread`: number of selected devices that were not read. */
export function foldRecords(
  reads: readonly DeviceRecords[],
  keyField: string,
  perDevice: readonly string[],
  unread = 0,
): FoldedRow[] {
  const comparison = comparisonBy(keyField, new Set(perDevice));
  const of = reads.length;
  const groups: Group[] = [];
  const known = new Map<string, Group>();
  for (const { device, records } of reads) {
    const counts = new Map<string, number>();
    const idOf = (record: DeviceRecord): string => {
      const content = comparison.content(record);
      const count = counts.get(content) ?? 0;
      counts.set(content, count + 1);
      // Merging two records of one device would hide one.
      return count === 0 ? content : `${count} ${content}`;
    };
    for (const record of records) {
      const id = of === 1 ? undefined : idOf(record);
      const same = id === undefined ? undefined : known.get(id);
      if (same !== undefined) {
        same.devices.push(device);
        same.records.push(record);
        continue;
      }
      const group = { devices: [device], record, records: [record], differing: NONE, of, unread };
      groups.push(group);
      if (id !== undefined) known.set(id, group);
    }
  }
  // A single object has no key: it is the same record on all devices. Other records without one are not compared.
  const named = keyField === '' ? groups : groups.filter(({ record }) => keyOf(record) !== '');
  for (const variants of grouped(named, ({ record }) => keyOf(record)).values())
    if (variants.length > 1) markDifferences(variants, comparison);
  return groups;

  function keyOf(record: DeviceRecord): string {
    return valueText(record[keyField]);
  }
}

function markDifferences(
  variants: readonly Pick<Group, 'record' | 'differing'>[],
  { counts, text }: Comparison,
): void {
  const variantRecords = variants.map(({ record }) => record);
  const first = variantRecords[0] ?? {};
  const all = [...new Set(variantRecords.flatMap((record) => Object.keys(record)))];
  const fields = all.filter((field) => {
    if (!counts(field)) return false;
    const own = text(first, field);
    return variantRecords.some((one) => text(one, field) !== own);
  });
  for (const group of variants) group.differing = fields;
}
