import { graphemeClusters, isPlainAscii, widthOf } from '../../text/visible.ts';

interface Cell {
  /** Empty for the right half of a wide character. */
  readonly text: string;
  /** Its colours, as SGR sequences since the last reset. */
  readonly style: string;
}

const BLANK: Cell = { text: ' ', style: '' };
export const SGR = /(\x1b\[[\d;:]*m)/;
const RESETS = /^\x1b\[0*m$/;
/** The SGR sequences that each of these ends. Ink ends each colour and attribute alone. */
const ENDED: Readonly<Record<string, RegExp>> = {
  '\x1b[22m': /\x1b\[[12]m/g,
  '\x1b[24m': /\x1b\[4m/g,
  '\x1b[27m': /\x1b\[7m/g,
  '\x1b[39m': /\x1b\[(?:38[;:]|[39]\d)[\d;:]*m/g,
  '\x1b[49m': /\x1b\[(?:48[;:]|4\d|10\d)[\d;:]*m/g,
};
const RESET = '\x1b[m';
export const ERASE_TO_LINE_END = '\x1b[K';

/** For so few equal cells between two changes, writing is no longer than moving the cursor. */
const SHORT_GAP = 5;

/** For this many blanks, it is shorter to erase them and move on than to write them. */
const MANY_BLANKS = 12;

/** The bytes that turn one line into another, from the first column; undefined for characters of unsure width. */
export function changedCells(before: string, after: string): string | undefined {
  const old = cellsOf(before);
  const cells = cellsOf(after);
  if (old === undefined || cells === undefined) return undefined;
  // Blanks up to the end of the line are erased, not written.
  const end = cells.findLastIndex((cell) => !isSame(cell, BLANK)) + 1;
  let bytes = '';
  let style = '';
  const setStyle = (wanted: string): void => {
    if (wanted !== style) bytes += (style === '' ? '' : RESET) + wanted;
    style = wanted;
  };
  let column = 0;
  let erased = 0;
  for (const [at, cell] of cells.slice(0, end).entries()) {
    if (at < erased || isSame(cell, old[at] ?? BLANK)) continue;
    if (at - column > SHORT_GAP) {
      bytes += `\x1b[${at + 1}G`;
      column = at;
    }
    const blanks = cells.slice(at).findIndex((other) => !isSame(other, BLANK));
    const last = blanks < MANY_BLANKS ? at + 1 : at;
    for (const { text, style: wanted } of cells.slice(column, last)) {
      setStyle(wanted);
      bytes += text;
    }
    column = cells[last]?.text === '' ? last + 1 : last;
    if (last === at) {
      setStyle('');
      bytes += `\x1b[${blanks}X`;
      erased = at + blanks;
    }
  }
  if (style !== '') bytes += RESET;
  if (!old.slice(end).some((cell) => !isSame(cell, BLANK))) return bytes;
  return `${bytes}${column === end ? '' : `\x1b[${end + 1}G`}${ERASE_TO_LINE_END}`;
}

function isSame(a: Cell, b: Cell): boolean {
  return a.text === b.text && a.style === b.style;
}

function cellsOf(line: string): Cell[] | undefined {
  const cells: Cell[] = [];
  let style = '';
  for (const part of line.split(SGR)) {
    const ended = ENDED[part];
    if (ended !== undefined) style = style.replace(ended, '');
    else if (SGR.test(part)) style = RESETS.test(part) ? '' : style + part;
    else if (part.includes('\x1b')) return undefined;
    else if (isPlainAscii(part)) for (const text of part) cells.push({ text, style });
    else {
      for (const { segment: text } of graphemeClusters(part)) {
        const width = widthOf(text);
        if (width === 0) return undefined;
        cells.push({ text, style });
        if (width === 2) cells.push({ text: '', style });
      }
    }
  }
  return cells;
}
