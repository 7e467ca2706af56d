import type { FoldedRow } from '../../fleet/fold.ts';
import { MOST_IN_CELL } from '../../output/cells.ts';
import { cut, visibleStart, widthOf } from '../../text/visible.ts';
import {
  fieldLines,
  NOT_READ,
  recordLines,
  recordOf,
  type RecordOnDevices,
  someNames,
} from '../../output/record-text.ts';
import { plainLine, type Span, type TextLine } from '../screen/theme.ts';
import type { Details, State } from '../state.ts';
import { memoized } from '../store.ts';
import { asOfText, isRead, rawKeyOf, shownDevices, tableRows, rowsByKey } from '../table/rows.ts';
import { recordHistoryLines } from './record-history.ts';
import type { OverOf, View } from './view.ts';

type DetailsOver = OverOf<'details'>;

export const DETAILS: View<DetailsOver> = {
  breadcrumb: ({ details }) => visibleStart(details.key, MOST_IN_CELL),
  id: ({ details }, table) => `${details.kind} ${table} ${details.key}`,
  lines: ({ details }, state) => detailLines(state, details),
};

export function detailsOfTable(state: State): DetailsOver | undefined {
  const { rows, keyField } = tableRows(state);
  const row = rows[state.table.cursor];
  if (row === undefined) return undefined;
  return {
    kind: 'details',
    details: { kind: 'of-table', key: rawKeyOf(row.record, keyField) },
    top: 0,
  };
}

type OfDrift = Extract<Details, { kind: 'of-drift' }>;

/** Every field of a record, and its history as far as known. */
export function detailLines(state: State, details: Details): readonly TextLine[] {
  const width = state.size.columns - 2;
  const record =
    details.kind === 'of-drift' ? ofDrift(details) : ofTable(state, rowsOf(state, details.key));
  if (record.holders.length === 0) {
    const read = record.notes.some(({ what }) => what === NOT_READ) ? ' that were read' : '';
    const name = visibleStart(details.key, MOST_IN_CELL);
    return [plainLine(`${name} is no longer on any of the devices${read}`)];
  }
  return [...recordLines(record, width), ...recordHistoryLines(state, details, width)];
}

/** The current record beside the table, in at most `height` lines. Computes only the visible lines. */
export function paneLines(state: State, width: number, height: number): readonly TextLine[] {
  const { rows, keyField } = tableRows(state);
  const row = rows[state.table.cursor];
  if (row === undefined) return [];
  const key = rawKeyOf(row.record, keyField);
  const record = ofTable(state, key === '' && keyField !== '' ? [row] : rowsOf(state, key));
  // The title of the table counts those that were not read, and the bar names them.
  const others = record.notes.filter(({ what }) => what !== NOT_READ);
  const notes = others.map(({ what, devices }): Span[] => [
    { tone: 'quiet', text: `${what} ` },
    { tone: 'warning', text: someNames(devices, width - widthOf(what) - 1) },
  ]);
  const name = cut(visibleStart(key || state.table.view.resource, MOST_IN_CELL), width);
  const where = record.where === '' ? '' : ` · ${record.where}`;
  const head: Span[] = [
    { tone: 'heading', text: name },
    { tone: 'quiet', text: cut(where, width - widthOf(name)) },
  ];
  const room = Math.max(0, height - 1 - notes.length);
  const lines = fieldLines(record, width, MOST_VALUES)
    .take(room + 1)
    .toArray();
  if (lines.length > room)
    lines.splice(Math.max(0, room - 1), 2, [{ tone: 'quiet', text: '… more with Enter' }]);
  return [head, ...lines, ...notes].slice(0, height);
}

function ofDrift({ drift: { drift, perDevice }, row }: OfDrift): RecordOnDevices {
  const { devices, unread, keyField } = drift;
  const held = devices.map((_, index) => row.held[index] ?? []);
  const asRow = {
    devices: devices.flatMap((device, index) => held[index]?.map(() => device) ?? []),
    records: held.flat(),
    differing: row.fields.map(({ field }) => field),
  };
  return recordOf([asRow], {
    names: [...devices, ...unread].map(({ name }) => name),
    view: { perDevice },
    keyField,
    isRead: (name) => !unread.some((device) => device.name === name),
    mayLack: (name) =>
      devices.some((device, at) => device.name === name && row.cells[at]?.kind === 'not listed'),
  });
}

/** All rows of one record, also those that the filter of `/` hides. */
function rowsOf(state: State, key: string): readonly FoldedRow[] {
  const { all, keyField } = tableRows(state);
  return rowFinder(all, keyField)(key);
}

/** Groups the rows by key only for a second record: while devices connect, rows change more often than the cursor. */
const rowFinder = memoized((all: readonly FoldedRow[], keyField: string) => {
  let first: { key: string; rows: readonly FoldedRow[] } | undefined;
  return (key: string): readonly FoldedRow[] => {
    first ??= { key, rows: all.filter(({ record }) => rawKeyOf(record, keyField) === key) };
    return first.key === key ? first.rows : (rowsByKey(all, keyField).get(key) ?? []);
  };
});

function ofTable(state: State, rows: readonly FoldedRow[]): RecordOnDevices {
  const { stale, keyField } = tableRows(state);
  return recordOf(rows, {
    names: shownDevices(state),
    view: state.table.view,
    keyField,
    isRead: (name) => isRead(state, name),
    mayLack: (name) => state.table.reads.get(name)?.mayLack === true,
    oldText: (devices) =>
      `${asOfText(devices.map((name) => stale.get(name)))}, not responding now:`,
  });
}

/** The most values of a field in the pane. */
const MOST_VALUES = 5;
