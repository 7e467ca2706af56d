import type { Invocation } from '../../shell/command.ts';
import type { DriftOutput, TableOutput } from '../../shell/output.ts';
import { fittedWidths, GAP } from '../../text/fit-columns.ts';
import { cellsUpTo, cut, fit, visible } from '../../text/visible.ts';
import { wrapText } from '../../text/wrap.ts';
import { lineText } from '../editor/line.ts';
import type { MoveAction, ViewAction } from '../keys/key-binding.ts';
import {
  placesOf,
  plainLine,
  type TextLine,
  textOfLine,
  type Tone,
  widthOfSpans,
} from '../screen/theme.ts';
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

/** Views over the table. */
export type Over = Exclude<Overlay, { kind: 'none' }>;

export type OverOf<K extends Over['kind']> = Extract<Over, { kind: K }>;

/** One kind of view: a list with a cursor, or a text. */
export interface View<O extends Over = Over> {
  /** Keys besides those of every view. */
  readonly keys?: Keymap;
  /** Its step in the breadcrumbs: `devices › fw1 › users`. */
  breadcrumb(overlay: O): string;
  /** Its identity on the trail, besides the kind; `table`: the `tableId`. */
  id?(overlay: O, table: string): string;
  /** The new content with the old position; by default a list keeps its cursor, a text restarts. */
  resumed?(overlay: O, before: O): O;
  /** Its parts of the title; `found`: the search summary. By default the visible lines. */
  title?(overlay: O, state: State, found: TitlePart): readonly TitlePart[];
  /** Its own meaning of a key; undefined: the common one. */
  act?(overlay: O, state: State, action: ViewAction): State | undefined;
  /** The view that Enter opens over it. */
  details?(overlay: O, state: State): Over | undefined;
  /** Lines below it, never cut. */
  below?(state: State): readonly LogLine[];
  /** The view for a command's output, if it is of this kind. */
  opening?(output: TableOutput | DriftOutput, invocation: Invocation, line: string): O | undefined;
  /** The message instead of the view if the command lists nothing. */
  readonly nothing?: string;
  /** For a list. */
  list?(overlay: O, state: State): ListView;
  /** For a text: wrapped to the screen. */
  lines?(overlay: O, state: State): readonly TextLine[];
}

export interface ListRow {
  /** What the row is, and whether it is marked: a cell for each, as in the table. */
  readonly sign?: string;
  /** The tone of the sign. */
  readonly tone: Tone;
  readonly parts: TextLine;
}

/** Lines with a cursor below a header, cut to the screen. */
export interface ListView<T = unknown> {
  /** Filtered and sorted; the same object as long as they are the same. */
  readonly rows: readonly T[];
  readonly idAt: (index: number) => string | undefined;
  /** Its sort fields. */
  readonly fields: readonly string[];
  /** Number of rows without the filter. */
  readonly total: number;
  readonly cursor: number;
  /** Shown if there is no row. */
  readonly empty: string;
  /** The heading that a row is under, or none; equal ones are shown once. */
  readonly headingOf: (index: number) => string;
  /** For so many cells; `row` is called only for visible rows. */
  readonly drawn: (width: number) => {
    readonly header: string;
    readonly row: (index: number) => ListRow;
  };
}

/** Lines below a list, cut to the screen; on a small one only the first: its rows need the room. */
export function fittedLines(lines: readonly LogLine[], { columns, rows }: Size): LogLine[] {
  const shown = rows < 16 ? lines.slice(0, 1) : lines;
  return shown.map((line) => ({ ...line, text: cut(line.text, columns - 2) }));
}

/** The visible part of a list: rows by their index, each heading above its rows. The cursor is in it. */
export function listWindow(
  { cursor, rows: { length: count }, headingOf }: ListView,
  height: number,
): readonly (number | string)[] {
  const room = Math.max(1, height - 1);
  const current = Math.min(cursor, count - 1);
  let top = Math.max(0, Math.min(current - Math.floor(room / 2), count - room));
  for (;;) {
    const lines: (number | string)[] = [];
    for (let index = top; index < count && lines.length < room; index += 1) {
      const heading = headingOf(index);
      const isNew = heading !== '' && (index === top || heading !== headingOf(index - 1));
      lines.push(...(isNew && room > 1 ? [heading, index] : [index]));
    }
    // Headings may push the cursor out of sight.
    if (lines.slice(0, room).includes(current) || top >= current) return lines.slice(0, room);
    top += 1;
  }
}

type ListOver = Extract<Over, { cursor: number }>;

