import { CsvError, parse } from 'csv-parse/sync';
import { UsageError } from '../errors.ts';

/** One row of a table; a cell in quotes may have line breaks of its own. */
export interface CsvRow {
  readonly cells: readonly string[];
  /** Where it begins in the text, from 1. */
  readonly line: number;
}

interface ParsedRow {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

/** What the mistakes are called here; the line is that of the mistake, or of the quote that stays open. */
const MISTAKES: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'the quote that begins here is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'text behind a closing quote; a quote within a cell is ""',
  INVALID_OPENING_QUOTE: 'a quote in a cell: put the cell in quotes, and write "" for this one',
};

/**
 * The rows of a CSV text (RFC 4180, and what spreadsheets make of it: a mark of the byte order, `;` or
 * tabs between the cells, `sep=;` on top, any line end). Rows that are empty, or whose cells all are,
 * are left out. Throws a UsageError with `file:line`.
 *
 * @param options.trim blanks around a cell, and around its quotes, are no part of it
 */
export function csvRows(
  text: string,
  file: string,
  options: { readonly trim?: boolean } = {},
): CsvRow[] {
  const [top, told] = /^\ufeff?(?:sep=([,;\t|])\r?\n)?/i.exec(text) ?? [''];
  const table = text.slice(top.length);
  const skipped = told === undefined ? 0 : 1;
  try {
    const rows = parse(table, {
      ...options,
      delimiter: told ?? separatorOf(table),
      info: true,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
    }) as unknown as readonly ParsedRow[];
    // The parser says where a row ends, and takes CRLF within a cell for two lines.
    let twice = 0;
    return rows.map(({ record, info }) => {
      const written = record.join();
      const breaks = written.match(/[\r\n]/g)?.length ?? 0;
      const line = skipped + info.lines - breaks - twice;
      if (breaks > 0) twice += written.match(/\r\n/g)?.length ?? 0;
      return { cells: record, line };
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const message = MISTAKES[error.code] ?? error.message;
    throw new UsageError(`${file}:${skipped + lineOf(error, table)}: ${message}`, { cause: error });
  }
}

/** Why a row does not fit below the first one; undefined where it does. */
export function widthProblem({ cells }: CsvRow, width: number): string | undefined {
  if (cells.length === width) return undefined;
  return `${cells.length} cells, where the first line has ${width}`;
}

/** What stands most often between the names of the first line. */
function separatorOf(table: string): string {
  const [first = ''] = /^[\r\n]*(?:"[^"]*"|[^"\r\n])*/.exec(table) ?? [];
  const names = first.replace(/"[^"]*"/g, '');
  const counts = [',', ';', '\t'].map((mark) => ({ mark, count: names.split(mark).length }));
  return counts.reduce((best, one) => (one.count > best.count ? one : best)).mark;
}

function lineOf({ code, lines, bytes }: CsvError, table: string): number {
  if (code !== 'CSV_QUOTE_NOT_CLOSED') return Number(lines);
  const source = Buffer.from(table);
  // All cells up to there are whole: the next quote is the open one.
  const open = source.indexOf('"', Number(bytes));
  return source
    .subarray(0, open)
    .toString()
    .split(/\r\n?|\n/).length;
}
