import { rememberedFor } from '../../text/remember.ts';
import { shortTime } from '../../text/time.ts';
import { isDated } from '../../fleet/compared.ts';
import { type DeviceRecords, Fold, type FoldedRow, foldRecords } from '../../fleet/fold.ts';
import { type DeviceRecord, grouped, valueAt } from '../../device/record.ts';
import { sortBy } from '../../fleet/sort.ts';
import {
  cellText,
  fieldsOf,
  hiddenText,
  keyFieldOf,
  readableColumnsOf,
} from '../../output/cells.ts';
import { valueOf } from '../../output/read-table.ts';
import type { View } from '../../shell/output.ts';
import { filterRows } from './filter.ts';
import { memoized } from '../store.ts';
import type { State } from '../state.ts';
import type { Marks, TableRead, TableState } from './table-state.ts';
import { pluralOf, someOf } from '../../text/one-line.ts';
import { visible } from '../../text/visible.ts';

export interface TableRows {
  /** The shown rows: folded or not, filtered or only the marked ones, sorted. */
  readonly rows: readonly FoldedRow[];
  /** All rows, without the filter of `/`. */
  readonly all: readonly FoldedRow[];
  /** Whether no record has the words of the filter as typed, so that these rows are only similar. */
  readonly isSimilar: boolean;
  readonly keyField: string;
  /** The fields, the most important first. */
  readonly fields: readonly string[];
  /** The fields with a value per device: ids, counters, times. */
  readonly own: ReadonlySet<string>;
  /** "3 fields hidden" by the column settings; empty if none is. */
  readonly hidden: string;
  /** A text about the fields that lists leave out; empty if none is a summary. */
  readonly omitted: string;
  readonly recordCount: number;
  /** Undefined with fewer than two devices that respond, or if a filter left out records. */
  readonly counts: ReturnType<typeof countsOf> | undefined;
  readonly deviceCount: number;
  /** The number of devices that were not read yet. */
  readonly unreadCount: number;
  /** Devices that do not respond now, with the time of their last read. */
  readonly stale: ReadonlyMap<string, Date | undefined>;
}

/** One entry for each record of the row, as in `TableChanges.fields`. */
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

export function shownDevices({ table, fleet }: Pick<State, 'table' | 'fleet'>): readonly string[] {
  return table.scope ?? fleet.selected;
}

/** Whether the last read of a device succeeded. */
export function isRead({ table }: Pick<State, 'table'>, name: string): boolean {
  return table.reads.get(name)?.outcome.ok === true;
}

/** Sort fields, most important first, as in `--sort`: chosen by key, or given by the line. */
export function sortFields({ sort, view }: TableState, keyField: string): readonly string[] {
  return sort ?? view.sort ?? [keyField];
}

/** The folded, sorted and filtered rows. Each part is cached, and computed again only after a change. */
export function tableRows(state: Pick<State, 'table' | 'fleet'>): TableRows {
  const { table } = state;
  const { reads, view, isFolded, filter } = table;
  const merged = mergedRows(reads, shownDevices(state), view, isFolded);
  const all = sortedRows(merged.rows, sortFields(table, merged.keyField));
  return withFilter(merged, all, filterRows(all, filter.applied));
}

type Merged = Omit<TableRows, 'isSimilar' | 'all'>;

/** Returns the same object for the same parts, so that results that depend on it stay cached. */
const withFilter = memoized(
  (
    merged: Merged,
    all: TableRows['all'],
    found: Pick<TableRows, 'rows' | 'isSimilar'>,
  ): TableRows => ({ ...merged, all, ...found }),
  ([merged, all, { rows, isSimilar }]) => [merged, all, rows, isSimilar],
);

interface Placed extends DeviceRecords {
  readonly place: number;
}

let lastFold: { fold: Fold; basis: string; reads: Map<number, Placed> } | undefined;

/** Returns the same rows if a new read has the same records, so that sorted and filtered rows stay cached, too. */
const foldedRows = memoized(foldOf, ([known, keyField, perDevice, unread]) => [
  ...[keyField, perDevice.join('\n'), unread, known.length],
  ...known.flatMap(({ device, records, place }) => [device.name, records, place]),
]);

