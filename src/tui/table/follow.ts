import type { FoldedRow } from '../../fleet/fold.ts';
import type { State, TableState } from '../state.ts';
import { isSameView } from './source.ts';
import { rawKeyOf, tableRows } from './rows.ts';

/** Puts the cursor on a row that exists, and the window around it. */
export function settle(state: State, height: number): TableState {
  const { table } = state;
  const count = tableRows(state).rows.length;
  const cursor = Math.max(0, Math.min(table.cursor, count - 1));
  const lowest = Math.max(0, count - height);
  const top = Math.max(cursor - height + 1, Math.min(table.top, cursor, lowest), 0);
  return cursor === table.cursor && top === table.top ? table : { ...table, cursor, top };
}

/**
 * Keeps the cursor on its record, and the record on its line of the screen, where rows came, went or
 * changed their order. A range that is being marked ends there: its rows lie elsewhere now.
 */
export function follow(before: State, after: State): TableState {
  const { table } = after;
  // Another view has a cursor of its own.
  if (!isSameView(before.table, table)) return table;
  const old = tableRows(before);
  const { rows, keyField } = tableRows(after);
  if (old.rows === rows) return table;
  const settled = table.range === undefined ? table : { ...table, range: undefined };
  const row = old.rows[before.table.cursor];
  if (row === undefined) return settled;
  const at = rowLike(row, rows, keyField);
  if (at === -1) {
    const isFiltered = before.table.filter.applied !== table.filter.applied;
    return isFiltered ? { ...settled, cursor: 0, top: 0 } : settled;
  }
  const top = Math.max(0, before.table.top + at - before.table.cursor);
  return at === table.cursor && top === table.top ? settled : { ...settled, cursor: at, top };
}

/** The place of a row, or of another one that holds its record on its first device; -1: nowhere. */
function rowLike(row: FoldedRow, rows: readonly FoldedRow[], keyField: string): number {
  const same = rows.indexOf(row);
  if (same !== -1) return same;
  const key = rawKeyOf(row.record, keyField);
  const [device] = row.devices;
  return rows.findIndex(
    ({ record, devices }) =>
      rawKeyOf(record, keyField) === key && devices.some(({ name }) => name === device?.name),
  );
}
