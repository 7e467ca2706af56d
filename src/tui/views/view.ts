import type { Invocation } from '../../shell/command.ts';
import type { DriftOutput, TableOutput } from '../../shell/output.ts';
import { fittedWidths, GAP } from '../../text/fit-columns.ts';
import { cellsUpTo, cut, fit, visible } from '../../text/visible.ts';
import { lineText } from '../editor/line.ts';
import { type MoveAction, MOVES, type ViewAction } from '../keys/key-binding.ts';
import { placesOf, type TextLine, textOfLine, type Tone } from '../screen/theme.ts';
import type { Find, Keymap, LogLine, Overlay, State } from '../state.ts';
import type { Size } from '../terminal/painter.ts';
import type { TitlePart } from '../table/view.ts';
import { DevshError, attempt } from '../../errors.ts';
import {
  type Filter,
  type Haystack,
  matchesHaystack,
  parseFilter,
  prepareHaystack,
} from '../../fleet/filter.ts';
import { MOST_ON_SCREEN } from '../../output/cells.ts';
import { sortBy } from '../../fleet/sort.ts';
import { memoized } from '../store.ts';

export type Over = Exclude<Overlay, { kind: 'none' }>;

export type OverOf<K extends Over['kind']> = Extract<Over, { kind: K }>;

/** One kind of view: a list with a cursor, or a text. */
export interface View<O extends Over = Over> {
  /** Keys besides those of every view. */
  readonly keys?: Keymap;
  /** Its step in the breadcrumbs: `devices › fw1 › users`. */
  breadcrumb(overlay: O): string;
  /** Its identity in `backStack`, besides the kind. `table`: the `tableId`. */
  id?(overlay: O, table: string): string;
  /** The new content with the old position. By default a list keeps its cursor, and a text begins at its top. */
  resumed?(overlay: O, before: O): O;
  /** Its parts of the title. `found`: the search summary. By default, which lines are visible. */
  title?(overlay: O, state: State, found: TitlePart): readonly TitlePart[];
  /** Its own meaning of a key; undefined for the common meaning. */
  act?(overlay: O, state: State, action: ViewAction): State | undefined;
  /** The view that Enter opens over it. */
  details?(overlay: O, state: State): Over | undefined;
  /** Lines below the view, which are never cut. */
  below?(state: State): readonly LogLine[];
  /** The view for a command's output, if it is of this kind. */
  opening?(output: TableOutput | DriftOutput, invocation: Invocation, line: string): O | undefined;
  /** The message instead of the view if the command lists nothing. */
  readonly nothing?: string;
  /** The content, if it is a list. */
  list?(overlay: O, state: State): ListView;
  /** The content wrapped to the screen, if it is a text. */
  lines?(overlay: O, state: State): readonly TextLine[];
}

/** Items with a cursor, in columns. */
export interface ListView<T = unknown> {
  /** The filtered and sorted items; the same object as long as they are the same. */
  readonly rows: readonly T[];
  readonly columns: readonly ListColumn<T>[];
  idAt(index: number): string | undefined;
  toneOf(item: T): Tone;
  /** One cell for the state of the item, and one for its mark, as in the table. */
  signOf(item: T): string;
  readonly fields: readonly string[];
  /** The number of rows without the filter. */
  readonly total: number;
  readonly cursor: number;
  /** Shown if there is no row. */
  readonly empty: string;
}

/** The lines below a list, cut to the screen. A small screen shows only the first, because the list needs the rows. */
export function fittedLines(lines: readonly LogLine[], { columns, rows }: Size): LogLine[] {
  const shown = rows < 16 ? lines.slice(0, 1) : lines;
  return shown.map((line) => ({ ...line, text: cut(line.text, columns - 2) }));
}

interface WindowLine<T> {
  readonly at: number;
  /** Undefined for a heading. */
  readonly item?: T;
  readonly heading: string;
}

/** The visible items, among them the one under the cursor, with a heading above the first item of a group. */
export function listWindow<T>(
  items: readonly T[],
  cursor: number,
  height: number,
  headingOf: (item: T) => string = () => '',
): readonly WindowLine<T>[] {
  const room = Math.max(1, height);
  const first = Math.max(0, Math.min(cursor - Math.floor(room / 2), items.length - room));
  for (let top = first; ; top += 1) {
    let last = '';
    const lines = items.slice(top, top + room).flatMap((item, index): WindowLine<T>[] => {
      const heading = headingOf(item);
      const isNew = heading !== last && room > 1;
      last = heading;
      const line = { at: top + index, item, heading };
      return isNew ? [{ at: top + index, heading }, line] : [line];
    });
    const shown = lines.slice(0, room);
    // Headings may push the cursor out of sight.
    if (top >= cursor || shown.some(({ at, item }) => at === cursor && item !== undefined))
      return shown;
  }
}

