import { foldRecords, type DeviceRecords, type FoldedRow } from '../../fleet/fold.ts';
import { sortBy } from '../../fleet/sort.ts';
import { columnsOf, fieldsOf, hiddenText, keyFieldOf } from '../../output/columns.ts';
import type { ReadOutput, View } from '../../shell/output.ts';
import { cellText } from '../../output/value.ts';
import { filterRows } from './filter-rows.ts';
import { memoized } from '../screen/memoized.ts';
import type { State, TableState } from '../state.ts';

/** The rows of the main table and what is counted about them. */
export interface TableRows {
  /** Folded or not, filtered, sorted. */
  readonly rows: readonly FoldedRow[];
  /** The same without the filter of `/`. */
  readonly all: readonly FoldedRow[];
  /** No record holds the words of the filter as they are typed: these look like them. */
  readonly isSimilar: boolean;
  readonly keyField: string;
  /** The fields in the order of their importance. */
  readonly fields: readonly string[];
  /** "3 fields hidden" by the columns of the last time; empty when none is. */
  readonly hidden: string;
  readonly recordCount: number;
  /** Records that all devices hold in the same way; undefined when only one device was read. */
  readonly sharedCount: number | undefined;
  readonly deviceCount: number;
  /** How many more the table is about that were not read, or not yet. */
  readonly unreadCount: number;
}

/** A record as its device holds it, or the value of the column DEVICE. */
export function valueOfRow({ record, devices }: FoldedRow, field: string) {
  if (Object.hasOwn(record, field)) return record[field];
  return field === 'device' ? devices.map(({ name }) => name).join(',') : undefined;
}

/** The natural key of a row as text. */
export function keyOfRow(row: FoldedRow, keyField: string): string {
  return cellText(row.record[keyField]);
}

/** One entry for each record that the row stands for, as in `TableState.marks`. */
export function marksOf(row: FoldedRow, keyField: string): string[] {
  const key = rawKeyOf(row.record, keyField);
  return row.devices.map(({ name }) => markOf(name, key));
}

export function markOf(device: string, key: string): string {
  return `${device}\n${key}`;
}

export function rawKeyOf(record: FoldedRow['record'], keyField: string): string {
  const value = record[keyField];
  return typeof value === 'string' ? value : cellText(value);
}

/** The devices that the table is about, in order. */
export function shownDevices({ table, fleet }: Pick<State, 'table' | 'fleet'>): readonly string[] {
  return table.scope ?? fleet.selected;
}

/** What the table is sorted by, most important first, as `--sort` has it: as typed by key, or as the line said. */
export function sortFields({ sort, view }: TableState, keyField: string): readonly string[] {
  return sort ?? view.sort ?? [keyField];
}

/** Folds, sorts and filters; computed anew only for what changed. Pure but for that memory. */
export function tableRows(state: Pick<State, 'table' | 'fleet'>): TableRows {
  const { table } = state;
  const { reads, view, isFolded, turnedRows } = table;
  const merged = mergedRows(reads, shownDevices(state), view, isFolded, turnedRows);
  const all = sortedRows(merged.rows, sortFields(table, merged.keyField));
  return withFilter(merged, all, filterRows(all, table.filter.applied));
}

type Merged = Omit<TableRows, 'isSimilar' | 'all'>;

/** The same object for the same parts, so that what is computed from it can be remembered, too. */
const withFilter = memoized(
  (
    merged: Merged,
    all: TableRows['all'],
    found: Pick<TableRows, 'rows' | 'isSimilar'>,
  ): TableRows => ({
    ...merged,
    all,
    rows: found.rows,
    isSimilar: found.isSimilar,
  }),
  ([merged, all, { rows, isSimilar }]) => [merged, all, rows, isSimilar],
);

const mergedRows = memoized(
  (
    reads: TableState['reads'],
    devices: readonly string[],
    view: View,
    isFolded: boolean,
    turnedRows: TableState['turnedRows'],
  ): Merged => {
    const answered = devices.flatMap((name): DeviceRecords[] => {
      const read: ReadOutput | undefined = reads.get(name);
      return read?.outcome.ok ? [{ device: read.device, records: read.outcome.records }] : [];
    });
    const records = answered.flatMap((read) => read.records);
    const keyField = keyFieldOf(view, fieldsOf(records));
    const unreadCount = devices.length - answered.length;
    const folded = foldRecords(answered, keyField, view.perDevice, unreadCount);
    const isWhole = (row: FoldedRow): boolean =>
      isFolded !== (turnedRows.size > 0 && turnedRows.has(rawKeyOf(row.record, keyField)));
    return {
      rows: folded.flatMap((row) => (isWhole(row) ? [row] : unfolded(row))),
      keyField,
      fields: columnsOf(view, records),
      hidden: hiddenText(view, records),
      recordCount: records.length,
      sharedCount:
        answered.length < 2
          ? undefined
          : folded.filter((row) => row.devices.length === row.of).length,
      deviceCount: answered.length,
      unreadCount,
    };
  },
);

/** One row for each device that holds the record; what differs is known all the same. */
function unfolded(row: FoldedRow): FoldedRow[] {
  return row.devices.map((device, index) => {
    const record = row.records[index] ?? row.record;
    return { ...row, devices: [device], record, records: [record] };
  });
}

const sortedRows = memoized(
  (rows: readonly FoldedRow[], fields: readonly string[]) => sortBy(rows, fields, valueOfRow),
  ([rows, fields]) => [rows, fields.join('\n')],
);
