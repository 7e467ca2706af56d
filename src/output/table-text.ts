import type { Style } from './streams.ts';
import { fittedWidths, GAP } from '../text/fit-columns.ts';
import { cellsUpTo, cut, fit, widthOf } from '../text/visible.ts';

/** Decides which columns have room first. `whole` is wrapped, never cut; `extra` is omitted without room. */
export type ColumnRole = 'whole' | 'key' | 'field' | 'extra' | 'id' | 'note';

export interface TextColumn {
  readonly title: string;
  readonly role: ColumnRole;
}

/** Each cell is one line, safe to show (`cellText`). A fleet has many rows: they may be made one by one. */
export interface LongTable {
  readonly columns: readonly TextColumn[];
  readonly rows: Iterable<readonly string[]>;
}

export interface TextTable extends LongTable {
  readonly rows: readonly (readonly string[])[];
}

export const NUMBER = /^-?\d+(\.\d+)?$/;

/** What each kind of column needs, and what it wants before extra columns get a place. The first ones have room first. */
const CELLS = {
  key: { least: 12, wanted: Infinity },
  whole: { least: 24, wanted: 24 },
  field: { least: 6, wanted: 16 },
  note: { least: 6, wanted: 16 },
  id: { least: 9, wanted: 9 },
  extra: { least: 16, wanted: Infinity },
} as const satisfies Record<ColumnRole, object>;

/** For other programs: a header line and tabs, nothing cut. */
export function* tabbedLines({ columns, rows }: LongTable, style: Style): Generator<string> {
  yield style('heading', columns.map(({ title }) => title).join('\t'));
  for (const cells of rows) yield cells.join('\t');
}

/** For people: columns aligned by display width; only `whole` columns may exceed the terminal. */
export function alignedLines(
  { columns, rows }: LongTable,
  terminalWidth: number,
  style: Style,
): string[] {
  const table = { columns, rows: [...rows] };
  const widths = widthsOf(table, terminalWidth);
  const left = columns.filter((_, index) => widths[index] === undefined);
  const aligns = table.columns.map((_, index) => alignOf(table, index));
  const hasWhole = table.columns.some(({ role }) => role === 'whole');
  const line = (cells: readonly string[]): string => {
    const texts = widths.flatMap((width, index) =>
      width === undefined ? [] : [fit(cells[index] ?? '', width, aligns[index])],
    );
    const text = texts.join(GAP).trimEnd();
    return hasWhole ? text : cut(text, terminalWidth);
  };
  const rowLines = (row: readonly string[]): string[] => {
    const cells = table.columns.map(({ role }, index) =>
      role === 'whole' ? wrapped(row[index] ?? '', widths[index] ?? 0) : [row[index] ?? ''],
    );
    const height = Math.max(1, ...cells.map(({ length }) => length));
    return Array.from({ length: height }, (_, at) => line(cells.map((texts) => texts[at] ?? '')));
  };
  // Notes speak for themselves.
  const header = line(table.columns.map(({ title, role }) => (role === 'note' ? '' : title)));
  const lines = [style('heading', header), ...table.rows.flatMap(rowLines)];
  if (left.length === 0) return lines;
  const text = `no room for ${left.map(({ title }) => title).join(', ')}`;
  return [...lines, style('quiet', cut(text, terminalWidth))];
}

/** The width of each column; undefined if it is left out. */
function widthsOf({ columns, rows }: TextTable, width: number): (number | undefined)[] {
  const needs = columns.map(({ role, title }, index) => {
    const widest = (measure: (text: string) => number): number =>
      rows.reduce((most, row) => Math.max(most, measure(row[index] ?? '')), 0);
    const most = Math.max(
      cellsUpTo(title, width),
      widest((text) => cellsUpTo(text, width)),
    );
    const piece = role === 'whole' ? widest(longestPiece) : 0;
    const least = Math.min(most, Math.max(piece, CELLS[role].least));
    const wanted = Math.min(most, Math.max(piece, CELLS[role].wanted));
    return { role, most, piece, least, wanted };
  });
  const order = Object.keys(CELLS).flatMap((role) => needs.filter((need) => need.role === role));
  const isExtra = ({ role }: (typeof needs)[number]): boolean => role === 'extra';
  const groups = [order.filter((need) => !isExtra(need)), order.filter(isExtra)];
  const widths = fittedWidths(groups, width);
  return needs.map((need) => {
    const cells = widths.get(need);
    return cells === undefined ? undefined : Math.max(cells, need.piece);
  });
}

/** Where text may wrap: device names stay whole, fingerprints break at colons. */
function piecesOf(text: string): string[] {
  const isFingerprint = /^(?:[\dA-F]{2}:){8,}[\dA-F]{2}$/.test(text);
  return text.split(isFingerprint ? /(?<=:)/ : /(?<=[, &])/);
}

function longestPiece(text: string): number {
  return Math.max(...piecesOf(text).map((piece) => widthOf(piece.trimEnd())));
}

/** The text in lines of at most `width` cells, as far as its pieces allow. */
function wrapped(text: string, width: number): string[] {
  if (widthOf(text) <= width) return [text];
  const lines: string[] = [''];
  for (const piece of piecesOf(text)) {
    const line = lines.at(-1) ?? '';
    if (line === '' || widthOf(`${line}${piece}`.trimEnd()) <= width) {
      lines[lines.length - 1] = line + piece;
    } else {
      lines.push(piece);
    }
  }
  return lines.map((line) => line.trimEnd());
}

function alignOf(table: TextTable, index: number): 'left' | 'right' {
  const cells = table.rows.map((row) => row[index] ?? '').filter((cell) => cell !== '');
  return cells.length > 0 && cells.every((cell) => NUMBER.test(cell)) ? 'right' : 'left';
}
