import { matchesHaystack, prepareHaystack, type Filter, type Haystack } from '../fleet/filter.ts';
import { foldRecords, type DeviceRecords, type FoldedRow } from '../fleet/fold.ts';
import { sortBy } from '../fleet/sort.ts';
import { columnsOf, fieldsOf, hiddenText, keyFieldOf } from '../output/columns.ts';
import type { ReadOutput } from '../shell/output.ts';
import { cellText } from '../output/value.ts';
import type { State, TableState } from './state.ts';

/** The rows of the main table and what is counted about them. */
export interface TableRows {
  /** Folded or not, filtered, sorted. */
  readonly rows: readonly FoldedRow[];
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
  return row.devices.map(({ name }) => `${name}\n${key}`);
}

export function rawKeyOf(record: FoldedRow['record'], keyField: string): string {
  const value = record[keyField];
  return typeof value === 'string' ? value : cellText(value);
}

/** The devices that the table is about, in order. */
export function shownDevices({ table, fleet }: Pick<State, 'table' | 'fleet'>): readonly string[] {
  return table.scope ?? fleet.selected;
}

/** Folds, filters and sorts; computed anew only for what changed. Pure but for that memory. */
export function tableRows(state: Pick<State, 'table' | 'fleet'>): TableRows {
  const { table } = state;
  const merged = mergedRows(table.reads, shownDevices(state), table.view, table.isFolded);
  const { rows: filtered, isSimilar } = filteredRows(merged.rows, table.filter.parsed);
  const sort = table.sort;
  const rows = sortedRows(filtered, sort?.field ?? merged.keyField, sort?.isDown ?? false, table);
  return { ...merged, rows, isSimilar };
}

type Merged = Omit<TableRows, 'isSimilar'>;

const mergedRows = memoized(
  (
    reads: TableState['reads'],
    devices: readonly string[],
    view: TableState['view'],
    isFolded: boolean,
  ): Merged => {
    const answered = devices.flatMap((name): DeviceRecords[] => {
      const read: ReadOutput | undefined = reads.get(name);
      return read?.outcome.ok ? [{ device: read.device, records: read.outcome.records }] : [];
    });
    const records = answered.flatMap((read) => read.records);
    const keyField = keyFieldOf(view, fieldsOf(records));
    const folded = foldRecords(answered, keyField, view.perDevice);
    return {
      rows: isFolded ? folded : folded.flatMap(unfolded),
      keyField,
      fields: columnsOf(view, records),
      hidden: hiddenText(view, records),
      recordCount: records.length,
      sharedCount:
        answered.length < 2
          ? undefined
          : folded.filter((row) => row.devices.length === row.of).length,
      deviceCount: answered.length,
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

const filteredRows = memoized((rows: readonly FoldedRow[], filter: Filter) => {
  if (filter.terms.length === 0) return { rows, isSimilar: false };
  const exact = rows.filter((row) => matchesRow(row, exactly(filter)));
  if (exact.length > 0) return { rows: exact, isSimilar: false };
  const similar = rows.filter((row) => matchesRow(row, filter));
  return { rows: similar, isSimilar: similar.length > 0 };
});

function exactly({ terms }: Filter): Filter {
  return {
    terms: terms.map((term) => (term.kind === 'word' ? { ...term, isFuzzy: false } : term)),
  };
}

const haystacks = new WeakMap<FoldedRow, readonly Haystack[]>();

/** A row matches when it does on one of its devices. */
function matchesRow(row: FoldedRow, filter: Filter): boolean {
  let prepared = haystacks.get(row);
  if (prepared === undefined) {
    const names = row.devices.map(({ name }) => name);
    const each = names.length > 1 ? names : [];
    prepared = [names.join(' '), ...each].map((name) => prepareHaystack(row.record, name));
    haystacks.set(row, prepared);
  }
  return prepared.some((haystack) => matchesHaystack(filter, haystack));
}

const sortedRows = memoized(
  (
    rows: readonly FoldedRow[],
    field: string,
    isDown: boolean,
    { view, sort }: Pick<TableState, 'view' | 'sort'>,
  ) => {
    const fields = sort === undefined && view.sort ? view.sort : [`${isDown ? '-' : ''}${field}`];
    return sortBy(rows, fields, valueOfRow);
  },
  ([rows, field, isDown, { view, sort }]) => [rows, field, isDown, view, sort],
);

/**
 * Remembers the last two results, for the state before a change and after it. What did not change is
 * the same object in both, so identity tells.
 */
function memoized<A extends readonly unknown[], R>(
  compute: (...args: A) => R,
  keysOf: (args: A) => readonly unknown[] = (args) => args,
): (...args: A) => R {
  let known: readonly { keys: readonly unknown[]; result: R }[] = [];
  return (...args) => {
    const keys = keysOf(args);
    const found = known.find((entry) => keys.every((key, index) => key === entry.keys[index]));
    if (found !== undefined) return found.result;
    const entry = { keys, result: compute(...args) };
    known = [entry, ...known.slice(0, 1)];
    return entry.result;
  };
}
