import type { Invocation } from '../../shell/command.ts';
import type { DriftOutput, TableOutput } from '../../shell/output.ts';
import { cut, fit, widthOf } from '../../text/width.ts';
import { lineText } from '../editor/line.ts';
import type { MoveAction, ViewAction } from '../keys/key-binding.ts';
import type { Span, Tone } from '../screen/theme.ts';
import type { Find, Keymap, LogLine, Overlay, State } from '../state.ts';
import type { TitlePart } from '../table/view.ts';
import { DevshError } from '../../errors.ts';
import {
  type Filter,
  type Haystack,
  matchesHaystack,
  parseFilter,
  prepareHaystack,
} from '../../fleet/filter.ts';
import { sortBy } from '../../fleet/sort.ts';
import { memoized } from '../store.ts';

/** What can lie over the table. */
export type Over = Exclude<Overlay, { kind: 'none' }>;

export type OverOf<K extends Over['kind']> = Extract<Over, { kind: K }>;

/** All that is known of one kind of view: a list with a cursor, or a text. */
export interface View<O extends Over = Over> {
  /** Those that it has beside the keys of every view. */
  readonly keys?: Keymap;
  /** Its step on the way: `devices › fw1 › users`. */
  crumb(overlay: O): string;
  /** What makes it the same on the trail, besides its kind; `table`: as `tableId` tells it. */
  id?(overlay: O, table: string): string;
  /** What is new, looked at where the old was; without it a list keeps its cursor, a text begins anew. */
  resumed?(overlay: O, known: O): O;
  /** What the title says of it; `found`: what is looked for in it. Without it: which lines are in sight. */
  title?(overlay: O, state: State, found: TitlePart): readonly TitlePart[];
  /** What a key does in this view alone; undefined: what it does in others. */
  act?(overlay: O, state: State, action: ViewAction): State | undefined;
  /** What Enter opens over it. */
  details?(overlay: O, state: State): Over | undefined;
  /** Lines that stand whole below it. */
  below?(state: State): readonly LogLine[];
  /** It tells what comes in itself: no messages stand below it. */
  readonly tellsAll?: boolean;
  /** The view that what a command says is shown in. */
  opening?(output: TableOutput | DriftOutput, invocation: Invocation, line: string): O | undefined;
  /** Said in its place where the command found nothing to list. */
  readonly nothing?: string;
  /** Of a list: the row that it begins at, when it is opened from the table. */
  start?(state: State): string | undefined;
  listed?(overlay: O, state: State): Listed;
  drawn?(overlay: O, state: State): ListView;
  /** Of a text: wrapped to the screen. */
  lines?(overlay: O, state: State): readonly string[];
  /** The colour of a line: signs and words say the same. */
  tone?(overlay: O, state: State, lines: readonly string[], index: number): Tone;
  /** For the pager, which wraps by itself. */
  unwrapped?(overlay: O): readonly string[];
}

/** What a list has in it. */
export interface Listed {
  /** The rows in sight, as they are filtered and sorted; the same object as long as they are the same. */
  readonly rows: readonly unknown[];
  readonly idAt: (index: number) => string | undefined;
  /** What it can be sorted by. */
  readonly fields: readonly string[];
  /** With the rows that the filter leaves out. */
  readonly total: number;
}

export interface ListRow {
  readonly text: string;
  readonly tone: Tone;
  /** The same text in pieces, where its parts differ in tone. */
  readonly parts?: readonly Span[];
}

/** Lines with a cursor below a header, cut to the screen. */
export interface ListView {
  readonly header: string;
  readonly count: number;
  /** Made only for what is in sight. */
  readonly row: (index: number) => ListRow;
  readonly cursor: number;
  /** Said where there is no row. */
  readonly empty: string;
}

type ListOver = Extract<Over, { cursor: number }>;

