import { DevshError } from '../../errors.ts';
import { parseFilter } from '../../fleet/filter.ts';
import { WATCH_MS } from '../../shell/grammar/options.ts';
import type { TableAction } from '../keys/key-binding.ts';
import { edit, lineText, type EditKey } from '../editor/line.ts';
import { extendRange, invertMarks, toggleAll, toggleMark, toggleRange } from './reduce-marks.ts';
import { NO_FILTER, type State, type TableFilter, type TableState } from '../state.ts';
import { columnLayout, sortableFields } from './columns.ts';
import { rawKeyOf, sortFields, tableRows } from './rows.ts';

/** Up to so many rows are filtered at once; longer tables in slices, between the keys. */
const AT_ONCE = 5_000;

/** The table after a key. `height` is the number of rows on the screen. */
export function actOnTable(state: State, action: TableAction, height: number): TableState {
  const { table } = state;
  const page = Math.max(1, height - 1);
  const half = Math.max(1, Math.floor(height / 2));
  const move = (by: number): TableState =>
    extendRange(state, { ...table, cursor: Math.max(0, table.cursor + by) });
  switch (action) {
    case 'up':
      return move(-1);
    case 'down':
      return move(1);
    case 'page-up':
      return move(-page);
    case 'page-down':
      return move(page);
    case 'half-up':
      return move(-half);
    case 'half-down':
      return move(half);
    case 'first':
      return move(-table.cursor);
    case 'last':
      return move(tableRows(state).rows.length);
    case 'left':
      return { ...table, shift: Math.max(0, table.shift - 1) };
    case 'right':
      return columnLayout(state, state.size.columns).hidden === 0
        ? table
        : { ...table, shift: table.shift + 1 };
    case 'mark':
      return toggleMark(state);
    case 'mark-all':
      return toggleAll(state);
    case 'mark-invert':
      return invertMarks(state);
    case 'mark-range':
      return toggleRange(state);
    case 'range-up':
    case 'range-down': {
      const range = table.range ?? { from: table.cursor, before: table.marks };
      const cursor = Math.max(0, table.cursor + (action === 'range-up' ? -1 : 1));
      return extendRange(state, { ...table, range, cursor });
    }
    case 'sort':
    case 'sort-more':
    case 'reverse':
      return { ...table, sort: sortAfter(state, action) };
    case 'fold':
      return { ...table, isFolded: !table.isFolded, turnedRows: new Set() };
    case 'fold-row':
      return foldRow(state);
    case 'watch':
      return { ...table, watchMs: table.watchMs === undefined ? WATCH_MS : undefined };
    case 'filter':
      return { ...table, filter: { ...table.filter, isOpen: true } };
    case 'keep-filter':
      return { ...table, filter: { ...table.filter, isOpen: false, problem: undefined } };
    case 'clear-filter':
      return { ...table, filter: NO_FILTER };
  }
}

/** The filter of `/` after a key; the rows follow at once, or in a moment where they are many. */
export function editFilter(state: State, key: EditKey): TableFilter {
  const { filter } = state.table;
  const editing = edit(filter.editing, key);
  try {
    const text = lineText(editing.line);
    if (text === lineText(filter.editing.line)) return { ...filter, editing };
    const parsed = parseFilter(text);
    const isAtOnce = tableRows(state).all.length <= AT_ONCE || parsed.terms.length === 0;
    const applied = isAtOnce ? parsed : filter.applied;
    return { ...filter, editing, parsed, applied, problem: undefined };
  } catch (error) {
    // Half a pattern: the last text that meant something goes on to filter.
    if (error instanceof DevshError) return { ...filter, editing, problem: error.message };
    throw error;
  }
}

/**
 * `sort`: by the next column first; `sort-more`: by one more, and by one alone when there is none left;
 * `reverse`: turns the last one around.
 */
function sortAfter(state: State, action: 'sort' | 'sort-more' | 'reverse'): readonly string[] {
  const fields = sortableFields(state);
  const now = sortFields(state.table, tableRows(state).keyField);
  const names = now.map(nameOf);
  const [first = ''] = names;
  switch (action) {
    case 'sort': {
      const next = fields[(fields.indexOf(first) + 1) % fields.length] ?? first;
      return [next, ...now.slice(1).filter((field) => nameOf(field) !== next)];
    }
    case 'sort-more': {
      const from = fields.indexOf(names.at(-1) ?? '') + 1;
      const inTurn = [...fields.slice(from), ...fields.slice(0, from)];
      const next = inTurn.find((field) => !names.includes(field));
      return next === undefined ? now.slice(0, 1) : [...now, next];
    }
    case 'reverse': {
      const last = now.at(-1) ?? '';
      return [...now.slice(0, -1), last.startsWith('-') ? nameOf(last) : `-${last}`];
    }
  }
}

function nameOf(field: string): string {
  return field.replace(/^-/, '');
}

/** Unfolds the rows of one record, or folds them again, whatever the others are. */
function foldRow(state: State): TableState {
  const { table } = state;
  const { rows, keyField } = tableRows(state);
  const row = rows[table.cursor];
  if (row === undefined) return table;
  const key = rawKeyOf(row.record, keyField);
  const turnedRows = new Set(table.turnedRows);
  if (!turnedRows.delete(key)) turnedRows.add(key);
  return { ...table, turnedRows };
}
