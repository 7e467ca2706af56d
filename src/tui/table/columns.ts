import type { FoldedRow } from '../../fleet/fold.ts';
import { columnTitle, LOOKS_LIKE_ID, MOST_IN_CELL, nameText } from '../../output/cells.ts';
import { rowText } from '../../output/read-table.ts';
import { NUMBER } from '../../output/table-text.ts';
import { type ColumnNeed, fittedWidths, GAP, GUTTER } from '../../text/fit-columns.ts';
import { cellsUpTo, cut, visible, widthOf } from '../../text/visible.ts';
import { memoized } from '../store.ts';
import type { State } from '../state.ts';
import { fieldsIn, parseFilter } from '../../fleet/filter.ts';
import { attempt, DevshError } from '../../errors.ts';
import { noteOf, shownDevices, sortFields, tableRows, type TableRows } from './rows.ts';
import { differencesIn } from './signs.ts';

export interface Column {
  readonly kind: 'device' | 'field' | 'note';
  /** Field name, `device` or `note`: the sort key. */
  readonly field: string;
  readonly title: string;
  /** The text may be longer than `width`, which is only a hint for what to leave out. */
  readonly text: (row: FoldedRow, width?: number) => string;
  readonly width: number;
  readonly align: 'left' | 'right';
}

/** The visible columns in order, and the number of hidden fields. */
interface ColumnLayout {
  readonly columns: readonly Column[];
  readonly hidden: number;
}

/** The number of rows that are measured for the column widths. More would take long and change little. */
const MEASURED_ROWS = 400;
/** With fewer rows, equal values do not make a column unimportant. */
const LEAST_ROWS = 3;

interface Draft extends Omit<Column, 'width' | 'align'> {
  /** Absent if the values decide. */
  readonly rank?: number;
  readonly least: number;
  /** The most cells that it wants. */
  readonly limit: number;
}

interface Measured extends Column, ColumnNeed {
  readonly rank: number;
}

/* Columns with a lower rank get room first. From `SAME_RANK` on, columns get only the room that is left. */

const KEY_RANK = 0;
const DEVICE_RANK = 1;
/** The rank of fields in which records differ, or that the filter names. */
const FIRST_RANK = 2;
const NOTE_RANK = 999;
/** The rank of fields that are the same in every row. */
const SAME_RANK = 1000;
const LONG_RANK = 2000;
/** The rank of ids and dates, which the profile or their form tells. */
const ID_RANK = 3000;
const LONG_TEXT = 40;

/** The sort fields of `s`, in the order of the columns. */
export function sortableFields(state: Pick<State, 'table' | 'fleet'>): readonly string[] {
  const { fields, keyField } = tableRows(state);
  return [keyField, ...fields.filter((field) => field !== keyField), 'device'];
}

/** The columns for this width. All rows count, also hidden ones, so that no column moves while a filter is typed. */
export function columnLayout(state: Pick<State, 'table' | 'fleet'>, width: number): ColumnLayout {
  return fitted(measuredIn(state), width - GUTTER);
}

/** On a narrower screen, the columns of the table need all the room. */
export const PANE_COLUMNS = 120;
/** Narrower details would cut every value. */
const LEAST_PANE = 38;

/** The width of the details beside the table: the cells that its columns leave. 0 if there are no details. */
export function paneWidth(state: Pick<State, 'table' | 'fleet' | 'size' | 'isPaneHidden'>): number {
  const { columns } = state.size;
  if (state.isPaneHidden || columns < PANE_COLUMNS) return 0;
  if (tableRows(state).rows.length === 0) return 0;
  const measured = measuredIn(state);
  const leftBy = (most: number): number =>
    measured
      .filter(({ rank }) => rank < most)
      .reduce((left, one) => left - one.wanted - GAP.length, columns - GUTTER);
  // Columns with differences are more important than the details of one record.
  if (leftBy(FIRST_RANK + 1) < LEAST_PANE) return 0;
  const most = Math.min(80, Math.floor(columns * 0.4), Math.max(LEAST_PANE, leftBy(SAME_RANK)));
  // The details get all cells that no column needs.
  return Math.max(most, leftBy(Infinity));
}

/** Cells of the table itself. */
export function tableWidth(state: Parameters<typeof paneWidth>[0]): number {
  return state.size.columns - paneWidth(state);
}

function measuredIn(state: Pick<State, 'table' | 'fleet'>): readonly Measured[] {
  const data = tableRows(state);
  const { table } = state;
  const sort = sortFields(table, data.keyField).join('\n');
  // A filter that is still being typed moves no column.
  const typed = table.filter.isOpen ? [] : fieldsIn(table.filter.applied);
  const asked = attempt(DevshError, () => parseFilter(table.commandFilter));
  const named = [...(asked === undefined ? [] : fieldsIn(asked)), ...typed].join('\n');
  return measuredColumns(data, table.view, shownDevices(state).length, sort, named);
}

