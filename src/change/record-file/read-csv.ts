import { UsageError } from '../../errors.ts';
import { decodeCell } from './csv-cell.ts';
import { cellOffset, csvLines, TextFailure, type CsvLine } from './csv-text.ts';
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
