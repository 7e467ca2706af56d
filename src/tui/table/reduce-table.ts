import { DevshError } from '../../errors.ts';
import { parseFilter } from '../../fleet/filter.ts';
import { filterSteps } from './filter.ts';
import { WATCH_MS } from '../../shell/grammar/options.ts';
import type { MoveAction, TableAction } from '../keys/key-binding.ts';
import { edit, type EditKey, lineText } from '../editor/line.ts';
import { type State } from '../state.ts';
import {
  type LastRead,
  NO_FILTER,
  type TableChanges,
  type TableFilter,
  type TableRead,
  type TableState,
} from './table-state.ts';
import { nextSort } from '../views/view.ts';
import { sortableFields } from './columns.ts';
import { isMarkedRow, markOf, rawKeyOf, sortFields, tableRows, withMarks } from './rows.ts';
import { fieldsOf, keyFieldOf } from '../../output/cells.ts';
import type { TableSource } from './table-state.ts';
import type { StepResult } from '../../change/verdict.ts';
import { recordChanges } from '../../fleet/compared.ts';
import type { FoldedRow } from '../../fleet/fold.ts';

/** A filter that needs at most this many steps applies at once. On longer tables it applies in slices, between keys. */
const STEPS_AT_ONCE = 10;

/** The table after a key. */
export const TABLE_ACTIONS: Readonly<
  Record<Exclude<TableAction, MoveAction>, (state: State) => TableState>
> = {
  mark: toggleMark,
  'mark-all': toggleAll,
  sort: (state) => sorted(state, 'sort'),
  reverse: (state) => sorted(state, 'reverse'),
  fold: ({ table }) => ({ ...table, isFolded: !table.isFolded }),
  watch: ({ table }) => ({ ...table, watchMs: table.watchMs === undefined ? WATCH_MS : undefined }),
  filter: ({ table }) => ({ ...table, filter: { ...table.filter, isOpen: true } }),
  'keep-filter': ({ table }) => ({
    ...table,
    filter: { ...table.filter, isOpen: false, problem: undefined },
  }),
  'clear-filter': ({ table }) => ({ ...table, filter: NO_FILTER }),
};

/** The filter of `/` after a key. The rows of long tables follow a moment later. */
export function editFilter(state: State, key: EditKey): TableFilter {
  const { filter } = state.table;
  const editing = edit(filter.editing, key);
  try {
    const text = lineText(editing.line);
    if (text === lineText(filter.editing.line)) return { ...filter, editing };
    const parsed = parseFilter(text);
    const steps = filterSteps(tableRows(state).all, parsed);
    const isAtOnce = Array.from({ length: STEPS_AT_ONCE }).some(() => steps.next().done === true);
    const applied = isAtOnce ? parsed : filter.applied;
    return { ...filter, editing, parsed, applied, problem: undefined };
  } catch (error) {
    // The last valid filter stays while a pattern is incomplete.
    if (error instanceof DevshError) return { ...filter, editing, problem: error.message };
    throw error;
  }
}

function sorted(state: State, action: 'sort' | 'reverse'): TableState {
  const now = sortFields(state.table, tableRows(state).keyField);
  return { ...state.table, sort: nextSort(sortableFields(state), now, action) };
}

/** Changes the command that fills the table, and drops the reads of other devices. */
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
      marks: new Map<string, Set<string>>(),
      changes: undefined,
      cursor: 0,
      top: 0,
    }),
  };
}

/** Whether both show the same records: the same resource with the same filter at the same time. */
function isSameView(a: TableSource, b: TableSource): boolean {
  const isSameTime = !(a.view.isPast || b.view.isPast) || a.command === b.command;
  return a.view.resource === b.view.resource && a.commandFilter === b.commandFilter && isSameTime;
}

/** Adds reads. A device that does not respond keeps its last records, with their age. */
export function addReads(table: TableState, reads: readonly TableRead[]): TableState {
  const all = new Map(table.reads);
  for (const read of reads) {
    const { name } = read.device;
    all.set(name, read.outcome.ok ? read : { ...read, last: lastOf(all.get(name)) });
  }
  const view = reads.at(-1)?.view ?? table.view;
  const records = reads.flatMap(({ outcome }) => (outcome.ok ? outcome.records : []));
  const keyField = keyFieldOf(view, view.key === undefined ? fieldsOf(records) : []);
  return {
    ...table,
    reads: all,
    view: JSON.stringify(table.view) === JSON.stringify(view) ? table.view : view,
    changes: changesOf(table, all, keyField),
  };
}

function lastOf(read: TableRead | undefined): LastRead | undefined {
  return read?.outcome.ok === true ? { records: read.outcome.records, at: read.at } : read?.last;
}

