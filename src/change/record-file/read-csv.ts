import { UsageError } from '../../errors.ts';
import { decodeCell } from './csv-cell.ts';
import {
  lineAndColumn,
  type Problems,
  type RecordFile,
  type RecordRow,
  type Rename,
} from './record-file.ts';

/** A column of the file: where it stands, and the field that it fills; the device's column fills none. */
interface Column {
  readonly index: number;
  readonly field: string | undefined;
}

/** Records as CSV: the first line names the fields; `DEVICE`, in any case, is no field. */
export function readCsvRecords(
  text: string,
  name: string,
  rename: Rename,
  problems: Problems,
): RecordFile {
  const placeOf = (line: CsvLine, index: number): string =>
    `${name}:${lineAndColumn(text, cellOffset(text, line, index))}`;
  const rows: RecordRow[] = [];
  let columns: readonly Column[] | undefined;
  let width = 0;
  try {
    for (const line of csvLines(text)) {
      if (columns === undefined) {
        columns = columnsOf(line, rename, problems, placeOf);
        width = line.cells.length;
        continue;
      }
      if (line.cells.length !== width) {
        const index = Math.min(line.cells.length, width) - 1;
        problems.add(
          () => placeOf(line, index),
          `${line.cells.length} cells, where the first line has ${width}`,
        );
        continue;
      }
      rows.push(rowOf(line, columns, placeOf));
    }
  } catch (error) {
    if (!(error instanceof TextFailure)) throw error;
    throw new UsageError(`${name}:${lineAndColumn(text, error.offset)}: ${error.message}`, {
      cause: error,
    });
  }
  return { name, rows, isCells: true, missing: [] };
}

function columnsOf(
  line: CsvLine,
  rename: Rename,
  problems: Problems,
  placeOf: (line: CsvLine, index: number) => string,
): Column[] {
  const columns: Column[] = [];
  const fields = new Set<string>();
  for (const [index, cell] of line.cells.entries()) {
    const { text } = decodeCell(cell);
    const field = rename(text);
    const isDevice = field === text && /^device$/i.test(text);
    if (isDevice && !columns.some((column) => column.field === undefined)) {
      columns.push({ index, field: undefined });
      continue;
    }
    // A spreadsheet may leave empty columns behind; `--map COLUMN=` leaves one out.
    if (field === undefined || field === '') continue;
    if (fields.has(field)) {
      problems.add(() => placeOf(line, index), `two columns are called "${field}"`);
    }
    fields.add(field);
    columns.push({ index, field });
  }
  return columns;
}

function rowOf(
  line: CsvLine,
  columns: readonly Column[],
  placeOf: (line: CsvLine, index: number) => string,
): RecordRow {
  let device = '';
  const fields: [string, string][] = [];
  for (const { index, field } of columns) {
    const cell = line.cells[index] ?? '';
    if (field === undefined) device = decodeCell(cell).text;
    else fields.push([field, cell]);
  }
  return {
    ...(device !== '' && { device }),
    fields: Object.fromEntries(fields),
    place: (field) => placeOf(line, columns.find((column) => column.field === field)?.index ?? 0),
  };
}

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
interface CsvLine {
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