interface ListSpec<O extends ListOver, T extends object> extends View<O> {
  readonly kind: O['kind'];
  items(overlay: O, state: State): readonly T[];
  idOf(item: T): string;
  /** They are shown, searched and sorted by. */
  columns(overlay: O, state: State): readonly ListColumn<T>[];
  /** The searchable texts, if they are more than the columns. Always the same for an item. */
  haystacksOf?(item: T, overlay: O): readonly Haystack[];
  /** Failed and unconfirmed items, which come first. */
  isDoubtful?(item: T): boolean;
  /** Its own search, for the typed words. */
  found?(items: readonly T[], typed: string): readonly T[];
  toneOf?(item: T): Tone;
  signOf?(item: T, overlay: O): string;
  empty(overlay: O): string;
  headingOf?(item: T): string;
}

export interface ListOf<O extends ListOver, T extends object> extends View<O> {
  list(overlay: O, state: State): ListView<T>;
  /** The item under the cursor, while this list is shown. */
  current(state: State): T | undefined;
}

/** A list with the common filter, sort order and cursor. */
export function listOf<O extends ListOver, T extends object>(spec: ListSpec<O, T>): ListOf<O, T> {
  const fitted = memoized(fittedColumns<T>);
  const isShown = (overlay: Overlay): overlay is O => overlay.kind === spec.kind;
  const list = (over: O, state: State): ListView<T> => {
    const items = spec.items(over, state);
    const columns = spec.columns(over, state);
    const typed = lineText(state.find.editing.line);
    const rows = spec.found?.(items, typed) ?? arranged(spec, over, columns, items, state.find);
    const at = <R>(index: number, of: (item: T) => R, none: R): R => {
      const item = rows[index];
      return item === undefined ? none : of(item);
    };
    return {
      rows,
      idAt: (index) => at<string | undefined>(index, (item) => spec.idOf(item), undefined),
      fields: columns.filter(({ spans }) => spans === undefined).map(fieldOf),
      total: items.length,
      cursor: over.cursor,
      empty: typed === '' ? spec.empty(over) : `no match for '${visible(typed)}'`,
      headingOf: (index) => at(index, (item) => spec.headingOf?.(item) ?? '', ''),
      drawn(width) {
        const { header, line } = fitted(rows, columns, width);
        const rowOf = (item: T): ListRow => {
          const tone = spec.toneOf?.(item) ?? 'plain';
          const parts = line(item).map((span) =>
            span.tone === 'plain' ? { ...span, tone } : span,
          );
          return { sign: spec.signOf?.(item, over) ?? '', tone, parts };
        };
        return { header, row: (index) => at<ListRow>(index, rowOf, { tone: 'plain', parts: [] }) };
      },
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
  /** A harmless text. */
  readonly text: (item: T) => string;
  /** The sort value, if it is not the text. */
  readonly value?: (item: T) => ListRecord[string];
  /** Without any cell it is only searched. */
  readonly most: number;
  /** Columns with the largest rank are dropped first. */
  readonly rank: number;
  /** Least width that the column may shrink to instead of being dropped. */
  readonly least?: number;
  /** Counts as `least` when columns are fitted, and grows into the room that is left. */
  readonly isFilling?: true;
  /** Shown even if all its texts are empty. */
  readonly isKeptEmpty?: true;
  readonly tone?: (item: T) => Tone;
  /** Instead of the text, in several tones; no wider than the title. */
  readonly spans?: (item: T) => TextLine;
}

interface FittedColumns<T> {
  readonly header: string;
  readonly line: (item: T) => TextLine;
  /** The same with all of its texts, each wrapped in its column. */
  readonly lines: (item: T) => readonly TextLine[];
}

function fieldOf({ title }: { readonly title: string }): string {
  return title.toLowerCase().replaceAll(' ', '_');
}

/** Number of items measured for the column widths. */
const MOST_MEASURED = 1000;

/** Columns as wide as the content of the first items; on a narrow screen the least important ones are dropped. */
export function fittedColumns<T>(
  items: readonly T[],
  columns: readonly ListColumn<T>[],
  width: number,
): FittedColumns<T> {
  const sample = items.slice(0, MOST_MEASURED);
  const measured = columns.flatMap((column) => {
    if (column.most === 0) return [];
    const texts = sample.map(column.text);
    // Empty columns are left out.
    if (column.rank > 0 && !column.isKeptEmpty && texts.every((text) => text === '')) return [];
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
  // After one that has no room, no other one follows.
  const omitted = order.findIndex((one) => !widths.has(one));
  const kept = new Set(omitted === -1 ? order : order.slice(0, omitted));
  const shown = measured
    .filter((one) => kept.has(one))
    .map((one) => ({ ...one, cells: widths.get(one) ?? 0 }));
  const lineWith = (
    item: T,
    textOf: (column: ListColumn<T>, cells: number) => string,
  ): TextLine => {
    return shown.flatMap(({ column, cells }, index): TextLine => {
      const text = textOf(column, cells);
      const isLast = index === shown.length - 1;
      const tone = column.tone?.(item) ?? 'plain';
      if (column.spans === undefined)
        return [{ tone, text: isLast ? cut(text, cells) : fit(text, cells) + GAP }];
      const spans = column.spans(item);
      const blanks = ' '.repeat(Math.max(0, cells - widthOfSpans(spans)));
      return isLast ? spans : [...spans, { tone, text: blanks + GAP }];
    });
  };
  const header = shown.map(({ column, cells }) => fit(column.title, cells)).join(GAP);
  return {
    header: cut(header.trimEnd(), width),
    line: (item) => lineWith(item, ({ text }) => text(item)),
    lines(item) {
      const wrapped = new Map(
        shown.map(({ column, cells }) => [column, wrapText(column.text(item), cells)]),
      );
      const height = Math.max(...[...wrapped.values()].map(({ length }) => length));
      return Array.from({ length: height }, (_, row) =>
        lineWith(item, (column) => wrapped.get(column)?.[row] ?? ''),
      );
    },
  };
}

/** Lines of text with their tones; signs and words repeat their meaning. */
export function toned(
  lines: readonly string[],
  toneOf: (line: string, index: number) => Tone,
): readonly TextLine[] {
  return lines.map((line, index) => plainLine(line, toneOf(line, index)));
}

/** The heads of a printed table have capitals alone. */
export function isHead(line = ''): boolean {
  return /^[A-Z][-A-Z0-9 ]+$/.test(line);
}

/** Returns the positions of matches in a line. Case counts only if the search has capitals. */
export function searcher({ find }: { readonly find: Find }): (line: string) => number[] {
  const wanted = lineText(find.editing.line);
  const isExact = wanted !== wanted.toLowerCase();
  return (line) => placesOf(wanted, isExact ? line : line.toLowerCase());
}

/** The lines with a match. */
export function matchingLines(lines: readonly TextLine[], find: Find): number[] {
  const search = searcher({ find });
  return lines.flatMap((line, index) => (search(textOfLine(line)).length > 0 ? [index] : []));
}

/**
 * The first match from the top of a window on, or the next or previous one; wraps around. And the top of the
 * window that shows it.
 */
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

/** Number of lines that a move goes at a given height. */
export const MOVES: Readonly<Record<MoveAction, (height: number) => number>> = {
  up: () => -1,
  down: () => 1,
  'page-up': (height) => 1 - height,
  'page-down': (height) => height - 1,
  first: () => -Infinity,
  last: () => Infinity,
};

/** The first visible line after a move; `last` is the limit. */
export function movedTop(top: number, action: MoveAction, height: number, last: number): number {
  return Math.max(0, Math.min(last, Math.min(top, last) + MOVES[action](height)));
}

/* The filter and sort order of lists (`/`, `s`, `o`). */

/** The values of an item by column. */
type ListRecord = Haystack['record'];

interface Arranged {
  readonly sort: string | undefined;
  readonly text: string;
  readonly items: readonly unknown[];
}

/** The last filter result by the original items. */
const known = new WeakMap<readonly unknown[], Arranged>();

/** The items that match the filter, in the order of display. */
function arranged<O extends ListOver, T extends object>(
  { haystacksOf, isDoubtful }: Pick<ListSpec<O, T>, 'haystacksOf' | 'isDoubtful'>,
  over: O,
  columns: readonly ListColumn<T>[],
  items: readonly T[],
  { editing, sort }: Find,
): readonly T[] {
  const text = lineText(editing.line);
  const before = known.get(items);
  // The cached items have the type of the originals.
  if (before !== undefined && before.sort === sort && before.text === text)
    return before.items as readonly T[];
  const recordOf = (item: T): ListRecord =>
    Object.fromEntries(columns.map((one) => [fieldOf(one), (one.value ?? one.text)(item)]));
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
  const isFirst = (item: T): boolean => isDoubtful?.(item) === true;
  const shown =
    sort !== undefined
      ? sortBy(found, [sort], (item, field) => recordOf(item)[field])
      : found.some(isFirst)
        ? [...found.filter(isFirst), ...found.filter((item) => !isFirst(item))]
        : found;
  known.set(items, { sort, text, items: shown });
  return shown;
}

/** What a search compares, by item: preparing it takes longer than matching. */
const prepared = new WeakMap<object, readonly Haystack[]>();

/** `s`: by the next field, after the last one in the original order; `o`: reversed. */
export function nextSort(
  fields: readonly string[],
  sort: string | undefined,
  action: 'sort' | 'reverse',
): string | undefined {
  const name = sort?.replace(/^-/, '') ?? '';
  if (action === 'sort') return fields[fields.indexOf(name) + 1];
  return sort !== undefined && sort !== name ? name : `-${name || (fields[0] ?? '')}`;
}

/** As in the table, but without similar words; half a pattern counts as words. */
const filterOf = memoized((text: string): Filter => {
  const words = { terms: [{ kind: 'word' as const, text: text.toLowerCase(), isFuzzy: false }] };
  return attempt(DevshError, () => parseFilter(text, { isFuzzy: false })) ?? words;
});