/** All changes since the records in `changes.before`, with which the first shown changes were compared. */
function changesOf(
  { reads, changes }: TableState,
  all: TableState['reads'],
  keyField: string,
): TableChanges | undefined {
  const before = new Map(changes?.before);
  let hasChanged = false;
  for (const [name, { outcome }] of all) {
    const old = reads.get(name)?.outcome;
    if (!outcome.ok || old?.ok !== true || old === outcome) continue;
    if (recordChanges(old.records, outcome.records, keyField).length === 0) continue;
    hasChanged = true;
    if (!before.has(name)) before.set(name, old.records);
  }
  if (!hasChanged) return changes;
  const fields = new Map<string, readonly string[] | undefined>();
  const counts = { changed: 0, added: 0, removed: 0 };
  for (const [name, records] of before) {
    const now = all.get(name)?.outcome;
    if (now?.ok !== true) continue;
    const found = recordChanges(records, now.records, keyField);
    if (found.length === 0) before.delete(name);
    for (const change of found) {
      counts[change.kind] += 1;
      if (change.kind === 'removed') continue;
      const mark = markOf(name, rawKeyOf(change.record, keyField));
      fields.set(mark, change.kind === 'changed' ? change.fields : undefined);
    }
  }
  if (changes?.isOfRun === true) return { ...changes, fields, before };
  const devices = new Set(before.keys());
  return before.size === 0 ? undefined : { fields, ...counts, devices, before };
}

const CHANGED = { add: 'added', set: 'changed', delete: 'removed' } as const;

/** Counts the changes of a run to records of the table, also to those that the filter hides. */
export function addResult(
  table: TableState,
  { verdict, action, resource, device }: StepResult,
): TableState {
  if (verdict !== 'done' || resource !== table.view.resource) return table;
  const { fields = new Map<string, undefined>(), before = new Map<string, []>() } =
    table.changes ?? {};
  const none = { changed: 0, added: 0, removed: 0, devices: new Set<string>() };
  const counts = table.changes?.isOfRun === true ? table.changes : none;
  const kind = CHANGED[action];
  return {
    ...table,
    changes: {
      ...counts,
      [kind]: counts[kind] + 1,
      devices: new Set([...counts.devices, device.name]),
      fields,
      before,
      isOfRun: true,
    },
  };
}

/** Moves the cursor to an existing row, and the window around the cursor. */
export function clampCursor(state: State, height: number): TableState {
  const { table } = state;
  const count = tableRows(state).rows.length;
  const cursor = Math.max(0, Math.min(table.cursor, count - 1));
  const lowest = Math.max(0, count - height);
  const top = Math.max(cursor - height + 1, Math.min(table.top, cursor, lowest), 0);
  return cursor === table.cursor && top === table.top ? table : { ...table, cursor, top };
}

/** Keeps the cursor on its record, and the record on its line of the screen. */
export function followCursor(before: State, after: State): TableState {
  const { table } = after;
  // Another view has its own cursor.
  if (!isSameView(before.table, table)) return table;
  const old = tableRows(before);
  const { rows, keyField } = tableRows(after);
  if (old.rows === rows) return table;
  const row = old.rows[before.table.cursor];
  if (row === undefined) return table;
  const at = rowLike(row, rows, keyField);
  if (at === -1) {
    const isFiltered = before.table.filter.applied !== table.filter.applied;
    return isFiltered ? { ...table, cursor: 0, top: 0 } : table;
  }
  const top = Math.max(0, before.table.top + at - before.table.cursor);
  return at === table.cursor && top === table.top ? table : { ...table, cursor: at, top };
}

/** The index of a row, or of the row that has its record on its first device; -1 if there is none. */
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

/** Space: marks or unmarks the row, and goes to the next one. */
function toggleMark(state: State): TableState {
  const { table } = state;
  const { rows, keyField } = tableRows(state);
  const row = rows[table.cursor];
  if (row === undefined) return table;
  const marks = withMarks(table.marks, [row], keyField, !isMarkedRow(row, keyField, table.marks));
  return { ...table, marks, cursor: table.cursor + 1 };
}

/** Marks all visible rows, or unmarks them if all were marked. */
function toggleAll({ table, fleet }: State): TableState {
  const { rows, keyField } = tableRows({ table, fleet });
  const isAll = rows.length > 0 && rows.every((row) => isMarkedRow(row, keyField, table.marks));
  return { ...table, marks: withMarks(table.marks, rows, keyField, !isAll) };
}

/** Drops the marks of records that are gone since `before`, on devices that were read: nobody would delete those. */
export function dropLostMarks(state: State, before: TableState['reads']): TableState {
  const { table } = state;
  if (table.marks.size === 0) return table;
  const { keyField } = tableRows({ ...state, table: { ...table, filter: NO_FILTER } });
  const marks = new Map(table.marks);
  for (const [name, keys] of table.marks) {
    const [old, now] = [before.get(name)?.outcome, table.reads.get(name)?.outcome];
    if (now?.ok !== true || (old?.ok === true && old.records === now.records)) continue;
    const present = new Set(now.records.map((record) => rawKeyOf(record, keyField)));
    const left = new Set([...keys].filter((key) => present.has(key)));
    if (left.size > 0) marks.set(name, left.size === keys.size ? keys : left);
    else marks.delete(name);
  }
  const isSame = [...table.marks].every(([name, keys]) => marks.get(name) === keys);
  return isSame ? table : { ...table, marks };
}
