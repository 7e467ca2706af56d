import { fieldsOf, keyFieldOf } from '../../output/cells.ts';
import type { TableSource } from '../actions.ts';
import type { LastRead, State, TableChanges, TableRead, TableState } from '../state.ts';
import { recordChanges } from '../../fleet/record-changes.ts';
import type { ReadOutput } from '../../shell/output.ts';
import { markOf, rawKeyOf, tableRows } from './rows.ts';
import type { FoldedRow } from '../../fleet/fold.ts';

/** Another command fills the table: what other devices answered before is no part of it. */
export function setSource(state: State, source: TableSource): TableState {
  const { table } = state;
  const devices = source.scope ?? state.fleet.selected;
  const isSame = isSameView(source, table);
  const reads = isSame ? [...table.reads].filter(([name]) => devices.includes(name)) : [];
  const { sort } = source.view;
  return {
    ...table,
    ...source,
    reads: isSame && reads.length === table.reads.size ? table.reads : new Map(reads),
    sort: sort === undefined ? table.sort : undefined,
    watchMs: source.watchMs,
    ...(!isSame && {
      marks: new Set<string>(),
      range: undefined,
      changes: undefined,
      turnedRows: new Set<string>(),
      cursor: 0,
      top: 0,
      shift: 0,
    }),
  };
}

/** The same records, however they are shown: a resource with a filter. */
function isSameView(
  a: Pick<TableSource, 'view' | 'commandFilter'>,
  b: Pick<TableSource, 'view' | 'commandFilter'>,
): boolean {
  return a.view.resource === b.view.resource && a.commandFilter === b.commandFilter;
}

/** A device that does not answer now may hold what it held: its last records stay, with their age. */
export function addReads(table: TableState, reads: readonly TableRead[]): TableState {
  const all = new Map(table.reads);
  for (const read of reads) {
    const { name } = read.device;
    all.set(name, read.outcome.ok ? read : { ...read, last: lastOf(all.get(name)) });
  }
  const view = reads.at(-1)?.view ?? table.view;
  const records = reads.flatMap(({ outcome }) => (outcome.ok ? outcome.records : []));
  const keyField = keyFieldOf(view, view.key === undefined ? fieldsOf(records) : []);
  const found = changesBetween(table.reads, reads, keyField);
  return {
    ...table,
    reads: all,
    view: sameView(table.view, view) ? table.view : view,
    changes: found ?? table.changes,
  };
}

function lastOf(read: TableRead | undefined): LastRead | undefined {
  return read?.outcome.ok === true ? { records: read.outcome.records, at: read.at } : read?.last;
}

function sameView(a: TableState['view'], b: TableState['view']): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** What devices that are read again hold otherwise than before; undefined when nothing is. */
function changesBetween(
  before: TableState['reads'],
  reads: readonly ReadOutput[],
  keyField: string,
): TableChanges | undefined {
  const fields = new Map<string, readonly string[] | undefined>();
  const counts = { changed: 0, added: 0, removed: 0 };
  for (const { device, outcome } of reads) {
    const old = before.get(device.name)?.outcome;
    if (!outcome.ok || old?.ok !== true) continue;
    for (const change of recordChanges(old.records, outcome.records, keyField)) {
      counts[change.kind] += 1;
      if (change.kind === 'removed') continue;
      const mark = markOf(device.name, rawKeyOf(change.record, keyField));
      fields.set(mark, change.kind === 'changed' ? change.fields : undefined);
    }
  }
  const { changed, added, removed } = counts;
  return changed + added + removed === 0 ? undefined : { fields, ...counts };
}

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