type ListOver = Extract<Over, { cursor: number }>;

interface ListSpec<O extends ListOver, T extends object> extends View<O> {
  readonly kind: O['kind'];
  items(overlay: O, state: State): readonly T[];
  idOf(item: T): string;
  /** The columns that are shown, searched and sorted by. */
  columns(overlay: O, state: State): readonly ListColumn<T>[];
  /** The searchable texts, if they are more than the columns. They must never change for an item. */
  haystacksOf?(item: T, overlay: O): readonly Haystack[];
  /** Whether an item has failed or is unconfirmed, so that it comes first. */
  isDoubtful?(item: T): boolean;
  /** The list's own search for the typed words. */
  found?(items: readonly T[], typed: string): readonly T[];
  toneOf?(item: T): Tone;
  signOf?(item: T, overlay: O): string;
  empty(overlay: O): string;
}

export interface ListOf<O extends ListOver, T extends object> extends View<O> {
  list(overlay: O, state: State): ListView<T>;
  /** The item under the cursor, while this list is shown. */
  current(state: State): T | undefined;
}

/** A list with the common filter, sort order and cursor. */
export function listOf<O extends ListOver, T extends object>(spec: ListSpec<O, T>): ListOf<O, T> {
  const arranged = arranger(spec);
  const isShown = (overlay: Overlay): overlay is O => overlay.kind === spec.kind;
  const list = (over: O, state: State): ListView<T> => {
    const items = spec.items(over, state);
    const columns = spec.columns(over, state);
    const typed = lineText(state.find.editing.line);
    const rows =
      spec.found?.(items, typed) ?? arranged(over, columns, items, typed, state.find.sort);
    return {
      rows,
      columns,
      idAt(index) {
        const item = rows[index];
        return item && spec.idOf(item);
      },
      toneOf: (item) => spec.toneOf?.(item) ?? 'plain',
      signOf: (item) => spec.signOf?.(item, over) ?? '',
      fields: columns.map(fieldOf),
      total: items.length,
      cursor: Math.min(over.cursor, rows.length - 1),
      empty: typed === '' ? spec.empty(over) : `no match for '${visible(typed)}'`,
    };
  };
  return {
    ...spec,
    list,
    current: (state) =>
      isShown(state.overlay) ? list(state.overlay, state).rows[state.overlay.cursor] : undefined,
  };
}

export interface ListColumn<T> {
  readonly title: string;
  /** The text, with control characters made visible. */
  text(item: T): string;
  /** The sort value, if it is not the text. */
  value?(item: T): ListRecord[string];
  /** The most cells. With 0 the column is only searched. */
  readonly most: number;
  /** Columns with the largest rank are dropped first. */
  readonly rank: number;
  /** The width to which the column may shrink before it is dropped. */
  readonly least?: number;
  /** True if it counts as `least` when columns are fitted, and then gets the room that is left. */
  readonly isFilling?: true;
  /** The tone; by default that of the item. */
  tone?(item: T): Tone;
}

/** A column with its width on the screen, in cells. */
export interface FittedColumn<T> {
  readonly column: ListColumn<T>;
  readonly cells: number;
}

function fieldOf({ title }: { readonly title: string }): string {
  return title.toLowerCase().replaceAll(' ', '_');
}

/** The number of items that are measured for the column widths. */
const MOST_MEASURED = 1000;

/** Columns as wide as the content of the first items. A narrow screen drops the least important ones. */
export function fittedColumns<T>(
  items: readonly T[],
  columns: readonly ListColumn<T>[],
  width: number,
): readonly FittedColumn<T>[] {
  const sample = items.slice(0, MOST_MEASURED);
  const measured = columns.flatMap((column) => {
    if (column.most === 0) return [];
    const texts = sample.map((item) => column.text(item));
    // Empty columns are left out.
    if (column.rank > 0 && texts.every((text) => text === '')) return [];
    const cells = [column.title, ...texts].map((text) => cellsUpTo(text, width));
    const most = Math.max(...cells);
    const wanted = column.isFilling ? (column.least ?? 0) : Math.min(column.most, most);
    return [{ column, wanted, most, least: Math.min(wanted, column.least ?? wanted) }];
  });
  const order = measured.toSorted((a, b) => a.column.rank - b.column.rank);
  const widths = fittedWidths(
    order.map((one) => [one]),
    width,
  );
  // If a column has no room, all columns after it are dropped, too.
  const omitted = order.findIndex((one) => !widths.has(one));
  const kept = new Set(omitted === -1 ? order : order.slice(0, omitted));
  return measured
    .filter((one) => kept.has(one))
    .map((one) => ({ column: one.column, cells: widths.get(one) ?? 0 }));
}

