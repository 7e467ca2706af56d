import { cut, fit, widthOf } from '../../text/width.ts';
import type { Span } from '../screen/bar-lines.ts';
import { runLines, runSource } from './runs-lines.ts';
import type { State } from '../state.ts';
import { visible } from '../../text/visible.ts';
import type { Tone } from '../screen/theme.ts';
import { lineText } from '../editor/line.ts';
import { arranged, type ListRecord } from './arrange.ts';
import { deviceList, deviceSource } from './device-list.ts';
import { driftList } from './drift-list.ts';
import { questionList, questionSource } from './questions-list.ts';
import { resourceList, resourceSource } from './resource-list.ts';

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

/** The view over the table as a list; undefined when it is none. */
export function listView(state: State): ListView | undefined {
  const list = whole(state);
  const wanted = lineText(state.find.editing.line);
  return list === undefined || wanted === ''
    ? list
    : { ...list, empty: `nothing here has '${visible(wanted)}'` };
}

function whole(state: State): ListView | undefined {
  const { overlay, size, find } = state;
  const width = size.columns - 2;
  switch (overlay.kind) {
    case 'runs': {
      const runs = arranged(runSource(overlay.runs), find);
      const [header = '', ...lines] = runLines(runs, width);
      return {
        header,
        count: lines.length,
        row: (index) => ({ text: lines[index] ?? '', tone: 'plain' }),
        cursor: overlay.cursor,
        empty: 'no run was made yet',
      };
    }
    case 'devices':
      return deviceList(state, arranged(deviceSource(state), find), overlay.cursor, width);
    case 'resources': {
      const offers = arranged(resourceSource(state, overlay.resources), find);
      return resourceList(state, offers, overlay.cursor, width);
    }
    case 'questions':
      return questionList(arranged(questionSource(state), find), overlay, width);
    case 'drift':
      return driftList(overlay, find, width);
    case 'none':
    case 'pager':
    case 'help':
    case 'roll-out':
    case 'details':
      return undefined;
  }
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

/** The name of a column in a filter: `reached_by`. */
export function fieldOf({ title }: Pick<ListColumn<never>, 'title'>): string {
  return title.toLowerCase().replaceAll(' ', '_');
}

/** What the columns say of an item, by their names. */
export function recordBy<T>(columns: readonly ListColumn<T>[]): (item: T) => ListRecord {
  const fields = columns.map((column) => [fieldOf(column), column.value ?? column.text] as const);
  return (item) => Object.fromEntries(fields.map(([field, value]) => [field, value(item)]));
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
