import type { DeviceRecord, DeviceRef } from '../device/record.ts';
import { isTimeStamp, valueText } from '../device/value-text.ts';
import { valueAt } from '../value-at.ts';

/** The records of one device that was read. */
export interface DeviceRecords {
  readonly device: DeviceRef;
  readonly records: readonly DeviceRecord[];
}

/** One record and all devices that hold it with the same content. */
export interface FoldedRow {
  readonly devices: readonly DeviceRef[];
  /** As the first of the devices holds it. */
  readonly record: DeviceRecord;
  /** As each of the devices holds it: they may differ in the fields that are per device. */
  readonly records: readonly DeviceRecord[];
  /** The fields in which records with the same key differ from device to device. */
  readonly differing: readonly string[];
  /** The number of devices that were read. */
  readonly of: number;
}

interface Row extends FoldedRow {
  readonly devices: DeviceRef[];
  readonly records: DeviceRecord[];
  differing: readonly string[];
}

const NONE: readonly string[] = [];

/**
 * Merges the records of several devices: what is equal becomes one row, in the order of first
 * appearance. Values are equal when their text is, so `true` and `"true"`, or an empty and a missing
 * field, are no difference. Fields in `perDevice` (id, token) and points in time count neither way.
 */
export function foldRecords(
  reads: readonly DeviceRecords[],
  keyField: string,
  perDevice: readonly string[],
): FoldedRow[] {
  const rows: Row[] = [];
  const byContent = new Map<string, Row>();
  const byKey = new Map<string, Row[]>();
  // Records of one device are never merged: there is nothing to be compared.
  const contentOf = reads.length < 2 ? undefined : contentReader(new Set(perDevice));

  for (const { device, records } of reads) {
    for (const record of records) {
      const content = contentOf?.(record);
      const equal = content === undefined ? undefined : byContent.get(content);
      // Two equal records on one device are two rows: merging them would hide one.
      if (equal && equal.devices.at(-1) !== device) {
        equal.devices.push(device);
        equal.records.push(record);
        continue;
      }
      const row: Row = {
        devices: [device],
        record,
        records: [record],
        differing: NONE,
        of: reads.length,
      };
      rows.push(row);
      if (content !== undefined) byContent.set(content, row);
      const key = valueText(record[keyField]);
      // A single object has no key: those of all devices are one and the same.
      if (key === '' && keyField !== '') continue;
      const sameKey = byKey.get(key);
      if (sameKey) sameKey.push(row);
      else byKey.set(key, [row]);
    }
  }

  for (const variants of byKey.values()) {
    if (variants.length > 1) markDifferences(variants, perDevice);
  }
  return rows;
}

/** What to say about a row beside its fields; empty when all devices hold the same. */
export function foldNote(row: FoldedRow, isFiltered = false): string {
  if (row.differing.length > 0) return `differs: ${row.differing.join(', ')}`;
  if (row.devices.length >= row.of) return '';
  // A filter may have hidden the same key on another device: its absence is not known.
  const prefix = isFiltered ? 'matches ' : '';
  if (row.devices.length === 1) return `${prefix}only here`;
  return `${prefix}on ${row.devices.length} of ${row.of}`;
}

/** One string for all that must be equal; lengths keep the parts apart whatever they contain. */
function contentReader(perDevice: ReadonlySet<string>): (record: DeviceRecord) => string {
  let shape: readonly string[] = [];
  let compared: readonly string[] = [];
  return (record) => {
    const fields = Object.keys(record);
    // Records of one device mostly have the same fields in the same order.
    if (fields.length !== shape.length || fields.some((field, index) => field !== shape[index])) {
      shape = fields;
      compared = fields.filter((field) => !perDevice.has(field)).sort();
    }
    let content = '';
    for (const field of compared) {
      const text = isTimeStamp(record[field]) ? 'time' : valueText(record[field]);
      if (text !== '') content += `${field}=${text.length}:${text};`;
    }
    return content;
  };
}

function markDifferences(variants: readonly Row[], perDevice: readonly string[]): void {
  const differing = new Set<string>();
  const first = variants[0]?.record ?? {};
  for (const { record } of variants) {
    for (const field of new Set([...Object.keys(first), ...Object.keys(record)])) {
      const [a, b] = [valueAt(first, field), valueAt(record, field)];
      if (isTimeStamp(a) && isTimeStamp(b)) continue;
      if (valueText(a) !== valueText(b)) differing.add(field);
    }
  }
  const fields = [...differing].filter((field) => !perDevice.includes(field));
  for (const row of variants) row.differing = fields;
}
