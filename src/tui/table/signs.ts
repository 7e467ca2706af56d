import { grouped, valueAt } from '../../device/record.ts';
import { comparedText } from '../../fleet/compared.ts';
import type { FoldedRow } from '../../fleet/fold.ts';
import { majorityOf } from '../../fleet/drift.ts';
import type { Tone } from '../screen/theme.ts';
import type { TableChanges } from './table-state.ts';
import { memoized } from '../store.ts';
import { rememberedFor } from '../../text/remember.ts';
import { isStaleRow, marksOf, rawKeyOf, type TableRows } from './rows.ts';

interface Sign {
  /** One cell, different for each kind, also in ASCII (`withAsciiSigns`). */
  readonly sign: string;
  readonly tone: Tone;
  /** The meaning, for a legend. */
  readonly text: string;
}

/** The signs at the start of a row, the most urgent first. A row has one sign. */
export const SIGNS = {
  added: { sign: '+', tone: 'good', text: 'new since the last read' },
  changed: { sign: '~', tone: 'accent', text: 'changed since the last read' },
  stale: { sign: '?', tone: 'quiet', text: 'as last read: the device does not respond' },
  differs: { sign: '≠', tone: 'warning', text: 'differs between devices' },
  partial: { sign: '·', tone: 'accent', text: 'not on all devices' },
} as const satisfies Record<string, Sign>;

/** The sign beside a value that most devices do not have. */
export const ODD = SIGNS.differs.sign;

const NO_SIGN: Sign = { sign: ' ', tone: 'plain', text: '' };
/** The sign of rows with the values of most devices, if other devices have other values. */
const DIFFERS_FROM_ODD: Sign = { ...SIGNS.differs, tone: 'quiet' };

/** `odd`: most devices have another value. `tie`: no value is that of most devices. */
type Difference = 'odd' | 'tie';
type Differences = ReadonlyMap<string, Difference>;

const NO_FIELDS: ReadonlySet<string> = new Set();
const NO_DIFFERENCES: Differences = new Map();

export interface RowMarks {
  readonly sign: Sign;
  /** Fields that have another value than before. */
  readonly changed: ReadonlySet<string>;
  readonly differences: Differences;
}

export function marksOfRow(
  row: FoldedRow,
  data: TableRows,
  changes: TableChanges | undefined,
  isFiltered: boolean,
): RowMarks {
  const { kind, changed } = changeOf(row, data.keyField, changes);
  const differences = differencesIn(row, data, isFiltered);
  const sign = kind === undefined ? lastingSign(row, data, differences, isFiltered) : SIGNS[kind];
  return { sign, changed, differences };
}

function changeOf(row: FoldedRow, keyField: string, changes: TableChanges | undefined) {
  const found =
    changes === undefined ? [] : marksOf(row, keyField).filter((mark) => changes.fields.has(mark));
  if (found.length === 0) return { kind: undefined, changed: NO_FIELDS };
  const fields = found.map((mark) => changes?.fields.get(mark));
  if (fields.every((one) => one === undefined))
    return { kind: 'added' as const, changed: new Set([keyField]) };
  return { kind: 'changed' as const, changed: new Set(fields.flatMap((one) => one ?? [])) };
}

function lastingSign(
  row: FoldedRow,
  { stale }: TableRows,
  differences: Differences,
  isFiltered: boolean,
): Sign {
  if (isStaleRow(row, stale)) return SIGNS.stale;
  if (row.differing.length > 0) return differences.size === 0 ? DIFFERS_FROM_ODD : SIGNS.differs;
  // A filter may hide the record of the other devices.
  const isPartial = !isFiltered && freshDevices(row, stale).length < row.of - stale.size;
  return isPartial ? SIGNS.partial : NO_SIGN;
}

type Held = Pick<TableRows, 'all' | 'keyField' | 'stale' | 'own'>;

export function differencesIn(row: FoldedRow, data: Held, isFiltered: boolean): Differences {
  const { all, keyField, stale, own } = data;
  if (row.differing.length === 0) return NO_DIFFERENCES;
  return compared(row, all, keyField, stale, own, isFiltered);
}

/** A device without a valid response, or with a record that a filter may hide, counts as if it had another value. */
const compared = rememberedFor(
  (
    row: FoldedRow,
    all: Held['all'],
    keyField: string,
    stale: Held['stale'],
    own: Held['own'],
    isFiltered: boolean,
  ): Differences => {
    const variants = differingRows(all, keyField).get(rawKeyOf(row.record, keyField)) ?? [row];
    const names = variants.flatMap((one) => freshDevices(one, stale));
    // A device with two records of this name would be counted twice.
    const isTwice = new Set(names).size < names.length;
    const hidden = isFiltered ? row.of - stale.size - names.length : 0;
    const textIn = (one: FoldedRow, field: string): string =>
      comparedText(field, valueAt(one.record, field), own);
    return new Map(
      row.differing.flatMap((field): [string, Difference][] => {
        const values = grouped(variants, (one) => textIn(one, field));
        const votes = [...values].map(([text, rows]) => ({
          text,
          devices: rows.flatMap((one) => freshDevices(one, stale)),
        }));
        const most = isTwice ? undefined : majorityOf(votes, row.unread + stale.size + hidden);
        if (most?.text === textIn(row, field)) return [];
        return [[field, most === undefined ? 'tie' : 'odd']];
      }),
    );
  },
);

const differingRows = memoized((all: TableRows['all'], keyField: string) =>
  grouped(
    all.filter(({ differing }) => differing.length > 0),
    ({ record }) => rawKeyOf(record, keyField),
  ),
);

function freshDevices({ devices }: FoldedRow, stale: TableRows['stale']): string[] {
  return devices.map(({ name }) => name).filter((name) => !stale.has(name));
}
