import type { State } from '../state.ts';
import { keyOfRow, tableRows } from '../table/rows.ts';
import { arranged, nextSort, type ListSource } from './arrange.ts';
import { deviceSource } from './device-list.ts';
import { driftSource } from './drift-list.ts';
import { questionSource } from './questions-list.ts';
import { resourceSource } from './resource-list.ts';
import { runSource } from './runs-lines.ts';

/** What a list over the table has in it. */
export interface Listed {
  /** The rows in sight, as they are filtered and sorted; the same object as long as they are the same. */
  readonly rows: readonly unknown[];
  readonly idAt: (index: number) => string | undefined;
  /** What it can be sorted by. */
  readonly fields: readonly string[];
  /** With the rows that the filter leaves out. */
  readonly total: number;
}

/** The view over the table as a list; undefined where it is none. */
export function listed(state: State): Listed | undefined {
  const { overlay, find } = state;
  switch (overlay.kind) {
    case 'runs':
      return listedOf(runSource(overlay.runs), find);
    case 'devices':
      return listedOf(deviceSource(state), find);
    case 'resources':
      return listedOf(resourceSource(state, overlay.resources), find);
    case 'questions':
      return listedOf(questionSource(state), find);
    case 'drift':
      return listedOf(driftSource(overlay), find);
    case 'none':
    case 'pager':
    case 'help':
    case 'roll-out':
    case 'details':
      return undefined;
  }
}

function listedOf<T>(source: ListSource<T>, find: State['find']): Listed {
  const { items, idOf, fields } = source;
  const rows = arranged(source, find);
  const idAt = (index: number): string | undefined => {
    const row = rows[index];
    return row === undefined ? undefined : idOf(row);
  };
  return { rows, idAt, fields, total: items.length };
}

/** What the cursor of a list stands on: the name of a device, the id of a run, a resource, a key. */
export function currentId(state: State): string | undefined {
  return 'cursor' in state.overlay ? listed(state)?.idAt(state.overlay.cursor) : undefined;
}

/** Keeps the cursor of a list on its row, where rows came, went or changed their order. */
export function followList(before: State, after: State): State {
  const { overlay, find } = after;
  if (!('cursor' in overlay)) return after;
  const isSame = before.overlay === overlay && before.find === find;
  if (isSame && before.fleet.devices === after.fleet.devices) return after;
  const old = overlay.kind === before.overlay.kind ? listed(before) : undefined;
  const now = listed(after);
  if (now === undefined || old?.rows === now.rows) return after;
  const id = old === undefined ? rowOfTable(before, after) : currentId(before);
  if (id === undefined) return after;
  const at = now.rows.findIndex((_, index) => now.idAt(index) === id);
  const isFiltered = before.find.editing !== find.editing;
  const cursor = at !== -1 ? at : isFiltered ? 0 : Math.min(overlay.cursor, now.rows.length - 1);
  return { ...after, overlay: { ...overlay, cursor: Math.max(0, cursor) } };
}

/** A comparison begins where the cursor of the table stands. */
function rowOfTable(before: State, { overlay, table }: State): string | undefined {
  if (overlay.kind !== 'drift' || before.overlay.kind !== 'none') return undefined;
  const { rows, keyField } = tableRows(before);
  const row = rows[table.cursor];
  return row && keyOfRow(row, keyField);
}

/** `s` and `o`. */
export function sortedList(state: State, action: 'sort' | 'reverse'): State {
  const { find } = state;
  const fields = listed(state)?.fields ?? [];
  return { ...state, find: { ...find, sort: nextSort(fields, find.sort, action) } };
}

/** "'fw7': 12 of 1,000, sorted by state ↓"; empty where nothing is looked for. */
export function listedText(state: State, wanted: string): string {
  const list = listed(state);
  if (list === undefined) return '';
  const { sort } = state.find;
  const name = sort?.replace(/^-/, '') ?? '';
  return [
    ...(wanted === '' ? [] : [`'${wanted}': ${list.rows.length} of ${list.total}`]),
    ...(sort === undefined ? [] : [`by ${name} ${sort === name ? '↑' : '↓'}`]),
  ].join(' · ');
}
