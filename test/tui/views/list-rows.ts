import { textOfLine } from '../../../src/tui/screen/theme.ts';
import {
  columnLine,
  fittedColumns,
  type ListColumn,
  type ListView,
} from '../../../src/tui/views/view.ts';

/** The titles of columns, and a line for each item. */
export function columnLines<T>(
  items: readonly T[],
  columns: readonly ListColumn<T>[],
  width = 78,
): string[] {
  const fitted = fittedColumns(items, columns, width);
  return [
    textOfLine(columnLine(fitted, ({ title }) => title)),
    ...items.map((item) => textOfLine(columnLine(fitted, (column) => column.text(item)))),
  ];
}

/** The texts of all rows of a list, without its header. */
export function listRows(list: ListView | undefined, width = 78): string[] {
  return list === undefined ? [] : columnLines(list.rows, list.columns, width).slice(1);
}