/** Writes texts into their columns. Each is cut, or padded up to the next column. */
export function columnLine<T>(
  columns: readonly FittedColumn<T>[],
  textOf: (column: ListColumn<T>, index: number) => string,
  toneOf?: (column: ListColumn<T>) => Tone | undefined,
): TextLine {
  return columns.map(({ column, cells }, index) => {
    const text = textOf(column, index);
    const isLast = index === columns.length - 1;
    return {
      tone: toneOf?.(column) ?? 'plain',
      text: isLast ? cut(text, cells) : fit(text, cells) + GAP,
    };
  });
}

/** Returns the positions of matches in a line. Case counts only if the search has capitals. */
export function searcher({ find }: { readonly find: Find }): (line: string) => number[] {
  const wanted = lineText(find.editing.line);
  const isExact = wanted !== wanted.toLowerCase();
  return (line) => placesOf(wanted, isExact ? line : line.toLowerCase());
}

export function matchingLines(lines: readonly TextLine[], find: Find): number[] {
  const search = searcher({ find });
  return lines.flatMap((line, index) => (search(textOfLine(line)).length > 0 ? [index] : []));
}

/** The next or previous match, also across the end, and the top of the window that shows it. */
export function sought(
  lines: readonly TextLine[],
  find: Find,
  { top, height }: { readonly top: number; readonly height: number },
  by: 0 | 1 | -1,
): { readonly at: number | undefined; readonly top: number } {
  const found = matchingLines(lines, find);
  const from = by === 0 ? top - 1 : (find.at ?? -1);
  const at =
    by === -1
      ? (found.findLast((line) => line < from) ?? found.at(-1))
      : (found.find((line) => line > from) ?? found[0]);
  const isInSight = at === undefined || (at >= top && at < top + height);
  return { at, top: isInSight ? top : Math.max(0, at - Math.floor(height / 3)) };
}

/** The first visible line after a move; `last` is the limit. */
export function movedTop(top: number, action: MoveAction, height: number, last: number): number {
  return Math.max(0, Math.min(last, Math.min(top, last) + MOVES[action](height)));
}

/* The filter and sort order of lists (`/`, `s`, `o`). */

type ListRecord = Haystack['record'];

/** Returns the function that gives the items that match the filter, in the order of display. */
function arranger<O extends ListOver, T extends object>({
  haystacksOf,
  isDoubtful,
}: Pick<ListSpec<O, T>, 'haystacksOf' | 'isDoubtful'>) {
  // The haystacks are kept, because it takes longer to prepare them than to match.
  const prepared = new WeakMap<T, readonly Haystack[]>();
  const arranged = (
    over: O,
    columns: readonly ListColumn<T>[],
    items: readonly T[],
    text: string,
    sort: string | undefined,
  ): readonly T[] => {
    const recordOf = (item: T): ListRecord =>
      Object.fromEntries(columns.map((one) => [fieldOf(one), one.value?.(item) ?? one.text(item)]));
    const haystacks = (item: T): readonly Haystack[] => {
      if (haystacksOf === undefined) return [prepareHaystack(recordOf(item), '', MOST_ON_SCREEN)];
      const made = prepared.get(item) ?? haystacksOf(item, over);
      prepared.set(item, made);
      return made;
    };
    const filter = filterOf(text);
    const found =
      filter.terms.length === 0
        ? items
        : items.filter((item) => haystacks(item).some((one) => matchesHaystack(filter, one)));
    if (sort !== undefined) return sortBy(found, [sort], (item, field) => recordOf(item)[field]);
    const isFirst = (item: T): boolean => isDoubtful?.(item) === true;
    if (!found.some(isFirst)) return found;
    return [...found.filter(isFirst), ...found.filter((item) => !isFirst(item))];
  };
  // The view and the columns are not compared: a moved cursor, or a new device, does not change the order.
  return memoized(arranged, ([, , ...others]) => others);
}

/** The sort order after `s`, with the next field in place of the first one, or after `o`, with the last one reversed. */
export function nextSort(
  fields: readonly string[],
  now: readonly string[],
  action: 'sort' | 'reverse',
): readonly string[] {
  const nameOf = (field: string): string => field.replace(/^-/, '');
  const last = now.at(-1) ?? '';
  if (action === 'reverse')
    return [...now.slice(0, -1), last.startsWith('-') ? nameOf(last) : `-${last}`];
  const [first = ''] = now.map(nameOf);
  const next = fields[(fields.indexOf(first) + 1) % fields.length] ?? first;
  return [next, ...now.slice(1).filter((field) => nameOf(field) !== next)];
}

/** Parses a filter as in the table, but without fuzzy words. An incomplete pattern counts as words. */
const filterOf = memoized((text: string): Filter => {
  const words = { terms: [{ kind: 'word' as const, text: text.toLowerCase(), isFuzzy: false }] };
  return attempt(DevshError, () => parseFilter(text, { isFuzzy: false })) ?? words;
});
