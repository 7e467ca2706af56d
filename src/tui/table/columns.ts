import type { FoldedRow } from '../../fleet/fold.ts';
import { columnTitle, LOOKS_LIKE_ID, MOST_IN_CELL, nameText } from '../../output/cells.ts';
import { rowText } from '../../output/read-table.ts';
import { NUMBER } from '../../output/table-text.ts';
import { type ColumnNeed, fittedWidths, GAP, GUTTER } from '../../text/fit-columns.ts';
import { cellsUpTo, cut, visible, widthOf } from '../../text/visible.ts';
import { memoized } from '../store.ts';
import type { State } from '../state.ts';
import { parseFilter } from '../../fleet/filter.ts';
import { attempt, DevshError } from '../../errors.ts';
import { noteOf, shownDevices, sortFields, tableRows, type TableRows } from './rows.ts';
import { differencesIn } from './signs.ts';

export interface Column {
  readonly kind: 'device' | 'field' | 'note';
  /** Field name, `device` or `note`: the sort key. */
  readonly field: string;
  readonly title: string;
  /** May be longer than `width`, which only says what to leave out first. */
  readonly text: (row: FoldedRow, width?: number) => string;
  readonly width: number;
  readonly align: 'left' | 'right';
}

/** The visible columns in order, and the number of hidden fields. */
interface ColumnLayout {
  readonly columns: readonly Column[];
  readonly hidden: number;
}

/** Number of rows measured for the column widths; more would take long and change little. */
const MEASURED_ROWS = 400;
/** With fewer rows, equal values do not mean that a column is the same everywhere. */
const LEAST_ROWS = 3;

interface Draft extends Omit<Column, 'width' | 'align'> {
  readonly isKey?: boolean;
  /** A field that differs on each device by the profile, such as a uuid. */
  readonly isId?: boolean;
  readonly least: number;
  /** Cells that it wants at most. */
  readonly limit: number;
}

/** A column with its measurements. */
interface Measured extends Draft, ColumnNeed {
  readonly align: 'left' | 'right';
  /** Priority for room: 0 the key, then device, fields that differ or are asked for, others, notes, ids. */
  readonly rank: number;
}

/** The sort fields of `s`, in the order of the columns. */
export function sortableFields(state: Pick<State, 'table' | 'fleet'>): readonly string[] {
  const { fields, keyField } = tableRows(state);
  return [keyField, ...fields.filter((field) => field !== keyField), 'device'];
}

/** All rows are measured, also those filtered out: nothing moves sideways while a filter is typed. */
export function columnLayout(state: Pick<State, 'table' | 'fleet'>, width: number): ColumnLayout {
  return fitted(measuredIn(state), state.table.shift, width - GUTTER);
}

/** On a narrower screen, the columns of the table need all the room. */
export const PANE_COLUMNS = 120;
/** Narrower details would show no value in full. */
const LEAST_PANE = 38;

/** Cells of the details beside the table, which get the room that its columns leave; 0: there are none. */
export function paneWidth(state: Pick<State, 'table' | 'fleet' | 'size' | 'isPaneHidden'>): number {
  const { columns } = state.size;
  if (state.isPaneHidden || columns < PANE_COLUMNS) return 0;
  if (tableRows(state).rows.length === 0) return 0;
  const measured = measuredIn(state);
  const leftBy = (most: number): number =>
    measured
      .filter(({ rank }) => rank < most)
      .reduce((left, one) => left - one.wanted - GAP.length, columns - GUTTER);
  // What differs is worth more than the other fields of one record.
  if (leftBy(FIRST_RANK + 1) < LEAST_PANE) return 0;
  const most = Math.min(80, Math.floor(columns * 0.4), Math.max(LEAST_PANE, leftBy(SAME_RANK)));
  // What no column needs is the pane's.
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
  const devices = shownDevices(state).length;
  const { all, fields, own, keyField, stale } = data;
  // What is being typed moves no column.
  const typed = table.filter.isOpen ? [] : table.filter.applied.terms;
  const terms = [
    ...(attempt(DevshError, () => parseFilter(table.commandFilter))?.terms ?? []),
    ...typed,
  ];
  const named = terms.flatMap((term) => ('field' in term ? [term.field] : [])).join('\n');
  return measuredColumns(all, fields, own, keyField, table.view, sort, devices, stale, named);
}

