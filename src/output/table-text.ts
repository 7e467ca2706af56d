import type { Style } from './streams.ts';
import { GAP } from '../text/fit-columns.ts';
import { cellsUpTo, cut, fit, widthOf } from '../text/visible.ts';

/** Decides which columns shrink first. `whole` is wrapped, never cut; `extra` is omitted without room. */
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
interface Shrinking {
  readonly roles: readonly ColumnRole[];
  readonly floor: number;
}

/** The narrowest that each kind of column becomes before the next kind has to shrink. */
const LEGIBLE: readonly Shrinking[] = [
  { roles: ['id'], floor: 9 },
  { roles: ['whole'], floor: 24 },
  { roles: ['field', 'extra', 'id', 'note'], floor: 16 },
];

/** The same if no more columns can be omitted. */
const NARROW: readonly Shrinking[] = [
  { roles: ['id'], floor: 9 },
  { roles: ['field', 'extra', 'id'], floor: 6 },
  { roles: ['field', 'extra', 'id', 'note', 'whole'], floor: 6 },
  { roles: ['key'], floor: 12 },
];

/** Only the columns that name the rows remain. */
const NARROWEST: readonly Shrinking[] = [{ roles: ['whole', 'key'], floor: 3 }];

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
  const natural = table.columns.map(({ title }, index) =>
    table.rows.reduce(
      (widest, row) => Math.max(widest, cellsUpTo(row[index] ?? '', terminalWidth)),
      cellsUpTo(title, terminalWidth),
    ),
  );
  const { widths, left } = fitted(table, natural, terminalWidth);
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

/** The width of each column, undefined if omitted; and the omitted columns. */
function fitted(
  { columns, rows }: TextTable,
  natural: readonly number[],
  terminalWidth: number,
): { widths: readonly (number | undefined)[]; left: readonly TextColumn[] } {
  const sum = (widths: readonly number[]): number =>
    widths.reduce((total, width) => total + width + GAP.length, -GAP.length);
  if (sum(natural) <= terminalWidth) return { widths: natural, left: [] };
  const shrinkable = columns.map(({ role }, index) => ({
    role,
    width: natural[index] ?? 0,
    least:
      role === 'whole'
        ? rows.reduce((widest, row) => Math.max(widest, longestPiece(row[index] ?? '')), 0)
        : 0,
  }));
  let kept = columns.map((_, index) => index);
  const keptColumns = (): Shrinkable[] => kept.flatMap((index) => shrinkable[index] ?? []);
  const fits = (steps: readonly Shrinking[]): boolean =>
    sum(keptColumns().map((column) => narrowest(column, steps))) <= terminalWidth;
  /** Until the others have room: the last ones first. */
  const leaveOut = (roles: readonly ColumnRole[], steps: readonly Shrinking[]): void => {
    while (!fits(steps)) {
      const last = kept.findLast((index) => roles.includes(columns[index]?.role ?? 'field'));
      if (last === undefined || kept.length === 1) return;
      kept = kept.filter((index) => index !== last);
    }
  };
  leaveOut(['extra'], LEGIBLE);
  let steps = LEGIBLE;
  if (!fits(steps)) {
    leaveOut(['field', 'id', 'note'], NARROW);
    steps = fits(NARROW) ? NARROW : NARROWEST;
    if (steps === NARROWEST) leaveOut(['key'], NARROWEST);
  }
  const widths = shrink(keptColumns(), steps, terminalWidth - GAP.length * (kept.length - 1));
  const widthAt = new Map(kept.map((index, at) => [index, widths[at]]));
  return {
    widths: columns.map((_, index) => widthAt.get(index)),
    left: columns.filter((_, index) => !widthAt.has(index)),
  };
}

/** How narrow a column becomes in these steps. */
function narrowest({ role, width, least }: Shrinkable, steps: readonly Shrinking[]): number {
  const floors = steps.filter(({ roles }) => roles.includes(role)).map(({ floor }) => floor);
  return Math.min(width, Math.max(least, Math.min(width, ...floors)));
}

interface Shrinkable {
  readonly width: number;
  /** No narrower than this. */
  readonly least: number;
  readonly role: ColumnRole;
}

/** Takes cells from the widest column that may still shrink. */
function shrink(
  columns: readonly Shrinkable[],
  steps: readonly Shrinking[],
  available: number,
): number[] {
  const widths = columns.map(({ width }) => width);
  let excess = widths.reduce((sum, width) => sum + width, 0) - available;
  for (const { roles, floor } of steps) {
    while (excess > 0) {
      let widest = -1;
      columns.forEach(({ role, least }, index) => {
        const width = widths[index] ?? 0;
        if (!roles.includes(role) || width <= Math.max(floor, least)) return;
        if (width > (widths[widest] ?? 0)) widest = index;
      });
      if (widest === -1) break;
      widths[widest] = (widths[widest] ?? 0) - 1;
      excess -= 1;
    }
  }
  return widths;
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
