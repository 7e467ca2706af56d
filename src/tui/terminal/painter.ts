import { characterWidth, graphemeClusters, isNarrow, isPlainAscii } from '../../text/visible.ts';
import { changedCells, ERASE_TO_LINE_END, SGR } from './line-change.ts';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** A cell of the screen, from 0. */
export interface CursorPosition {
  readonly row: number;
  readonly column: number;
}

/** Begins synchronized output (DEC 2026), without wrapping: a line that is too long on the screen stays one line. */
const BEGIN = '\x1b[?2026h\x1b[?7l';
const END = '\x1b[?7h\x1b[?2026l';
const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';

/** Moves lines that moved, and writes only changed cells. Never scrolls, so that the user's scrollback stays. */
export class Painter {
  readonly #write: (bytes: string) => void;
  readonly #size: () => Size;
  /** The lines on the screen, as requested; undefined if they are unknown. */
  #lines: readonly string[] | undefined;
  #painted: Size = { columns: 0, rows: 0 };
  #cursor: CursorPosition | undefined;

  constructor(write: (bytes: string) => void, size: () => Size) {
    this.#write = write;
    this.#size = size;
  }

  /** Draws a frame, cut to the screen. The bottom right cell stays empty, because a terminal would scroll. */
  paint(frame: string, cursor?: CursorPosition): void {
    const size = this.#size();
    if (size.columns !== this.#painted.columns || size.rows !== this.#painted.rows) {
      this.invalidate();
    }
    const lines = frame.split('\n', size.rows);
    const scroll = this.#lines && scrollOf(this.#lines, lines, size);
    const known = scroll === undefined ? this.#lines : scrolled(this.#lines ?? [], scroll);
    const height = known === undefined ? size.rows : Math.max(lines.length, known.length);
    let bytes = scroll === undefined ? '' : scrollBytes(scroll);
    for (let row = 0; row < height; row++) {
      const line = lines[row] ?? '';
      const before = known && (known[row] ?? '');
      if (line !== before) bytes += lineBytes(before, line, row, size);
    }
    const place = cursor && {
      row: Math.max(0, Math.min(cursor.row, size.rows - 1)),
      column: Math.max(0, Math.min(cursor.column, size.columns - 1)),
    };
    const isSamePlace = place?.row === this.#cursor?.row && place?.column === this.#cursor?.column;
    const wasShown = this.#cursor !== undefined;
    this.#lines = lines;
    this.#painted = size;
    this.#cursor = place;
    if (bytes !== '') {
      const reset = known === undefined ? '\x1b[m' : '';
      // A cursor that moves during painting flickers.
      const hide = wasShown || known === undefined ? HIDE_CURSOR : '';
      this.#write(BEGIN + hide + reset + bytes + (place ? moveTo(place) + SHOW_CURSOR : '') + END);
    } else if (!isSamePlace) {
      const show = wasShown ? '' : SHOW_CURSOR;
      this.#write(place ? moveTo(place) + show : HIDE_CURSOR);
    }
  }

  /** Makes the next paint write the whole screen, after a resize or a change by others. */
  invalidate(): void {
    this.#lines = undefined;
    this.#cursor = undefined;
  }
}

/** Deletes or inserts lines between margins, which all terminals support, unlike scroll sequences. */
function scrollBytes({ top, bottom, up }: Scroll): string {
  const change = up > 0 ? `\x1b[${up}M` : `\x1b[${-up}L`;
  return `\x1b[${top + 1};${bottom + 1}r${moveTo({ row: top, column: 0 })}${change}\x1b[r`;
}