interface ListSpec<O extends ListOver, T> extends View<O> {
  source(overlay: O, state: State): ListSource<T>;
  /** The rows as they are drawn: each made when it is in sight, or all as lines. */
  draw(
    items: readonly T[],
    overlay: O,
    state: State,
    width: number,
  ): { readonly header: string } & (
    { readonly lines: readonly string[] } | { readonly row: (index: number) => ListRow }
  );
  toneOf?(item: T): Tone;
  empty(overlay: O): string;
}

/** A list that filters, sorts and keeps its cursor as all do. */
export function listOf<O extends ListOver, T>(spec: ListSpec<O, T>): View<O> {
  return {
    ...spec,
    listed(over, state) {
      const source = spec.source(over, state);
      const rows = arranged(source, state.find);
      const idAt = (index: number): string | undefined => {
        const row = rows[index];
        return row === undefined ? undefined : source.idOf(row);
      };
      return { rows, idAt, fields: source.fields, total: source.items.length };
    },
    drawn(over, state) {
      const items = arranged(spec.source(over, state), state.find);
      const made = spec.draw(items, over, state, state.size.columns - 2);
      const row = (index: number): ListRow => {
        if ('row' in made) return made.row(index);
        const item = items[index];
        const tone = item === undefined ? undefined : spec.toneOf?.(item);
        return { text: made.lines[index] ?? '', tone: tone ?? 'plain' };
      };
      const { header } = made;
      return { header, count: items.length, row, cursor: over.cursor, empty: spec.empty(over) };
    },
  };
}

export interface ListColumn<T> {
  readonly title: string;
  /** Harmless. */
  readonly text: (item: T) => string;
  /** What it is sorted by, where that is not its text. */
  readonly value?: (item: T) => ListRecord[string];
  readonly most: number;
  /** What goes first when there is no room: the largest. */
  readonly rank: number;
  /** Rather than going, it is made so narrow. */
  readonly least?: number;
}

/** What can be sorted and filtered by: all that the columns say of an item. */
export function sourceOf<T>(
  items: readonly T[],
  idOf: (item: T) => string,
  columns: readonly ListColumn<T>[],
): ListSource<T> {
  const fields = columns.map(({ title }) => title.toLowerCase().replaceAll(' ', '_'));
  return {
    items,
    idOf,
    fields,
    recordOf: (item) =>
      Object.fromEntries(
        columns.map(({ value, text }, at) => [fields[at] ?? '', (value ?? text)(item)]),
      ),
  };
}

/** Columns as wide as their content; those that have no room are left out, the least important first. */
export function listLines<T>(
  items: readonly T[],
  columns: readonly ListColumn<T>[],
  width: number,
): { header: string; lines: string[] } {
  const measured = columns
    .map((column) => {
      const texts = items.map(column.text);
      const widest = Math.max(widthOf(column.title), ...texts.map(widthOf));
      return { column, texts, cells: Math.min(column.most, widest) };
    })
    // A column that says nothing of anybody is none.
    .filter(({ texts, column }) => column.rank === 0 || texts.some((text) => text !== ''));
  const total = (): number => measured.reduce((sum, { cells }) => sum + cells + 2, -2);
  while (measured.length > 1 && total() > width) {
    const last = Math.max(...measured.map(({ column }) => column.rank));
    const index = measured.findIndex(({ column }) => column.rank === last);
    const goes = measured[index];
    const room = (goes?.cells ?? 0) - (total() - width);
    if (goes?.column.least !== undefined && room >= goes.column.least) goes.cells = room;
    else measured.splice(index, 1);
  }
  const line = (texts: readonly string[]): string =>
    cut(
      measured
        .map(({ cells }, index) => fit(texts[index] ?? '', cells))
        .join('  ')
        .trimEnd(),
      width,
    );
  return {
    header: line(measured.map(({ column }) => column.title)),
    lines: items.map((_, row) => line(measured.map(({ texts }) => texts[row] ?? ''))),
  };
}

/** Where a line has what is looked for. Capitals count only when some were typed. */
export function searcher({ find }: { readonly find: Find }): (line: string) => number[] {
  const wanted = lineText(find.editing.line);
  const isExact = wanted !== wanted.toLowerCase();
  return (line) => {
    const places: number[] = [];
    if (wanted === '') return places;
    const text = isExact ? line : line.toLowerCase();
    const needle = isExact ? wanted : wanted.toLowerCase();
    for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length)) {
      places.push(at);
    }
    return places;
  };
}

