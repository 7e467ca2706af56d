import { valueAt } from '../../device/record.ts';
import { devicesWithout } from '../../fleet/drift.ts';
import type { FoldedRow } from '../../fleet/fold.ts';
import { fieldsOf, fieldText } from '../../output/cells.ts';
import { cut, fit, visible, widthOf } from '../../text/visible.ts';
import { wrapText } from '../editor/graphemes.ts';
import { NO_FILTER, type Details, type State } from '../state.ts';
import { asOfText, isRead, keyOfRow, shownDevices, tableRows } from '../table/rows.ts';
import type { OverOf, View } from './view.ts';

type DetailsOver = OverOf<'details'>;

/** One record, field by field. */
export const DETAILS: View<DetailsOver> = {
  crumb: ({ details }) => visible(details.key),
  id: ({ details }, table) => `${details.kind} ${table} ${details.key}`,
  lines: ({ details }, state) => detailLines(state, details),
  tone: (_overlay, _state, lines, index) =>
    lines[index]?.startsWith('≠') === true ? 'warning' : 'plain',
};

/** The details of the table's current record, if there is one. */
export function detailsOfTable(state: State): DetailsOver | undefined {
  const { rows, keyField } = tableRows(state);
  const row = rows[state.table.cursor];
  if (row === undefined) return undefined;
  return { kind: 'details', details: { kind: 'of-table', key: keyOfRow(row, keyField) }, top: 0 };
}

/** The record as one device has it. */
interface Variant {
  readonly name: string;
  readonly record: FoldedRow['record'];
}

/** A record on all devices, and the fields that differ. */
interface Variants {
  readonly variants: readonly Variant[];
  readonly missing: readonly string[];
  /** The devices that were not read. */
  readonly unread: readonly string[];
  readonly differing: readonly string[];
}

type OfDrift = Extract<Details, { kind: 'of-drift' }>;

/** Narrower columns are unreadable. */
const LEAST_COLUMN = 14;

/** Every field of a record; the devices side by side if they fit, otherwise stacked. */
export function detailLines(state: State, details: Details): readonly string[] {
  const width = state.size.columns - 2;
  const { variants, missing, unread, differing } =
    details.kind === 'of-drift' ? comparedVariants(details) : variantsOf(state, details.key);
  if (variants.length === 0) {
    const read = unread.length === 0 ? '' : ' that were read';
    return [`${details.key} is on none of the devices${read} any more`];
  }
  const fields = fieldsOf(variants.map(({ record }) => record));
  const titles = Math.min(20, Math.max(5, ...fields.map((field) => widthOf(visible(field)))));
  const column = Math.floor((width - titles - 2) / variants.length) - 2;
  const isDiffering = (field: string): boolean => differing.includes(field);
  const lines =
    variants.length === 1 || column < LEAST_COLUMN
      ? stacked(variants, fields, titles, width, isDiffering)
      : sideBySide(variants, fields, { titles, column }, isDiffering);
  const notes = [
    ...(missing.length > 0 ? [`not on ${missing.map(visible).join(', ')}`] : []),
    ...(unread.length > 0 ? [`not read: ${unread.map(visible).join(', ')}`] : []),
    ...(details.kind === 'of-table' ? agesOf(state, variants) : []),
    ...(fields.some(isDiffering) ? ['≠ differs between the devices'] : []),
  ];
  return notes.length === 0
    ? lines
    : [...lines, '', ...notes.flatMap((note) => wrapText(note, width))];
}

/** The age of records whose devices do not respond now. */
function agesOf(state: State, variants: readonly Variant[]): string[] {
  const { stale } = tableRows(state);
  const names = [...new Set(variants.map(({ name }) => name))].filter((name) => stale.has(name));
  if (names.length === 0) return [];
  const times = asOfText(names.map((name) => stale.get(name)));
  return [`${times}, not answering now: ${names.map(visible).join(', ')}`];
}

/** The records as they were compared. */
function comparedVariants({ drift: { drift }, row }: OfDrift): Variants {
  return {
    variants: drift.devices.flatMap(({ name }, index) =>
      (row.held[index] ?? []).map((record) => ({ name, record })),
    ),
    missing: devicesWithout(drift, row).map(({ name }) => name),
    unread: drift.unread.map(({ name }) => name),
    differing: row.fields.map(({ field }) => field),
  };
}

function variantsOf(state: State, key: string): Variants {
  const all = { ...state, table: { ...state.table, filter: NO_FILTER } };
  const { rows, keyField } = tableRows(all);
  const matches = rows.filter((row) => keyOfRow(row, keyField) === key);
  const variants = matches.flatMap((row) =>
    row.devices.map(({ name }, index) => ({ name, record: row.records[index] ?? row.record })),
  );
  const order = shownDevices(state);
  variants.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
  const holders = new Set(variants.map(({ name }) => name));
  const others = order.filter((name) => !holders.has(name));
  const missing = others.filter((name) => isRead(state, name));
  const unread = others.filter((name) => !isRead(state, name));
  return { variants, missing, unread, differing: matches.flatMap((row) => row.differing) };
}

function sideBySide(
  variants: readonly Variant[],
  fields: readonly string[],
  { titles, column }: { titles: number; column: number },
  isDiffering: (field: string) => boolean,
): string[] {
  const most = Math.max(
    ...variants.map(({ name }) => widthOf(visible(name))),
    ...fields.flatMap((field) =>
      variants.map(({ record }) => widthOf(fieldText(field, valueAt(record, field)))),
    ),
  );
  const width = Math.min(column, most);
  const line = (title: string, cells: readonly string[], sign = ' '): string[] => {
    const parts = cells.map((cell) => wrapText(cell, width));
    const height = Math.max(...parts.map((part) => part.length));
    return Array.from({ length: height }, (_, at) => {
      const head = `${at === 0 ? sign : ' '} ${fit(at === 0 ? title : '', titles)}`;
      return [head, ...parts.map((part) => fit(part[at] ?? '', width))].join('  ').trimEnd();
    });
  };
  return [
    ...line(
      '',
      variants.map(({ name }) => cut(visible(name), width)),
    ),
    ...fields.flatMap((field) =>
      line(
        visible(field),
        variants.map(({ record }) => fieldText(field, valueAt(record, field))),
        isDiffering(field) ? '≠' : ' ',
      ),
    ),
  ];
}

function stacked(
  variants: readonly Variant[],
  fields: readonly string[],
  titles: number,
  width: number,
  isDiffering: (field: string) => boolean,
): string[] {
  return variants.flatMap(({ name, record }, index) => [
    ...(index > 0 ? [''] : []),
    visible(name),
    ...fields.flatMap((field) => {
      const sign = isDiffering(field) ? '≠' : ' ';
      const [first = '', ...rest] = wrapText(
        fieldText(field, valueAt(record, field)),
        width - titles - 4,
      );
      const indent = ' '.repeat(titles + 4);
      return [
        `${sign} ${fit(visible(field), titles)}  ${first}`.trimEnd(),
        ...rest.map((part) => indent + part),
      ];
    }),
  ]);
}
