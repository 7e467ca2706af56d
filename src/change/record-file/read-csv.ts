import { csvRows, type CsvRow, widthProblem } from '../../text/csv.ts';
import { decodeCell } from './csv-cell.ts';
import type { Problems, RecordFile, RecordRow, Rename } from './record-file.ts';

/** A column of the file and the field that it fills; undefined for the device column. */
interface Column {
  readonly index: number;
  readonly field: string | undefined;
}

/** Records as CSV: the first line has the field names; `DEVICE`, in any case, is no field. */
export function readCsvRecords(
  text: string,
  name: string,
  rename: Rename,
  problems: Problems,
): RecordFile {
  const placeOf = ({ line }: CsvRow): string => `${name}:${line}`;
  const [first, ...others] = csvRows(text, name);
  const rows: RecordRow[] = [];
  if (first !== undefined) {
    const columns = columnsOf(first, rename, (text) => problems.add(() => placeOf(first), text));
    for (const row of others) {
      const problem = widthProblem(row, first.cells.length);
      if (problem === undefined) rows.push(rowOf(row, columns, () => placeOf(row)));
      else problems.add(() => placeOf(row), problem);
    }
  }
  return { name, rows, isCells: true, missing: [] };
}

function columnsOf({ cells }: CsvRow, rename: Rename, complain: (text: string) => void): Column[] {
  const columns: Column[] = [];
  const fields = new Set<string>();
  for (const [index, cell] of cells.entries()) {
    const { text } = decodeCell(cell);
    const field = rename(text);
    const isDevice = field === text && /^device$/i.test(text);
    if (isDevice && !columns.some((column) => column.field === undefined)) {
      columns.push({ index, field: undefined });
      continue;
    }
    // A spreadsheet may leave empty columns; `--map COLUMN=` omits one.
    if (field === undefined || field === '') continue;
    if (fields.has(field)) complain(`two columns have the name "${field}"`);
    fields.add(field);
    columns.push({ index, field });
  }
  return columns;
}

function rowOf({ cells }: CsvRow, columns: readonly Column[], place: () => string): RecordRow {
  let device: string | undefined;
  const fields: [string, string][] = [];
  for (const { index, field } of columns) {
    const cell = cells[index] ?? '';
    if (field !== undefined) fields.push([field, cell]);
    else if (cell !== '') device = decodeCell(cell).text;
  }
  return { device, fields: Object.fromEntries(fields), place };
}
