import { CsvError, parse } from 'csv-parse/sync';
import { UsageError } from '../errors.ts';

/** One row of a table; a quoted cell may contain line breaks. */
export interface CsvRow {
  readonly cells: readonly string[];
  /** Line in the text where the row begins, from 1. */
  readonly line: number;
}

interface ParsedRow {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

/** Our wording for parser errors; the line is that of the mistake, or of the quote left open. */
const MISTAKES: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'the quote that begins here is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'text after a closing quote; write a quote in a cell as ""',
  INVALID_OPENING_QUOTE: 'a quote in a cell: put the cell in quotes and write this one as ""',
};

/** The filled rows of a CSV text (RFC 4180, `;`, tabs, `sep=;`). Throws UsageError with `file:line`. */
export function csvRows(
  text: string,
  file: string,
  options: { readonly trim?: boolean } = {},
): CsvRow[] {
  const [top, declared] = /^\ufeff?(?:sep=([,;\t|])\r?\n)?/i.exec(text) ?? [''];
  const table = text.slice(top.length);
  const skipped = declared === undefined ? 0 : 1;
  try {
    const rows = parse(table, {
      ...options,
      delimiter: declared ?? separatorOf(table),
      info: true,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
    }) as unknown as readonly ParsedRow[];
    // The parser gives the line where a row ends, and counts CRLF within a cell as two lines.
    let extraLines = 0;
    return rows.map(({ record, info }) => {
      const written = record.join();
      const breaks = written.match(/[\r\n]/g)?.length ?? 0;
      const line = skipped + info.lines - breaks - extraLines;
      if (breaks > 0) extraLines += written.match(/\r\n/g)?.length ?? 0;
      return { cells: record, line };
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const message = MISTAKES[error.code] ?? error.message;
    throw new UsageError(`${file}:${skipped + lineOf(error, table)}: ${message}`, { cause: error });
  }
}

/** Why a row does not fit the header row; undefined if it does. */
export function widthProblem({ cells }: CsvRow, width: number): string | undefined {
  if (cells.length === width) return undefined;
  return `${cells.length} cells, but the first line has ${width}`;
}

/** The most frequent separator between the names of the first line. */
function separatorOf(table: string): string {
  const [first = ''] = /^[\r\n]*(?:"[^"]*"|[^"\r\n])*/.exec(table) ?? [];
  const names = first.replace(/"[^"]*"/g, '');
  const counts = [',', ';', '\t'].map((mark) => ({ mark, count: names.split(mark).length }));
  return counts.reduce((best, one) => (one.count > best.count ? one : best)).mark;
}

function lineOf({ code, lines, bytes }: CsvError, table: string): number {
  if (code !== 'CSV_QUOTE_NOT_CLOSED') return Number(lines);
  const source = Buffer.from(table);
  // All cells before that are complete: the next quote is the open one.
  const open = source.indexOf('"', Number(bytes));
  return source
    .subarray(0, open)
    .toString()
    .split(/\r\n?|\n/).length;
}
