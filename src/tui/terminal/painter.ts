import { clipLine } from './clip.ts';
import { scrollBetween, scrolled, type Scroll } from './scroll.ts';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** A cell of the screen, from 0. */
export interface CursorPosition {
  readonly row: number;
  readonly column: number;
}

/** Synchronized output (DEC 2026), and no wrapping: a line that comes out too long stays a line. */
const BEGIN = '\x1b[?2026h\x1b[?7l';
const END = '\x1b[?7h\x1b[?2026l';
const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
const ERASE_TO_LINE_END = '\x1b[K';

/**
 * Puts whole frames on the screen with few bytes: lines that moved are moved, and only those that
 * changed are written. The screen never scrolls and is never cleared as a whole, so the scrollback of the
 * user is never touched.
 */
export class Painter {
  readonly #write: (bytes: string) => void;
  readonly #size: () => Size;
  /** The lines on the screen as they were asked for; undefined: not known. */
  #lines: readonly string[] | undefined;
  #painted: Size = { columns: 0, rows: 0 };
  #cursor: CursorPosition | undefined;

  constructor(write: (bytes: string) => void, size: () => Size) {
    this.#write = write;
    this.#size = size;
  }

  /**
   * Shows `frame`, lines parted by `\n`, each starting in the default colours. What does not fit is cut;
   * the cell at the bottom right stays empty, since writing it makes some terminals scroll. The cursor
   * is shown at `cursor`, hidden without it.
   */
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
      if (known === undefined || line !== (known[row] ?? '')) {
        bytes += moveTo({ row, column: 0 }) + lineBytes(line, row, size);
      }
    }
    const place = cursor && within(cursor, size);
    const isSamePlace = samePlace(place, this.#cursor);
    const wasShown = this.#cursor !== undefined;
    this.#lines = lines;
    this.#painted = size;
    this.#cursor = place;
    if (bytes !== '') {
      const reset = known === undefined ? '\x1b[m' : '';
      // A cursor that runs over the screen while it is painted flickers.
      const hide = wasShown || known === undefined ? HIDE_CURSOR : '';
      this.#write(BEGIN + hide + reset + bytes + (place ? moveTo(place) + SHOW_CURSOR : '') + END);
    } else if (!isSamePlace) {
      const show = wasShown ? '' : SHOW_CURSOR;
      this.#write(place ? moveTo(place) + show : HIDE_CURSOR);
    }
  }

  /** The screen is no longer known (resized, or written to by others): the next paint writes all of it. */
  invalidate(): void {
    this.#lines = undefined;
    this.#cursor = undefined;
  }
}

/** The last row is left out: the full line of another one would fill its last cell. */
function scrollOf(
  before: readonly string[],
  after: readonly string[],
  { rows }: Size,
): Scroll | undefined {
  return scrollBetween(before.slice(0, rows - 1), after.slice(0, rows - 1));
}

/** Deletes or inserts lines between margins: unlike scrolling by its own sequence, all terminals can. */
function scrollBytes({ top, bottom, up }: Scroll): string {
  const change = up > 0 ? `\x1b[${up}M` : `\x1b[${-up}L`;
  return `\x1b[${top + 1};${bottom + 1}r${moveTo({ row: top, column: 0 })}${change}\x1b[r`;
}

function lineBytes(line: string, row: number, size: Size): string {
  const isLast = row === size.rows - 1;
  const { text, width } = clipLine(line, isLast ? size.columns - 1 : size.columns);
  // After a full line the cursor still stands on its last cell, which erasing would take.
  return width < size.columns ? text + ERASE_TO_LINE_END : text;
}

function moveTo({ row, column }: CursorPosition): string {
  return `\x1b[${row + 1};${column + 1}H`;
}

function within(cursor: CursorPosition, size: Size): CursorPosition {
  return {
    row: Math.max(0, Math.min(cursor.row, size.rows - 1)),
    column: Math.max(0, Math.min(cursor.column, size.columns - 1)),
  };
}

function samePlace(a: CursorPosition | undefined, b: CursorPosition | undefined): boolean {
  return a?.row === b?.row && a?.column === b?.column;
}
