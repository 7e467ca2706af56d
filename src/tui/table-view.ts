import { foldNote, type FoldedRow } from '../fleet/fold.ts';
import { columnTitle } from '../output/columns.ts';
import { visible } from '../visible.ts';
import { fieldText } from '../output/value.ts';
import { cut, fit, widthOf } from '../output/width.ts';
import type { State } from './state.ts';
import { marksOf, shownDevices, tableRows, type TableRows } from './table-rows.ts';

/** A line of the table, ready to be drawn: no wider than the screen, not padded. */
export interface RowView {
  readonly text: string;
  readonly isCurrent: boolean;
  readonly isMarked: boolean;
}

export interface TableView {
  readonly header: string;
  readonly rows: readonly RowView[];
}

interface Column {
  readonly kind: 'device' | 'field' | 'note';
  /** A field that is different on each device, such as a uuid. */
  readonly isId: boolean;
  /** Field name, `device` or `note`: what it is sorted by. */
  readonly field: string;
  readonly title: string;
  readonly text: (row: FoldedRow) => string;
  readonly least: number;
  readonly most: number;
}

const GAP = '  ';
/** Cursor sign and mark. */
const GUTTER = 2;
/** So many rows decide how wide the columns are; more would cost more than they tell. */
const MEASURED_ROWS = 400;

/** The rows from `top` on, `height` of them with the header, fit into `width` cells. */
export function tableView(
  state: Pick<State, 'table' | 'fleet'>,
  width: number,
  height: number,
): TableView {
  const { table } = state;
  const data = tableRows(state);
  const columns = fitColumns(columnsOf(state, data), data.rows, width - GUTTER);
  const line = (texts: readonly string[]): string =>
    columns
      .map(({ width: cells }, index) => fit(texts[index] ?? '', cells))
      .join(GAP)
      .trimEnd();
  const header = line(columns.map(({ column }) => column.title));
  const rows = data.rows.slice(table.top, table.top + Math.max(0, height - 1));
  return {
    header: cut(' '.repeat(GUTTER) + header, width),
    rows: rows.map((row, index) => {
      const isCurrent = table.top + index === table.cursor;
      const isMarked = isMarkedRow(row, data.keyField, table.marks);
      const gutter = (isCurrent ? '▸' : ' ') + (isMarked ? '*' : ' ');
      return {
        isCurrent,
        isMarked,
        text: cut(gutter + line(columns.map(({ column }) => column.text(row))), width),
      };
    }),
  };
}

export function isMarkedRow(row: FoldedRow, keyField: string, marks: ReadonlySet<string>): boolean {
  return marks.size > 0 && marksOf(row, keyField).every((mark) => marks.has(mark));
}

/** The fields that `s` sorts by, in the order of the columns. */
export function sortableFields(state: Pick<State, 'table' | 'fleet'>): readonly string[] {
  const { fields, keyField } = tableRows(state);
  return [keyField, ...fields.filter((field) => field !== keyField), 'device'];
}

function columnsOf(state: Pick<State, 'table' | 'fleet'>, data: TableRows): Column[] {
  const { table } = state;
  const { view } = table;
  const sorted = table.sort ?? { field: data.keyField, isDown: false };
  const arrow = (field: string): string =>
    field === sorted.field ? (sorted.isDown ? ' ▼' : ' ▲') : '';
  const fields = data.fields.map((field): Column => {
    const isId = view.perDevice.includes(field);
    const isKey = field === data.keyField;
    return {
      kind: 'field',
      isId,
      field,
      title: columnTitle(field) + arrow(field),
      text: (row) => textOf(row, field, isId),
      least: isKey ? 12 : isId ? 9 : 8,
      most: isKey ? 32 : isId ? 36 : 24,
    };
  });
  const [key, ...others] = fields;
  const shown = key === undefined ? [] : [key, ...others.slice(table.shift)];
  const devices = shownDevices(state);
  if (devices.length < 2) return shown;
  const device: Column = {
    kind: 'device',
    isId: false,
    field: 'device',
    title: `DEVICE${arrow('device')}`,
    text: (row) => deviceText(row, devices.length),
    least: 8,
    most: 24,
  };
  const hasNotes = data.rows.some(({ of }) => of > 1);
  const note: Column = {
    kind: 'note',
    isId: false,
    field: 'note',
    title: 'NOTE',
    text: (row) => visible(foldNote(row, view.filtered)),
    least: 13,
    most: 40,
  };
  return hasNotes ? [device, ...shown, note] : [device, ...shown];
}

function textOf(row: FoldedRow, field: string, isPerDevice: boolean): string {
  const text = fieldText(field, row.record[field]);
  if (!isPerDevice || row.records.length < 2) return text;
  const distinct = new Set(row.records.map((record) => fieldText(field, record[field])));
  return distinct.size === 1 ? text : `(${distinct.size} values)`;
}

/** `fw1,fw2`; `all`, and `fw1 +4` where the names would take too much room. */
function deviceText({ devices }: FoldedRow, shown: number): string {
  const names = visible(devices.map(({ name }) => name).join(','));
  if (devices.length > 1 && devices.length === shown) return 'all';
  if (devices.length < 2 || widthOf(names) <= 16) return names;
  return `${cut(visible(devices[0]?.name ?? ''), 18)} +${devices.length - 1}`;
}

interface FittedColumn {
  readonly column: Column;
  readonly width: number;
}

/**
 * Key, device, note, then the fields in order: each gets its least, then what it wants as long as
 * there is room. Ids come last, since people look for names; what has no room is left out.
 */
function fitColumns(
  columns: readonly Column[],
  rows: readonly FoldedRow[],
  width: number,
): FittedColumn[] {
  const order = [...columns]
    .sort((a, b) => rank(a, columns) - rank(b, columns))
    .map((column) => ({ column, wanted: wantedWidth(column, rows) }));
  const widths = new Map<Column, number>();
  let left = width;
  const place = (isId: boolean): void => {
    const group = order.filter(({ column }) => column.isId === isId);
    for (const { column, wanted } of group) {
      const least = Math.min(wanted, column.least);
      const gap = widths.size === 0 ? 0 : GAP.length;
      if (left < least + gap && widths.size > 0) break;
      const cells = Math.max(1, Math.min(least, left));
      widths.set(column, cells);
      left -= cells + gap;
    }
    for (const { column, wanted } of group) {
      const now = widths.get(column);
      if (now === undefined || left <= 0) continue;
      const more = Math.min(left, Math.max(0, wanted - now));
      widths.set(column, now + more);
      left -= more;
    }
  };
  place(false);
  place(true);
  return columns.flatMap((column) => {
    const cells = widths.get(column);
    return cells === undefined ? [] : [{ column, width: cells }];
  });
}

function wantedWidth(column: Column, rows: readonly FoldedRow[]): number {
  const stride = Math.max(1, Math.ceil(rows.length / MEASURED_ROWS));
  let widest = widthOf(column.title);
  for (let index = 0; index < rows.length && widest < column.most; index += stride) {
    const row = rows[index];
    if (row !== undefined) widest = Math.max(widest, widthOf(column.text(row)));
  }
  return Math.min(widest, column.most);
}

function rank(column: Column, columns: readonly Column[]): number {
  if (column.kind === 'device') return 1;
  const index = columns.filter(({ kind }) => kind === 'field').indexOf(column);
  if (index === 0) return 0;
  return column.kind === 'note' ? 2 : 2 + index;
}
