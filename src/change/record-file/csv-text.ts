/** A mistake in a text, and where it stands. */
export class TextFailure extends Error {
  /** UTF-16 units from the start of the text. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** One line of a table as text; a cell in quotes may have line breaks of its own. */
export interface CsvLine {
  readonly cells: readonly string[];
  /** Where it begins in the text. */
  readonly offset: number;
}

const QUOTE = '"';

/**
 * The lines of a CSV text (RFC 4180, and what spreadsheets make of it: a mark of the byte order, `;` or
 * tabs between the cells, `sep=;` on top, CRLF). Lines that are empty, or whose cells all are, are left
 * out. Throws TextFailure.
 */
export function* csvLines(text: string): Generator<CsvLine> {
  const top = topOf(text);
  let offset = top.offset;
  while (offset < text.length) {
    const { cells, end } = readLine(text, offset, top.separator);
    if (cells.some((cell) => cell !== '')) yield { cells, offset };
    offset = end;
  }
}

/** Where the cell of a line begins that is `index` cells from its start. */
export function cellOffset(text: string, line: CsvLine, index: number): number {
  return readLine(text, line.offset, topOf(text).separator).starts[index] ?? line.offset;
}

interface ReadLine {
  readonly cells: string[];
  readonly starts: number[];
  /** Where the next line begins. */
  readonly end: number;
}

function readLine(text: string, from: number, separator: string): ReadLine {
  const cells: string[] = [];
  const starts: number[] = [];
  let at = from;
  for (;;) {
    starts.push(at);
    const { cell, end } =
      text[at] === QUOTE ? quotedCell(text, at, separator) : plainCell(text, at, separator);
    cells.push(cell);
    at = end;
    if (text[at] === separator) {
      at += 1;
      continue;
    }
    if (text[at] === '\r') at += 1;
    if (text[at] === '\n') at += 1;
    return { cells, starts, end: at };
  }
}

function plainCell(text: string, from: number, separator: string): { cell: string; end: number } {
  let end = from;
  while (end < text.length && text[end] !== separator && !isLineEnd(text, end)) end += 1;
  return { cell: text.slice(from, end), end };
}

function quotedCell(text: string, from: number, separator: string): { cell: string; end: number } {
  let cell = '';
  let at = from + 1;
  for (;;) {
    const quote = text.indexOf(QUOTE, at);
    if (quote === -1) throw new TextFailure('the quote that begins here is not closed', from);
    cell += text.slice(at, quote);
    if (text[quote + 1] !== QUOTE) {
      const end = quote + 1;
      if (end < text.length && text[end] !== separator && !isLineEnd(text, end)) {
        throw new TextFailure('text behind a closing quote; a quote within a cell is ""', end);
      }
      return { cell, end };
    }
    cell += QUOTE;
    at = quote + 2;
  }
}

function isLineEnd(text: string, at: number): boolean {
  return text[at] === '\n' || text[at] === '\r';
}

/** Where the table begins, and what stands between its cells: most often in the line of names. */
function topOf(text: string): { separator: string; offset: number } {
  const start = text.startsWith('\ufeff') ? 1 : 0;
  const told = /^sep=([,;\t|])\r?\n/i.exec(text.slice(start, start + 8));
  if (told?.[1] !== undefined) return { separator: told[1], offset: start + told[0].length };
  const counts = new Map([',', ';', '\t'].map((mark) => [mark, 0]));
  let isQuoted = false;
  for (let at = start; at < text.length && (isQuoted || !isLineEnd(text, at)); at += 1) {
    const character = text[at] ?? '';
    if (character === QUOTE) isQuoted = !isQuoted;
    const count = isQuoted ? undefined : counts.get(character);
    if (count !== undefined) counts.set(character, count + 1);
  }
  const [[separator] = [',']] = [...counts].sort(([, a], [, b]) => b - a);
  return { separator, offset: start };
}