/** The bytes that draw a line over `before`, or over an unknown line (undefined). */
function lineBytes(before: string | undefined, line: string, row: number, size: Size): string {
  const columns = row === size.rows - 1 ? size.columns - 1 : size.columns;
  const { text, width } = clipLine(line, columns);
  // After a full line the cursor is still on its last cell, which erasing would clear.
  const whole = width < size.columns ? text + ERASE_TO_LINE_END : text;
  const change =
    before === undefined ? undefined : changedCells(clipLine(before, columns).text, text);
  const bytes = change !== undefined && change.length < whole.length ? change : whole;
  return `\x1b[${row + 1}H${bytes}`.replace(/^(\x1b\[\d+)H\x1b\[(\d+)G/, '$1;$2H');
}

function moveTo({ row, column }: CursorPosition): string {
  return `\x1b[${row + 1};${column + 1}H`;
}

/** A line that is safe for the screen: only text and colours, cut to a width. */
interface ClippedLine {
  readonly text: string;
  /** The number of its cells. */
  readonly width: number;
}

/** Control characters, which never reach the screen. Only SGR sequences do. */
const CONTROLS = /[\x00-\x1f\x7f-\x9f]/g;

/** Emoji, sequences and marks whose width differs between terminals. */
const UNSURE =
  /\p{Extended_Pictographic}|\p{Regional_Indicator}|\p{Mc}|[\u200d\ufe0e\ufe0f\u20e3]/u;

/** Cuts a line to `columns` cells, and drops control characters but colours: data never controls the terminal. */
export function clipLine(line: string, columns: number): ClippedLine {
  if (isPlainAscii(line)) {
    const text = line.length <= columns ? line : line.slice(0, columns);
    return { text, width: text.length };
  }
  let text = '';
  let width = 0;
  let isFull = false;
  for (const [index, part] of line.split(SGR).entries()) {
    if (index % 2 === 1) {
      text += part;
    } else if (!isFull) {
      const clipped = clipText(part.replace(CONTROLS, ''), width, columns);
      text += clipped.text;
      width += clipped.width;
      isFull = clipped.isCut;
    }
  }
  return { text: line.includes('\x1b') ? text + '\x1b[m' : text, width };
}

/** Cuts `text`, which begins at column `start`, to end at `columns`. */
function clipText(
  text: string,
  start: number,
  columns: number,
): ClippedLine & { readonly isCut: boolean } {
  if (isNarrow(text)) {
    const kept = text.slice(0, columns - start);
    return { text: kept, width: kept.length, isCut: kept.length < text.length };
  }
  let kept = '';
  let column = start;
  for (const { segment } of graphemeClusters(text)) {
    const cells = characterWidth(segment);
    if (column + cells > columns) return { text: kept, width: column - start, isCut: true };
    kept += UNSURE.test(segment) ? placed(segment, column, cells) : segment;
    column += cells;
  }
  return { text: kept, width: column - start, isCut: false };
}

/** Writes a character of unsure width. Clears its cells first, so that no old content stays if it is narrower. */
function placed(segment: string, column: number, cells: number): string {
  return `${' '.repeat(cells)}${toColumn(column)}${segment}${toColumn(column + cells)}`;
}

/** Cursor Character Absolute, from column 0. */
function toColumn(column: number): string {
  return `\x1b[${column + 1}G`;
}

/** A block of lines that moved up or down, from row `top` to row `bottom`, both from 0. */
interface Scroll {
  readonly top: number;
  readonly bottom: number;
  /** The number of rows; negative if the block moved down. */
  readonly up: number;
}

/** The scroll that saves enough writing; undefined if none does. The last row never moves: it would fill the last cell. */
function scrollOf(
  linesBefore: readonly string[],
  linesAfter: readonly string[],
  { rows }: Size,
): Scroll | undefined {
  const [before, after] = [linesBefore.slice(0, rows - 1), linesAfter.slice(0, rows - 1)];
  const scroll = widestScroll(before, after);
  if (scroll === undefined) return undefined;
  const saved = changedRows(before, after) - changedRows(scrolled(before, scroll), after);
  // The scroll sequences are about as long as a short line.
  return saved > 1 ? scroll : undefined;
}

/** The lines after the scroll; new lines are empty. */
export function scrolled(lines: readonly string[], { top, bottom, up }: Scroll): readonly string[] {
  return lines.map((line, row) => {
    if (row < top || row > bottom) return line;
    const from = row + up;
    return from < top || from > bottom ? '' : (lines[from] ?? '');
  });
}

/** The block of lines that moved by the most common distance. */
function widestScroll(before: readonly string[], after: readonly string[]): Scroll | undefined {
  const rowOf = new Map(before.map((line, row) => [line, row]));
  const moved = new Map<number, { first: number; last: number; count: number }>();
  after.forEach((line, row) => {
    const from = rowOf.get(line);
    if (line === '' || from === undefined || line === before[row]) return;
    const { first = row, count = 0 } = moved.get(from - row) ?? {};
    moved.set(from - row, { first, last: row, count: count + 1 });
  });
  const [most] = [...moved].sort(([, a], [, b]) => b.count - a.count);
  if (most === undefined) return undefined;
  const [up, { first, last }] = most;
  return { top: Math.min(first, first + up), bottom: Math.max(last, last + up), up };
}

function changedRows(before: readonly string[], after: readonly string[]): number {
  return after.reduce((count, line, row) => (line === (before[row] ?? '') ? count : count + 1), 0);
}
