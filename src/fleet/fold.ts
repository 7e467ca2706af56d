import type { DeviceRecord, DeviceRef } from '../device/record.ts';
import { valueText } from '../device/value-text.ts';
import { valueAt } from '../value-at.ts';
import { comparedText, isCompared } from './compared.ts';

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
  /** How many more are meant, of which nothing is known. */
  readonly unread: number;
}

interface Row extends FoldedRow {
  readonly devices: DeviceRef[];
  readonly records: DeviceRecord[];
  differing: readonly string[];
}

const NONE: readonly string[] = [];

/**
 * Merges the records of several devices: what is equal becomes one row, in the order of first
 * appearance, compared by `comparedText`. Fields in `perDevice` (ids, counters), secrets and points in
 * time count neither way.
 *
 * @param unread how many devices are meant beside those that were read
 */
export function foldRecords(
  reads: readonly DeviceRecords[],
  keyField: string,
  perDevice: readonly string[],
  unread = 0,
): FoldedRow[] {
  const rows: Row[] = [];
  const byContent = new Map<string, Row>();
  const byKey = new Map<string, Row[]>();
  // Records of one device are never merged: there is nothing to be compared.
  const skipped = new Set(perDevice);
  const contentOf = reads.length < 2 ? undefined : contentReader(keyField, skipped);

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
        unread,
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
    if (variants.length > 1) markDifferences(variants, keyField, skipped);
  }
  return rows;
}

/**
 * What to say about a row beside its fields; empty when all devices hold the same. Of devices that were
 * not read it says that they were not, and nothing else.
 */
export function foldNote(row: FoldedRow, isFiltered = false): string {
  const { devices, differing, of, unread } = row;
  if (differing.length > 0) return `differs: ${differing.join(', ')}`;
  const isAlone = devices.length === 1;
  if (unread > 0 && of > 1 && devices.length >= of) return sharedText(of, unread);
  if (unread === 0 && devices.length >= of) return '';
  // A filter may have hidden the same key on another device: its absence is not known.
  const prefix = isFiltered ? 'matches ' : '';
  if (isAlone) return prefix + (unread === 0 ? 'only here' : `here; ${unread} not read`);
  return `${prefix}on ${devices.length} of ${of}${unread === 0 ? '' : ' read'}`;
}

/** "the same on all", as far as it is known. */
export function sharedText(of: number, unread: number): string {
  return unread === 0 ? 'the same on all' : `same on the ${of} read`;
}

/** One string for all that must be equal; lengths keep the parts apart whatever they contain. */
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
  variants: readonly Row[],
  keyField: string,
  perDevice: ReadonlySet<string>,
): void {
  const first = variants[0]?.record ?? {};
  const all = [...new Set(variants.flatMap(({ record }) => Object.keys(record)))];
  const fields = all.filter((field) => {
    if (!isCompared(field, keyField, perDevice)) return false;
    const text = comparedText(field, valueAt(first, field), perDevice);
    return variants.some(
      ({ record }) => comparedText(field, valueAt(record, field), perDevice) !== text,
    );
  });
  for (const row of variants) row.differing = fields;
}