const measuredColumns = memoized(
  (
    data: TableRows,
    view: State['table']['view'],
    devices: number,
    sort: string,
    named: string,
  ): readonly Measured[] => {
    const { all: rows, fields, own, keyField, stale } = data;
    const sign = sortSigns(sort.split('\n'));
    const sample = sampleOf(rows);
    // The first column names the record.
    const keyAt = Math.max(0, fields.indexOf(keyField));
    const shown = fields.map((field, index): Draft => {
      const isId = own.has(field);
      const isKey = field === keyField;
      const rank = index === keyAt ? KEY_RANK : isId ? ID_RANK + index : undefined;
      return {
        kind: 'field',
        field,
        title: columnTitle(field) + sign(field),
        text: isKey
          ? (row) => nameText(field, row.record[field], MOST_IN_CELL)
          : (row) => rowText(row, field, isId, MOST_IN_CELL),
        ...(rank !== undefined && { rank }),
        least: isKey ? 12 : isId ? 9 : 8,
        limit: isKey ? 32 : isId ? 36 : 24,
      };
    });
    if (devices > 1)
      shown.push({
        ...{ kind: 'device', field: 'device', title: `DEVICE${sign('device')}`, rank: DEVICE_RANK },
        text: (row, width) => deviceText(row, devices, width),
        // This is wide enough for one name and the number of others.
        ...{ least: 12, limit: 24 },
      });
    const note = (row: FoldedRow): string => {
      const marked = differencesIn(row, data, view.filtered === true);
      const isUnmarked = (field: string): boolean =>
        !fields.includes(field) || marked.get(field) === 'tie';
      return noteOf(row, stale, row.differing.filter(isUnmarked));
    };
    const drifted = rows.filter(({ differing }) => differing.length > 0);
    const isSeveral = devices > 1 && rows.some(({ of, unread }) => of + unread > 1);
    if (stale.size > 0 || (isSeveral && drifted.some((row) => note(row) !== '')))
      shown.push({
        ...{ kind: 'note', field: 'note', title: 'NOTE', rank: NOTE_RANK },
        ...{ text: note, least: 13, limit: 40 },
      });
    const first = new Set([...drifted.flatMap(({ differing }) => differing), ...named.split('\n')]);
    return shown.map((draft, index) => measure(draft, sample, index, first.has(draft.field)));
  },
  ([{ all, fields, own, keyField, stale }, ...others]) => [
    ...[all, fields, own, keyField, stale],
    ...others,
  ],
);

const fitted = memoized(fitColumns);

/** ` ↑`, or ` 2↓` if there are several sort fields. */
function sortSigns(sort: readonly string[]): (field: string) => string {
  return (field) => {
    const at = sort.findIndex((one) => one.replace(/^-/, '') === field);
    if (at === -1) return '';
    return ` ${sort.length > 1 ? at + 1 : ''}${sort[at]?.startsWith('-') === true ? '↓' : '↑'}`;
  };
}

/** `fw1,fw2`; `all`, or `fw1 +4` if the names are too long: the number is never cut. */
function deviceText({ devices }: FoldedRow, shown: number, width = 24): string {
  if (devices.length > 1 && devices.length === shown) return 'all';
  const names = visible(devices.map(({ name }) => name).join(','));
  if (devices.length < 2 || widthOf(names) <= Math.min(16, width)) return names;
  const others = ` +${devices.length - 1}`;
  return cut(visible(devices[0]?.name ?? ''), Math.min(18, width - others.length)) + others;
}

function sampleOf(rows: readonly FoldedRow[]): readonly FoldedRow[] {
  const stride = Math.max(1, Math.ceil(rows.length / MEASURED_ROWS));
  return stride === 1 ? rows : rows.filter((_, index) => index % stride === 0);
}

function measure(
  draft: Draft,
  sample: readonly FoldedRow[],
  index: number,
  isFirst: boolean,
): Measured {
  const texts = sample.map((row) => draft.text(row));
  const filled = texts.filter((text) => text !== '');
  const isNumeric = filled.length > 0 && filled.every((text) => NUMBER.test(text));
  const cells = [draft.title, ...filled].map((text) => cellsUpTo(text, draft.limit));
  const wanted = Math.max(...cells);
  return {
    ...draft,
    wanted,
    width: wanted,
    least: Math.min(wanted, draft.least),
    align: draft.kind === 'field' && isNumeric ? 'right' : 'left',
    rank:
      isFirst && draft.kind === 'field' && draft.rank !== KEY_RANK
        ? FIRST_RANK
        : (draft.rank ?? rankOf(filled, texts.length) + index),
  };
}

function rankOf(filled: readonly string[], rows: number): number {
  if (filled.length > 0 && filled.every((text) => LOOKS_LIKE_ID.test(text))) return ID_RANK;
  if (filled.some((text) => text.length > LONG_TEXT)) return LONG_RANK;
  // A value that is the same in every row distinguishes none of them.
  const isDistinguishing = rows < LEAST_ROWS || new Set(filled).size > 1;
  return isDistinguishing ? FIRST_RANK + 1 : SAME_RANK;
}

/** Gives the columns room in the order of their ranks. */
function fitColumns(measured: readonly Measured[], width: number): ColumnLayout {
  const order = [...measured].sort((a, b) => a.rank - b.rank);
  const widths = fittedWidths(
    [
      order.filter(({ rank }) => rank < SAME_RANK),
      order.filter(({ rank }) => rank >= SAME_RANK && rank < ID_RANK),
      order.filter(({ rank }) => rank >= ID_RANK),
    ],
    width,
  );
  return {
    columns: measured.flatMap((one) => {
      const cells = widths.get(one);
      return cells === undefined ? [] : [{ ...one, width: cells }];
    }),
    hidden: measured.filter((one) => one.kind === 'field' && !widths.has(one)).length,
  };
}
