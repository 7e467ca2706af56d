import type { TableSource } from '../table/table-state.ts';
import { hideSecrets } from '../../shell/grammar/hide-secrets.ts';
import { cut, visible, widthOf } from '../../text/visible.ts';
import { namesText } from './plan-lines.ts';
import { viewOf } from './views.ts';
import { tableName } from '../table/rows.ts';
import { setSource } from '../table/reduce-table.ts';
import { NO_FIND, type Overlay, type Place, type State } from '../state.ts';
import { newTable, type TableState } from '../table/table-state.ts';

/* Navigation between views. Esc leaves a view, which keeps its state. */

/** The most tables that are kept. */
const MOST_TABLES = 20;

/** The identity of a table: its resource and filter, and whether it is past. A line with devices has its own table. */
export function tableId({ view, commandFilter, scope, command }: TableSource): string {
  const which = view.isPast ? 'past' : scope === undefined ? '' : command;
  return JSON.stringify([view.resource, commandFilter, which]);
}

/** Opens a view over the table, which replaces one of its kind. The same view resumes with the new content. */
export function opened(state: State, overlay: Overlay): State {
  const here = placeOf(state);
  const id = placeId({ table: here.table, overlay });
  const known = [...state.backStack, here].find((place) => placeId(place) === id);
  const find = known === undefined ? NO_FIND : { ...known.find, isOpen: false };
  const focused = { ...state, focus: 'table', find } as const;
  const resumed = known === undefined ? overlay : resume(overlay, known.overlay);
  const isReplaced = (place: Place): boolean => kindOf(place.overlay) === kindOf(overlay);
  if (isReplaced(here)) return { ...focused, overlay: resumed };
  const backStack = [...state.backStack.filter((place) => !isReplaced(place)), here];
  return { ...focused, overlay: resumed, backStack };
}

/** The kind of a view. The list of messages has its own, so that it does not replace the output of a line. */
function kindOf(overlay: Overlay): string {
  return overlay.kind === 'pager' && overlay.title === 'messages' ? overlay.title : overlay.kind;
}

/** Esc: goes one step back, or shows the table if no step is left. */
export function closed(state: State): State {
  const place = state.backStack.at(-1);
  if (place === undefined) return { ...state, overlay: { kind: 'none' }, find: NO_FIND };
  const { table, tables } = swapped(state, place.table);
  return {
    ...state,
    focus: place.focus,
    overlay: place.overlay,
    backStack: state.backStack.slice(0, -1),
    table: table ?? state.table,
    tables,
    find: place.find,
  };
}

/** Shows the table that a line fills, and adds the place before to `backStack`. */
export function entered(state: State, source: TableSource): State {
  // Esc must not lead to the prompt, as the line opened it, not a key.
  const here: Place = { ...placeOf(state), focus: 'table' };
  const overlay = { kind: 'none' } as const;
  const id = placeId({ table: tableId(source), overlay });
  const shown = sourced(state, source);
  if (placeId(here) === id) return shown;
  const backStack = [...state.backStack.filter((place) => placeId(place) !== id), here];
  return { ...shown, overlay, backStack, find: NO_FIND };
}

/** Removes the table that a line has just filled. */
export function withdrawn(state: State, command: string): State {
  const { overlay, table, focus, backStack } = state;
  if (overlay.kind !== 'none' || table.command !== command || backStack.length === 0) return state;
  const before = closed(state);
  const tables = new Map(before.tables);
  tables.delete(tableId(table));
  return { ...before, focus, tables };
}

/** Changes the source of a table, also if it is not visible. */
export function sourced(state: State, source: TableSource): State {
  const { table, tables } = swapped(state, tableId(source));
  const base = { ...state, table: table ?? newTable(source) };
  return { ...base, tables, table: setSource(base, source) };
}

function swapped(
  { table, tables }: State,
  id: string,
): { table: TableState | undefined; tables: State['tables'] } {
  const now = tableId(table);
  if (now === id) return { table, tables };
  const kept = [...tables].filter(([other]) => other !== now && other !== id);
  return { table: tables.get(id), tables: new Map([...kept.slice(1 - MOST_TABLES), [now, table]]) };
}

function placeOf({ focus, table, overlay, find }: State): Place {
  return { focus, table: tableId(table), overlay, find: { ...find, isOpen: false } };
}

function placeId({ table, overlay }: Pick<Place, 'table' | 'overlay'>): string {
  if (overlay.kind === 'none') return `table ${table}`;
  return `${overlay.kind} ${viewOf(overlay).id?.(overlay, table) ?? ''}`;
}

/** The new content of a view with its old position. */
function resume(overlay: Overlay, known: Overlay): Overlay {
  if (overlay.kind === 'none' || overlay.kind !== known.kind) return overlay;
  const resumed = viewOf(overlay).resumed?.(overlay, known);
  if (resumed !== undefined) return resumed;
  return 'cursor' in overlay && 'cursor' in known ? { ...overlay, cursor: known.cursor } : overlay;
}

const ARROW = ' › ';

/** `devices › fw1 › users › bob`: the steps that Esc goes back, and the place. */
export function breadcrumbs(state: State): string[] {
  const { backStack, overlay, table, tables } = state;
  const here = { table: tableId(table), overlay };
  const places = [...backStack, here];
  const names = places.flatMap((place, index) => {
    const isLast = index === places.length - 1;
    if (place.overlay.kind !== 'none') return [viewOf(place.overlay).breadcrumb(place.overlay)];
    const shown = place.table === here.table ? table : tables.get(place.table);
    if (shown === undefined) return [];
    const name = tableName(shown);
    // The title shows the filter of the current table.
    const filter = isLast ? '' : hideSecrets(shown.commandFilter).trim();
    const isNearest = !places.slice(index + 1).some(({ overlay: { kind } }) => kind === 'none');
    return [
      ...(isNearest ? deviceName(state) : []),
      filter === '' ? name : `${name} ${visible(filter)}`,
    ];
  });
  return withoutRepetition(names, state);
}

/** Shortens a name that begins with the name before: a step in the same table names only the difference. */
function withoutRepetition(names: readonly string[], { overlay, table }: State): string[] {
  return names.map((name, index) => {
    const before = names[index - 1];
    if (before !== undefined && name.startsWith(`${before} `)) return name.slice(before.length + 1);
    const isTable = overlay.kind === 'none' && index === names.length - 1;
    if (!isTable || before !== name) return name;
    if (table.commandFilter.trim() !== '') return 'filtered';
    return table.scope?.length ? `on ${namesText(table.scope)}` : 'all';
  });
}

/** The last steps that fit into `width` cells. */
export function breadcrumbText(state: State, width: number): string {
  const all = breadcrumbs(state);
  for (let from = 0; from < all.length; from++) {
    const text = (from > 0 ? `…${ARROW}` : '') + all.slice(from).join(ARROW);
    if (widthOf(text) <= width) return text;
  }
  return cut(all.at(-1) ?? '', width);
}

/** The table's device, if it is one of several. */
function deviceName({ fleet, table }: State): string[] {
  const [only, ...others] = table.scope ?? fleet.selected;
  const isOne = only !== undefined && others.length === 0;
  return isOne && fleet.devices.length > 1 ? [visible(only)] : [];
}
