import type { FoldedRow } from '../../fleet/fold.ts';
import type { ReadOutput } from '../../shell/output.ts';
import { memoized } from '../screen/memoized.ts';
import { NO_FILTER, type State, type TableState } from '../state.ts';
import { markOf, marksOf, rawKeyOf, tableRows } from './rows.ts';

export function isMarkedRow(row: FoldedRow, keyField: string, marks: ReadonlySet<string>): boolean {
  return marks.size > 0 && marksOf(row, keyField).every((mark) => marks.has(mark));
}

/** Space: a range that is open is kept as it is; otherwise the row is marked, or no longer. */
export function toggleMark(state: State): TableState {
  const { table } = state;
  if (table.range !== undefined) return { ...table, range: undefined };
  const { rows, keyField } = tableRows(state);
  const row = rows[table.cursor];
  if (row === undefined) return table;
  const marks = new Set(table.marks);
  const isMarked = isMarkedRow(row, keyField, marks);
  for (const one of marksOf(row, keyField)) {
    if (isMarked) marks.delete(one);
    else marks.add(one);
  }
  return { ...table, marks, cursor: table.cursor + 1 };
}

/** All rows shown, besides those that were marked; none of them where all were. */
export function toggleAll(state: State): TableState {
  const { rows, keyField } = tableRows(state);
  const marks = new Set(state.table.marks);
  const shown = rows.flatMap((row) => marksOf(row, keyField));
  const isAll = shown.length > 0 && shown.every((one) => marks.has(one));
  for (const one of shown) {
    if (isAll) marks.delete(one);
    else marks.add(one);
  }
  return { ...state.table, marks, range: undefined };
}

/** Marks the rows shown that were not marked, and the other way round; what is filtered out stays. */
export function invertMarks(state: State): TableState {
  const { rows, keyField } = tableRows(state);
  const marks = new Set(state.table.marks);
  for (const row of rows) {
    const isMarked = isMarkedRow(row, keyField, state.table.marks);
    for (const one of marksOf(row, keyField)) {
      if (isMarked) marks.delete(one);
      else marks.add(one);
    }
  }
  return { ...state.table, marks, range: undefined };
}

/** `v`: from here on the cursor marks what it passes; again: that is all. */
export function toggleRange(state: State): TableState {
  const { table } = state;
  if (table.range !== undefined) return { ...table, range: undefined };
  return extendRange(state, { ...table, range: { from: table.cursor, before: table.marks } });
}

/** Marks what lies between the start of the range and the cursor. */
export function extendRange(state: State, table: TableState): TableState {
  const { range } = table;
  if (range === undefined) return table;
  const { rows, keyField } = tableRows({ ...state, table });
  const marks = new Set(range.before);
  const cursor = Math.max(0, Math.min(table.cursor, rows.length - 1));
  const [first, last] = [Math.min(range.from, cursor), Math.max(range.from, cursor)];
  for (const row of rows.slice(first, last + 1)) {
    for (const one of marksOf(row, keyField)) marks.add(one);
  }
  return { ...table, marks };
}

/** Marks of records that are gone would be deleted by nobody's wish. Other devices say nothing of them. */
export function dropLostMarks(state: State, reads: readonly ReadOutput[]): TableState {
  const { table } = state;
  if (table.marks.size === 0) return table;
  const { keyField } = tableRows({ ...state, table: { ...table, filter: NO_FILTER } });
  const answered = new Set<string>();
  const held = new Set<string>();
  for (const { device, outcome } of reads) {
    if (!outcome.ok) continue;
    answered.add(device.name);
    for (const record of outcome.records) held.add(markOf(device.name, rawKeyOf(record, keyField)));
  }
  const marks = [...table.marks].filter(
    (mark) => held.has(mark) || !answered.has(mark.slice(0, mark.indexOf('\n'))),
  );
  return marks.length === table.marks.size ? table : { ...table, marks: new Set(marks) };
}

/** What is marked, filtered out or not. */
export interface MarkCount {
  readonly rows: number;
  /** A folded row stands for one on each of its devices. */
  readonly records: number;
  readonly devices: number;
}

export function countMarks(state: Pick<State, 'table' | 'fleet'>): MarkCount {
  const { marks } = state.table;
  if (marks.size === 0) return { rows: 0, records: 0, devices: 0 };
  const { all, keyField } = tableRows(state);
  return counted(all, keyField, marks);
}

const counted = memoized(
  (all: readonly FoldedRow[], keyField: string, marks: ReadonlySet<string>): MarkCount => {
    const covered = new Set<string>();
    let rows = 0;
    for (const row of all) {
      if (!isMarkedRow(row, keyField, marks)) continue;
      rows += 1;
      for (const one of marksOf(row, keyField)) covered.add(one);
    }
    const devices = new Set([...marks].map((mark) => mark.slice(0, mark.indexOf('\n'))));
    const others = [...marks].filter((mark) => !covered.has(mark)).length;
    return { rows: rows + others, records: marks.size, devices: devices.size };
  },
);
