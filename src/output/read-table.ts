import {
  type DeviceRecord,
  type DeviceRef,
  isTimeStamp,
  type Value,
  valueAt,
  valueText,
} from '../device/record.ts';
import { maskedRecord } from '../device/sensitive-fields.ts';
import { foldRecords, type DeviceRecords, type FoldedRow } from '../fleet/fold.ts';
import { sortBy } from '../fleet/sort.ts';
import type { ReadOutput, View } from '../shell/output.ts';
import {
  columnsOf,
  columnTitle,
  fieldsOf,
  fieldText,
  hiddenText,
  idFieldsOf,
  keyFieldOf,
  nameText,
  readableColumnsOf,
  MOST_ON_SCREEN,
} from './cells.ts';
import { visible } from '../text/visible.ts';
import { sharedText } from './sentences/fleet.ts';
import type { LongTable, TextColumn } from './table-text.ts';
import { counted } from '../text/one-line.ts';

export interface ReadTable {
  readonly view: View;
  readonly rows: readonly FoldedRow[];
  readonly fields: readonly string[];
  readonly key: string;
  /** "41 records on 3 devices, 12 the same on all" */
  readonly footer: () => string;
}

/** Devices in the order of the selection, not of their responses. */
export function inSelectionOrder(outputs: readonly ReadOutput[]): ReadOutput[] {
  return [...outputs].sort((a, b) => (a.position ?? 0) - (b.position ?? 0));
}

/** As JSON gives them: sorted, cut to `--columns`, and without secrets; `get` has those. */
export function viewedRecords(
  { sort, columns }: View,
  records: readonly DeviceRecord[],
): readonly DeviceRecord[] {
  const sorted = sort ? sortBy(records, sort, (record, field) => valueAt(record, field)) : records;
  const shown = sorted.map((record) => maskedRecord(record));
  if (columns === undefined) return shown;
  return shown.map((record) =>
    Object.fromEntries(
      columns.flatMap((field) => {
        const value = Object.hasOwn(record, field) ? record[field] : undefined;
        return value === undefined ? [] : [[field, value]];
      }),
    ),
  );
}

/** Merges, folds and sorts what was read. `isTogether`: as on the screen, sorted by the key. */
export function readTable(
  asked: View,
  outputs: readonly ReadOutput[],
  isTogether = false,
): ReadTable {
  // More may have become known of a device while others were read.
  const perDevice = new Set(outputs.flatMap((output) => output.view.perDevice));
  const view = { ...asked, fold: asked.fold || isTogether, perDevice: [...perDevice] };
  const reads = inSelectionOrder(outputs).flatMap(({ device, outcome }): DeviceRecords[] =>
    outcome.ok ? [{ device, records: outcome.records }] : [],
  );
  const records = reads.flatMap((read) => read.records);
  const fields = fieldsOf(records);
  const key = keyFieldOf(view, fields);
  const total = Math.max(outputs.length, ...outputs.map((output) => output.total ?? 0));
  // Failed, or not answered yet.
  const unread = total - reads.length;
  let merged: readonly FoldedRow[] | undefined;
  const folded = (): readonly FoldedRow[] =>
    (merged ??= foldRecords(reads, key, view.perDevice, unread));
  const rows = view.fold
    ? folded()
    : reads.flatMap(({ device, records }) => single(device, records));
  const hidden = (): string => {
    const text = hiddenText(view, fields, idFieldsOf(view, fields, records));
    if (text === '') return '';
    return `, ${text}${view.recalled === undefined ? '' : ' (--columns auto shows them)'}`;
  };
  const sort = view.sort ?? (isTogether && key !== '' ? [key] : undefined);
  return {
    view,
    rows: sort ? sortBy(rows, sort, valueOf) : rows,
    fields: columnsOf(view, fields),
    key,
    footer: () => footer(folded(), reads.length, unread, records.length) + hidden(),
  };
}

function single(device: DeviceRef, records: readonly DeviceRecord[]): FoldedRow[] {
  const one = { devices: [device], differing: [], of: 1, unread: 0 };
  return records.map((record) => ({ ...one, record, records: [record] }));
}

/** A field of the record, or the value of the column DEVICE. */
export function valueOf({ record, devices }: FoldedRow, field: string): Value | undefined {
  if (Object.hasOwn(record, field)) return record[field];
  return field === 'device' ? devices.map(({ name }) => name).join(',') : undefined;
}

/** The cells, the note last. `isTty`: for a person, with the name first, no ids, and look-alikes told apart. */
export function readCells(table: ReadTable, isTty: boolean): LongTable {
  const { view, rows, key } = table;
  const records = rows.map(({ record }) => record);
  const fields = isTty ? readableColumnsOf(view, table.fields, records) : table.fields;
  const hasNotes = view.fold && rows.some(({ of, unread }) => of + unread > 1);
  const beside = <T>(device: T, cells: readonly T[]): T[] =>
    isTty ? [...cells, device] : [device, ...cells];
  const columns = beside<TextColumn>(
    { title: 'DEVICE', role: 'whole' },
    fields.map((field, index): TextColumn => ({
      title: columnTitle(field),
      role: view.perDevice.includes(field) ? 'id' : index === 0 ? 'key' : 'field',
    })),
  );
  if (hasNotes) columns.push({ title: 'NOTE', role: 'note' });
  const cellsOf = (row: FoldedRow): string[] => [
    ...beside(
      visible(row.devices.map(({ name }) => name).join(',')),
      fields.map((field) => {
        const isName = isTty && field === key;
        return isName
          ? nameText(key, row.record[key], MOST_ON_SCREEN)
          : rowText(row, field, view.perDevice.includes(field), isTty ? MOST_ON_SCREEN : undefined);
      }),
    ),
    ...(hasNotes ? [visible(foldNote(row, view.filtered))] : []),
  ];
  // One by one, so that the whole list never stands in memory twice.
  return { columns, rows: rows.values().map(cellsOf) };
}

/** A per-device field or a time has one text only if all devices of the row agree. */
export function rowText(
  row: FoldedRow,
  field: string,
  isPerDevice: boolean,
  most?: number,
): string {
  const value = valueAt(row.record, field);
  const text = fieldText(field, value, most);
  if (row.records.length === 1) return text;
  if (!isPerDevice && !isTimeStamp(value)) return text;
  const distinct = new Set(row.records.map((record) => valueText(valueAt(record, field))));
  return distinct.size === 1 ? text : `(${distinct.size} values)`;
}

function footer(
  rows: readonly FoldedRow[],
  read: number,
  unread: number,
  recordCount: number,
): string {
  const beside = unread === 0 ? '' : ` read, ${unread} not read`;
  const text = `${counted(recordCount, 'record')} on ${counted(read, 'device')}${beside}`;
  if (read < 2 || recordCount === 0) return text;
  const shared = rows.filter(({ devices, of }) => devices.length === of).length;
  return `${text}, ${shared} ${sharedText(read, unread)}`;
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
