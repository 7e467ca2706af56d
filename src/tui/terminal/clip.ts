import stringWidth from 'string-width';
import { graphemeClusters, isNarrow, isPlainAscii } from '../../text/width.ts';

/** A line made fit for the screen: only text and colours, no wider than asked. */
export interface ClippedLine {
  readonly text: string;
  /** Cells that it fills. */
  readonly width: number;
}

/** Select Graphic Rendition: the one control sequence that may reach the screen. */
const SGR = /(\x1b\[[\d;:]*m)/;
const CONTROLS = /[\x00-\x1f\x7f-\x9f]/g;

/** Emoji, sequences and marks of which terminals do not agree how many cells they take. */
const UNSURE =
  /\p{Extended_Pictographic}|\p{Regional_Indicator}|\p{Mc}|[\u200d\ufe0e\ufe0f\u20e3]/u;

/**
 * Cuts a line to `columns` cells, never through a wide character, keeps its colours and drops every
 * other control character: whatever slipped through above, the terminal is not steered by data. What terminals
 * draw in more or fewer cells than it should take is followed by a move to its next column.
 */
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

/** `text` from column `start` on, as far as `columns`. */
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
    const cells = stringWidth(segment);
    if (column + cells > columns) return { text: kept, width: column - start, isCut: true };
    kept += UNSURE.test(segment) ? placed(segment, column, cells) : segment;
    column += cells;
  }
  return { text: kept, width: column - start, isCut: false };
}

/** Its cells are emptied first: where it takes fewer of them, no old ones stay. */
function placed(segment: string, column: number, cells: number): string {
  return `${' '.repeat(cells)}${toColumn(column)}${segment}${toColumn(column + cells)}`;
}

/** Cursor Character Absolute, from column 0. */
function toColumn(column: number): string {
  return `\x1b[${column + 1}G`;
}
