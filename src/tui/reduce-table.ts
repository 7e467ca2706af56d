import { DevshError } from '../errors.ts';
import { parseFilter } from '../fleet/filter.ts';
import type { ReadOutput } from '../shell/output.ts';
import type { TableAction, TableSource } from './actions.ts';
import { edit, lineText, type EditKey } from './line.ts';
import { NO_FILTER, type State, type TableFilter, type TableState } from './state.ts';
import { marksOf, shownDevices, tableRows } from './table-rows.ts';
import { isMarkedRow, sortableFields } from './table-view.ts';

/** The table after a key. `height` is the number of rows on the screen. */
export function actOnTable(state: State, action: TableAction, height: number): TableState {
  const { table } = state;
  const page = Math.max(1, height - 1);
  const half = Math.max(1, Math.floor(height / 2));
  switch (action) {
    case 'up':
      return { ...table, cursor: table.cursor - 1 };
    case 'down':
      return { ...table, cursor: table.cursor + 1 };
    case 'page-up':
      return { ...table, cursor: table.cursor - page };
    case 'page-down':
      return { ...table, cursor: table.cursor + page };
    case 'half-up':
      return { ...table, cursor: table.cursor - half };
    case 'half-down':
      return { ...table, cursor: table.cursor + half };
    case 'first':
      return { ...table, cursor: 0 };
    case 'last':
      return { ...table, cursor: Number.MAX_SAFE_INTEGER };
    case 'left':
      return { ...table, shift: Math.max(0, table.shift - 1) };
    case 'right':
      return { ...table, shift: Math.min(tableRows(state).fields.length - 2, table.shift + 1) };
    case 'mark':
      return { ...mark(state), cursor: table.cursor + 1 };
    case 'mark-all':
      return markAll(state);
    case 'sort':
      return sortByNext(state);
    case 'reverse': {
      const field = table.sort?.field ?? tableRows(state).keyField;
      return { ...table, sort: { field, isDown: !(table.sort?.isDown ?? false) } };
    }
    case 'fold':
      return { ...table, isFolded: !table.isFolded };
    case 'filter':
      return { ...table, filter: { ...table.filter, isOpen: true } };
    case 'keep-filter':
      return { ...table, filter: { ...table.filter, isOpen: false, problem: undefined } };
    case 'clear-filter':
      return { ...table, filter: NO_FILTER };
  }
}

export function editFilter(filter: TableFilter, key: EditKey): TableFilter {
  const editing = edit(filter.editing, key);
  try {
    return { ...filter, editing, parsed: parseFilter(lineText(editing.line)), problem: undefined };
  } catch (error) {
    // Half a pattern: the last text that meant something goes on to filter.
    if (error instanceof DevshError) return { ...filter, editing, problem: error.message };
    throw error;
  }
}

/** Another command fills the table: what other devices answered before is no part of it. */
export function setSource(state: State, source: TableSource): TableState {
  const { table } = state;
  const devices = source.scope ?? state.fleet.selected;
  const isSame =
    source.view.resource === table.view.resource && source.commandFilter === table.commandFilter;
  const reads = isSame ? [...table.reads].filter(([name]) => devices.includes(name)) : [];
  const { sort } = source.view;
  return {
    ...table,
    ...source,
    reads: new Map(reads),
    sort: sort === undefined ? table.sort : undefined,
    marks: isSame ? table.marks : new Set<string>(),
    ...(!isSame && { cursor: 0, top: 0, shift: 0 }),
  };
}

export function addReads(table: TableState, reads: readonly ReadOutput[]): TableState {
  const all = new Map(table.reads);
  for (const read of reads) all.set(read.device.name, read);
  const view = reads.at(-1)?.view ?? table.view;
  return { ...table, reads: all, view: sameView(table.view, view) ? table.view : view };
}

/** Marks of records that are gone would be deleted by nobody's wish. */
export function dropLostMarks(state: State): TableState {
  const { table } = state;
  if (table.marks.size === 0) return table;
  const { keyField } = tableRows({ ...state, table: { ...table, filter: NO_FILTER } });
  const held = new Set<string>();
  for (const name of shownDevices(state)) {
    const read = table.reads.get(name);
    if (read?.outcome.ok !== true) continue;
    for (const record of read.outcome.records) {
      const row = { devices: [read.device], record, records: [record], differing: [], of: 1 };
      for (const one of marksOf(row, keyField)) held.add(one);
    }
  }
  const marks = [...table.marks].filter((one) => held.has(one));
  return marks.length === table.marks.size ? table : { ...table, marks: new Set(marks) };
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

/** Keeps the cursor on the same record where rows came, went or changed their order. */
export function follow(before: State, after: State): TableState {
  if (before.table.reads === after.table.reads && before.table.isFolded === after.table.isFolded) {
    const isSameOrder =
      before.table.sort === after.table.sort &&
      before.table.filter.parsed === after.table.filter.parsed &&
      before.fleet.selected === after.fleet.selected;
    if (isSameOrder) return after.table;
  }
  const old = tableRows(before);
  const row = old.rows[before.table.cursor];
  if (row === undefined) return after.table;
  const [wanted = ''] = marksOf(row, old.keyField);
  const { rows, keyField } = tableRows(after);
  const at = rows.findIndex((one) => marksOf(one, keyField).includes(wanted));
  if (at === -1 || at === after.table.cursor) return after.table;
  return {
    ...after.table,
    cursor: at,
    top: Math.max(0, after.table.top + at - before.table.cursor),
  };
}

function mark(state: State): TableState {
  const { rows, keyField } = tableRows(state);
  const row = rows[state.table.cursor];
  if (row === undefined) return state.table;
  const marks = new Set(state.table.marks);
  const isMarked = isMarkedRow(row, keyField, marks);
  for (const one of marksOf(row, keyField)) {
    if (isMarked) marks.delete(one);
    else marks.add(one);
  }
  return { ...state.table, marks };
}

function markAll(state: State): TableState {
  const { rows, keyField } = tableRows(state);
  const shown = rows.flatMap((row) => marksOf(row, keyField));
  const isAll = shown.length > 0 && shown.every((one) => state.table.marks.has(one));
  return { ...state.table, marks: new Set(isAll ? [] : shown) };
}

function sortByNext(state: State): TableState {
  const fields = sortableFields(state);
  const now = state.table.sort?.field ?? fields[0];
  const next = fields[(fields.indexOf(now ?? '') + 1) % fields.length] ?? '';
  return { ...state.table, sort: { field: next, isDown: false } };
}

function sameView(a: TableState['view'], b: TableState['view']): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