const measuredColumns = memoized(
  (
    rows: TableRows['all'],
    fields: TableRows['fields'],
    own: TableRows['own'],
    keyField: string,
    view: State['table']['view'],
    sort: string,
    devices: number,
    stale: TableRows['stale'],
    named: string,
  ): readonly Measured[] => {
    const sign = sortSigns(sort.split('\n'));
    const sample = sampleOf(rows);
    const drafts = fields.map((field): Draft => {
      const isId = own.has(field);
      const isKey = field === keyField;
      return {
        kind: 'field',
        isKey,
        isId,
        field,
        title: columnTitle(field) + sign(field),
        text: isKey
          ? (row) => nameText(field, row.record[field], MOST_IN_CELL)
          : (row) => rowText(row, field, isId, MOST_IN_CELL),
        least: isKey ? 12 : isId ? 9 : 8,
        limit: isKey ? 32 : isId ? 36 : 24,
      };
    });
    // The first column names the record: it does not scroll.
    const keyed = drafts.some(({ isKey }) => isKey)
      ? drafts
      : drafts.map((draft, index) => ({ ...draft, isKey: index === 0 }));
    const shown = devices < 2 ? keyed : [...keyed, deviceColumn(sign('device'), devices)];
    const isSeveral = devices > 1 && rows.some(({ of, unread }) => of + unread > 1);
    const data = { all: rows, keyField, stale, own };
    const note = (row: FoldedRow): string => {
      const marked = differencesIn(row, data, view.filtered === true);
      const isUnmarked = (field: string): boolean =>
        !fields.includes(field) || marked.get(field) === 'tie';
      return noteOf(row, stale, row.differing.filter(isUnmarked));
    };
    const drifted = rows.filter(({ differing }) => differing.length > 0);
    const hasNotes = stale.size > 0 || (isSeveral && drifted.some((row) => note(row) !== ''));
    const notes: Draft = {
      ...{ kind: 'note', field: 'note', title: 'NOTE' },
      ...{ text: note, least: 13, limit: 40 },
    };
    const all = hasNotes ? [...shown, notes] : shown;
    const first = new Set([...drifted.flatMap(({ differing }) => differing), ...named.split('\n')]);
    return all.map((draft, index) => measure(draft, sample, index, first.has(draft.field)));
  },
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

/** Wide enough for a name and how many more. */
function deviceColumn(sign: string, devices: number): Draft {
  const text: Draft['text'] = (row, width) => deviceText(row, devices, width);
  return { kind: 'device', field: 'device', title: `DEVICE${sign}`, text, least: 12, limit: 24 };
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
    least: Math.min(wanted, draft.least),
    align: draft.kind === 'field' && isNumeric ? 'right' : 'left',
    rank: isFirst && draft.isKey !== true ? FIRST_RANK : rankOf(draft, filled, texts.length, index),
  };
}

function rankOf(draft: Draft, filled: readonly string[], rows: number, index: number): number {
  if (draft.isKey === true) return 0;
  if (draft.kind === 'device') return 1;
  if (draft.kind === 'note') return SAME_RANK - 1;
  const isId =
    draft.isId === true || (filled.length > 0 && filled.every((text) => LOOKS_LIKE_ID.test(text)));
  if (isId) return ID_RANK + index;
  if (filled.some((text) => text.length > LONG_TEXT)) return LONG_RANK + index;
  // A value that is the same in every row distinguishes none of them.
  const isDistinguishing = rows < LEAST_ROWS || new Set(filled).size > 1;
  return isDistinguishing ? 3 + index : SAME_RANK + index;
}

/** Fields in which records differ, or that the filter names. */
const FIRST_RANK = 2;

/** From these ranks on, columns that are the same in every row, long texts, ids and dates: they get what is left. */
const SAME_RANK = 1000;
const LONG_RANK = 2000;
const ID_RANK = 3000;
const LONG_TEXT = 40;

/** In the order of the ranks. When scrolled sideways, fields come in their order. */
function fitColumns(measured: readonly Measured[], shift: number, width: number): ColumnLayout {
  const isFrozen = ({ isKey, kind }: Measured): boolean => isKey === true || kind === 'device';
  const fields = measured.filter((one) => !isFrozen(one) && one.kind === 'field');
  const scrolled = new Set(fields.slice(0, shift));
  const shown = measured.filter((one) => !scrolled.has(one));
  const order =
    shift > 0
      ? [...shown.filter(isFrozen), ...shown.filter((one) => !isFrozen(one))]
      : [...shown].sort((a, b) => a.rank - b.rank);
  const widths = fittedWidths(
    [
      order.filter(({ rank }) => rank < SAME_RANK),
      order.filter(({ rank }) => rank >= SAME_RANK && rank < ID_RANK),
      order.filter(({ rank }) => rank >= ID_RANK),
    ],
    width,
  );
  return {
    columns: shown.flatMap((one) => {
      const cells = widths.get(one);
      return cells === undefined ? [] : [{ ...one, width: cells }];
    }),
    hidden: shown.filter((one) => one.kind === 'field' && !widths.has(one)).length,
  };
}