/** Extends the last fold by the devices that have responded since. If the records of a device change, folds anew. */
function foldOf(
  known: readonly Placed[],
  keyField: string,
  perDevice: readonly string[],
  unread: number,
): FoldedRow[] {
  if (known.length < 2) {
    lastFold = undefined;
    return foldRecords(known, keyField, perDevice, unread);
  }
  const basis = JSON.stringify([keyField, perDevice]);
  const now = new Map(known.map((read) => [read.place, read]));
  const before = lastFold?.basis === basis ? lastFold : undefined;
  const isSame = ({ place, device, records }: Placed): boolean => {
    const read = now.get(place);
    return read?.records === records && read.device.name === device.name;
  };
  const canExtend = before !== undefined && [...before.reads.values()].every(isSame);
  const fold = canExtend ? before.fold : new Fold(keyField, perDevice);
  for (const read of known)
    if (!canExtend || !before.reads.has(read.place)) fold.add(read, read.place);
  lastFold = { fold, basis, reads: now };
  return fold.rows(unread);
}

const fieldsIn = rememberedFor(fieldsOf);

/** The number of records that are examined for time fields. */
const SAMPLE = 50;

const mergedRows = memoized(
  (
    reads: TableState['reads'],
    devices: readonly string[],
    view: View,
    isFolded: boolean,
  ): Merged => {
    const stale = new Map<string, Date | undefined>();
    const known = devices.flatMap((name, place): Placed[] => {
      const read = reads.get(name);
      if (read?.outcome.ok) return [{ device: read.device, records: read.outcome.records, place }];
      if (read?.last === undefined) return [];
      stale.set(name, read.last.at);
      return [{ device: read.device, records: read.last.records, place }];
    });
    const all = [...new Set(known.flatMap(({ records }) => fieldsIn(records)))];
    const keyField = keyFieldOf(view, all);
    // Dated fields always count as per device, so that columns do not move when the profile learns it.
    const sample: DeviceRecord[] = [];
    for (const { records } of known) {
      if (sample.length >= SAMPLE) break;
      sample.push(...records.slice(0, SAMPLE - sample.length));
    }
    const own = all.filter(
      (field) =>
        view.perDevice.includes(field) ||
        (field !== keyField && sample.some((record) => isDated(field, valueAt(record, field)))),
    );
    const unreadCount = devices.length - known.length;
    const folded = foldedRows(known, keyField, view.perDevice, unreadCount);
    return {
      rows: isFolded ? folded : folded.flatMap(unfolded),
      keyField,
      fields: readableColumnsOf({ ...view, perDevice: own }, all, sample),
      own: new Set(own),
      hidden: hiddenText(view, all),
      omitted: omittedText(devices.map((name) => reads.get(name)?.omits)),
      recordCount: known.reduce((sum, { records }) => sum + records.length, 0),
      counts:
        known.length < 2 || stale.size > 0 || keyField === '' || view.filtered === true
          ? undefined
          : countsOf(folded, keyField),
      deviceCount: known.length - stale.size,
      unreadCount,
      stale,
    };
  },
);

/** How many records are the same on all devices, differ, or are not on all devices, by their keys. */
function countsOf(rows: readonly FoldedRow[], keyField: string) {
  const same = rows.filter((row) => row.devices.length === row.of);
  const others = rows.filter((row) => row.devices.length !== row.of);
  const keyOf = ({ record }: FoldedRow): string => rawKeyOf(record, keyField);
  const differ = new Set(others.filter(({ differing }) => differing.length > 0).map(keyOf));
  const all = new Set(others.map(keyOf));
  return { same: same.length, differ: differ.size, partial: all.size - differ.size };
}

function omittedText(omits: readonly TableRead['omits'][]): string {
  const all = omits.filter((fields) => fields !== undefined);
  if (all.length === 0) return '';
  const fields = [...new Set(all.flat())].map((field) => visible(field));
  return `list omits ${fields.length === 0 ? 'fields' : someOf(fields)}`;
}

/** One row for each device that has the record; keeps the differing fields. */
function unfolded(row: FoldedRow): FoldedRow[] {
  return row.devices.map((device, index) => {
    const record = row.records[index] ?? row.record;
    return { ...row, devices: [device], record, records: [record] };
  });
}

const sortedRows = memoized(
  (rows: readonly FoldedRow[], fields: readonly string[]) => sortBy(rows, fields, valueOf),
  ([rows, fields]) => [rows, fields.join('\n')],
);