/** By how many lines a move goes where so many are in sight. */
export const MOVES: Readonly<Record<MoveAction, (height: number) => number>> = {
  up: () => -1,
  down: () => 1,
  'page-up': (height) => 1 - height,
  'page-down': (height) => height - 1,
  'half-up': (height) => -Math.ceil(height / 2),
  'half-down': (height) => Math.ceil(height / 2),
  first: () => -Infinity,
  last: () => Infinity,
};

/** The first line shown after a move; `last` is the furthest that it can be. */
export function movedTop(top: number, action: MoveAction, height: number, last: number): number {
  return Math.max(0, Math.min(last, Math.min(top, last) + MOVES[action](height)));
}

/* What `/`, `s` and `o` do with a list over the table, the same for each. */

/** What is told of an item, by the names of its columns. */
type ListRecord = Haystack['record'];

/** The items of a list and what is known of each, whatever its rows look like. */
export interface ListSource<T> {
  readonly items: readonly T[];
  readonly idOf: (item: T) => string;
  /** What it is sorted by, in the order of the columns; also the fields of a filter. */
  readonly fields: readonly string[];
  readonly recordOf: (item: T) => ListRecord;
  /** What a filter looks at where that is more than the record. */
  readonly haystacksOf?: (item: T) => readonly Haystack[];
  /** The failed and doubtful ones: they come first. */
  readonly isDoubtful?: (item: T) => boolean;
}

interface Arranged {
  readonly sort: string | undefined;
  readonly text: string;
  readonly items: readonly unknown[];
}

/** By the items as they came: what the last filter and order made of them. */
const known = new WeakMap<readonly unknown[], Arranged>();

/** The items that the filter leaves, in the order in which they are shown. */
export function arranged<T>(source: ListSource<T>, { editing, sort }: Find): readonly T[] {
  const text = lineText(editing.line);
  const before = known.get(source.items);
  // What was made of these items is of their type.
  if (before !== undefined && before.sort === sort && before.text === text)
    return before.items as readonly T[];
  const items = sorted(filtered(source, filterOf(text)), source, sort);
  known.set(source.items, { sort, text, items });
  return items;
}

function filtered<T>({ items, recordOf, haystacksOf }: ListSource<T>, filter: Filter) {
  if (filter.terms.length === 0) return items;
  const lookAt = haystacksOf ?? ((item: T) => [prepareHaystack(recordOf(item), '')]);
  return items.filter((item) => lookAt(item).some((one) => matchesHaystack(filter, one)));
}

function sorted<T>(
  items: readonly T[],
  { recordOf, isDoubtful }: ListSource<T>,
  sort: string | undefined,
): readonly T[] {
  if (sort !== undefined) return sortBy(items, [sort], (item, field) => recordOf(item)[field]);
  if (isDoubtful === undefined || !items.some(isDoubtful)) return items;
  return [...items.filter(isDoubtful), ...items.filter((item) => !isDoubtful(item))];
}

/** `s`: by the next field, behind the last one as the list came; `o`: the other way round. */
export function nextSort(
  fields: readonly string[],
  sort: string | undefined,
  action: 'sort' | 'reverse',
): string | undefined {
  const name = sort?.replace(/^-/, '') ?? '';
  if (action === 'sort') return fields[fields.indexOf(name) + 1];
  return sort !== undefined && sort !== name ? name : `-${name || (fields[0] ?? '')}`;
}

/** As in the table, but words must be there as typed; half a pattern is taken as words. */
const filterOf = memoized((text: string): Filter => {
  try {
    return parseFilter(text, { isFuzzy: false });
  } catch (error) {
    if (!(error instanceof DevshError)) throw error;
    return { terms: [{ kind: 'word', text: text.toLowerCase(), isFuzzy: false }] };
  }
});