/* The age of records whose device does not respond now. */

type Stale = TableRows['stale'];

export function isStaleRow({ devices }: FoldedRow, stale: Stale): boolean {
  return stale.size > 0 && devices.every(({ name }) => stale.has(name));
}

/** A note about facts that no sign shows: `unmarked` fields that differ, and the age of stale records. */
export function noteOf(row: FoldedRow, stale: Stale, unmarked: readonly string[]): string {
  const differs = unmarked.length === 0 ? '' : `differs: ${visible(unmarked.join(', '))}`;
  return [differs, ageNote(row, stale)].filter((text) => text !== '').join('; ');
}

/** `as of 07:46`; `fw3 as of 07:46` if other devices respond; empty if all do. */
function ageNote(row: FoldedRow, stale: Stale): string {
  if (stale.size === 0) return '';
  const old = row.devices.map(({ name }) => name).filter((name) => stale.has(name));
  const [first] = old;
  if (first === undefined) return '';
  const what = asOfText(old.map((name) => stale.get(name)));
  if (old.length === row.devices.length) return what;
  return `${old.length === 1 ? visible(first) : `${old.length} devices`} ${what}`;
}

/** `3 as of 07:46`, for the title; empty if all devices respond. */
export function staleText(stale: Stale): string {
  return stale.size === 0 ? '' : `${stale.size} ${asOfText([...stale.values()])}`;
}

/** `users`, `users as of 03:00` */
export function tableName({ view, reads }: TableState): string {
  const name = visible(pluralOf(view.resource));
  const times = [...reads.values()].flatMap(({ past }) => (past ? [new Date(past.to)] : []));
  if (!view.isPast) return name;
  return `${name} ${times.length === 0 ? 'in the past' : asOfText(times)}`;
}

/** The oldest of these times. */
export function asOfText(times: readonly (Date | undefined)[]): string {
  const known = times.filter((time) => time !== undefined).sort((a, b) => Number(a) - Number(b));
  const [oldest] = known;
  return oldest === undefined ? 'as of before' : `as of ${shortTime(oldest)}`;
}

export function isMarkedRow(row: FoldedRow, keyField: string, marks: Marks): boolean {
  if (marks.size === 0) return false;
  const key = rawKeyOf(row.record, keyField);
  return row.devices.every(({ name }) => marks.get(name)?.has(key) === true);
}

/** Adds the rows to the marks, or removes them. */
export function withMarks(
  marks: Marks,
  rows: readonly FoldedRow[],
  keyField: string,
  isMarked: boolean,
): Marks {
  const changed = new Map<string, Set<string>>();
  for (const row of rows) {
    const key = rawKeyOf(row.record, keyField);
    for (const { name } of row.devices) {
      let keys = changed.get(name);
      if (keys === undefined) changed.set(name, (keys = new Set(marks.get(name))));
      if (isMarked) keys.add(key);
      else keys.delete(key);
    }
  }
  return new Map([...marks, ...changed].filter(([name]) => changed.get(name)?.size !== 0));
}

/** Counts of all marks, also of those that the filter hides. */
export function countMarks(state: Pick<State, 'table' | 'fleet'>): ReturnType<typeof counted> {
  const { marks } = state.table;
  if (marks.size === 0) return { names: 0, records: 0, devices: 0, hidden: 0 };
  const { all, rows, keyField } = tableRows(state);
  return counted(marks, rows, keyField, rows !== all);
}

const counted = memoized(
  (marks: Marks, rows: readonly FoldedRow[], keyField: string, isFiltered: boolean) => {
    const records = [...marks.values()].reduce((sum, keys) => sum + keys.size, 0);
    const names = new Set([...marks.values()].flatMap((keys) => [...keys]));
    const shown = new Set(
      isFiltered ? rows.map(({ record }) => rawKeyOf(record, keyField)) : names,
    );
    // A name may be marked on several devices. `hidden`: the names that the filter hides.
    const hidden = [...names].filter((name) => !shown.has(name)).length;
    return { names: names.size, records, devices: marks.size, hidden };
  },
);

/** Cached: details need it at each key. */
export const rowsByKey = memoized((all: readonly FoldedRow[], keyField: string) =>
  grouped(all, (row) => rawKeyOf(row.record, keyField)),
);
