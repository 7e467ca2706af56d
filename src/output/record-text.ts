import { comparedText, isCompared, isDated } from '../fleet/compared.ts';
import { groupByValue, type Holder, type ValueGroup } from '../fleet/drift.ts';
import type { FoldedRow } from '../fleet/fold.ts';
import type { View } from '../shell/output.ts';
import { type DeviceRecord, exactText, valueAt } from '../device/record.ts';
import { cellsUpTo, cut, fit, visible, widthOf } from '../text/visible.ts';
import { wrapText } from '../text/wrap.ts';
import { exactFieldText, fieldsOf, MOST_ON_SCREEN } from './cells.ts';
import type { Tone } from './streams.ts';

export interface RecordOnDevices {
  readonly holders: readonly Holder[];
  /** `on 9 of 10 read`; empty for a single device. */
  readonly where: string;
  /** Where it is not, and what is not known: `not on fw3`, `not read: fw11`. */
  readonly notes: readonly Note[];
  readonly differing: ReadonlySet<string>;
  readonly keyField: string;
  readonly perDevice: ReadonlySet<string>;
  readonly isRead: (device: string) => boolean;
  /** Number of devices whose value is not known: not read, or hidden by a filter. */
  readonly unknown: number;
}

interface Span {
  readonly tone: Tone | 'plain';
  readonly text: string;
}

export type RecordLine = readonly Span[];

interface Note {
  readonly what: string;
  readonly devices: readonly string[];
}

export const NOT_READ = 'not read:';

/** The least width of one value beside its devices. */
const LEAST_VALUE = 6;

interface Reading {
  /** All devices, in their order. */
  readonly names: readonly string[];
  readonly view: Pick<View, 'filtered' | 'perDevice'>;
  readonly keyField: string;
  readonly isRead: (device: string) => boolean;
  /** Whether the list of a device may leave the record out. */
  readonly mayLack?: (device: string) => boolean;
  /** What is said of devices that have the record, but were not read now. */
  readonly oldText?: (devices: readonly string[]) => string;
}

/** One record from its rows, one for each content. */
export function recordOf(
  rows: readonly Pick<FoldedRow, 'devices' | 'records' | 'differing'>[],
  reading: Reading,
): RecordOnDevices {
  const { names, view, keyField, isRead } = reading;
  const holders = rows.flatMap(({ devices, records }) =>
    devices.map(({ name }, index) => ({ name, record: records[index] ?? {} })),
  );
  if (rows.length > 1) {
    const places = new Map(names.map((name, place) => [name, place]));
    holders.sort((a, b) => (places.get(a.name) ?? 0) - (places.get(b.name) ?? 0));
  }
  return {
    holders,
    ...placesOf(new Set(holders.map(({ name }) => name)), reading),
    differing: new Set(rows.flatMap(({ differing }) => differing)),
    keyField,
    perDevice: new Set(view.perDevice),
    isRead,
  };
}

/** Every field of a record with its values and their devices, and where it is not. */
export function recordLines(record: RecordOnDevices, width: number): RecordLine[] {
  const { where, notes } = record;
  const below = notes.flatMap(({ what, devices }) =>
    wrapText(`${what} ${devices.map(visible).join(', ')}`, width),
  );
  return [
    ...(where === '' ? [] : [plainLine(where), []]),
    ...fieldLines(record, width),
    ...(below.length === 0 ? [] : [[], ...below.map(plainLine)]),
  ];
}

const plainLine = (text: string): RecordLine => [{ tone: 'plain', text }];

/** Which devices have a record, which lack it, and which may have it. */
function placesOf(
  having: ReadonlySet<string>,
  { names, view, isRead, mayLack = () => false, oldText = () => '' }: Reading,
): Pick<RecordOnDevices, 'where' | 'notes' | 'unknown'> {
  const isFiltered = view.filtered === true;
  const others = names.filter((name) => !having.has(name));
  const [current, missing] = [[...having].filter(isRead), others.filter(isRead)];
  // Without a response now: the devices with an old answer, and those with none.
  const isUnread = (name: string): boolean => !isRead(name);
  const [old, unread] = [[...having].filter(isUnread), others.filter(isUnread)];
  // A filter may have hidden the record.
  const on = isFiltered ? 'matches on' : 'on';
  const unlisted = missing.filter(mayLack);
  const sure = missing.filter((name) => !mayLack(name));
  const notes = [
    { what: isFiltered ? 'no match on' : 'not on', devices: sure },
    { what: 'not in the list, which may leave it out:', devices: unlisted },
    { what: NOT_READ, devices: unread },
    { what: oldText(old), devices: old },
  ].filter(({ devices }) => devices.length > 0);
  const unknown = unread.length + old.length + (isFiltered ? missing : unlisted).length;
  const [first, second] = current;
  const isAll = notes.length === 0;
  if (first === undefined || (second === undefined && isAll)) return { where: '', notes, unknown };
  const of = current.length + missing.length;
  const isPartly = unread.length > 0 || old.length > 0;
  const some = second === undefined ? visible(first) : `${current.length} of ${of}`;
  const read = isPartly && second !== undefined ? ' read' : '';
  return { where: isAll ? `on all ${of}` : `${on} ${some}${read}`, notes, unknown };
}

const ODD = '◂ odd';

/** The name of the record, then the fields that differ, last ids and times. */
function sortedFields(record: RecordOnDevices): readonly string[] {
  const { holders, differing, keyField } = record;
  const rank = (field: string): number =>
    field === keyField ? 0 : differing.has(field) ? 1 : isOwn(field, record) ? 3 : 2;
  return fieldsOf(holders.map((holder) => holder.record))
    .map((field) => ({ field, rank: rank(field) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ field }) => field);
}

/** Whether the values are not compared: ids, times, secrets. */
function isOwn(field: string, { holders, keyField, perDevice }: RecordOnDevices): boolean {
  if (field === keyField) return false;
  return (
    !isCompared(field, keyField, perDevice) ||
    holders.some(({ record }) => isDated(field, valueAt(record, field)))
  );
}

/** Each field with its values and devices, one after the other; `most` values, each on one line, else all. */
export function* fieldLines(
  record: RecordOnDevices,
  width: number,
  most = Infinity,
): Generator<RecordLine, void> {
  const { differing } = record;
  // Beside a table the heading has the name.
  const isNamed = (field: string): boolean => most < Infinity && field === record.keyField;
  const fields = sortedFields(record).filter((field) => !isNamed(field));
  const titles = titlesWidth(fields, width);
  for (const field of fields) {
    const groups = valuesOf(field, record, width);
    const areOwn = groups.length > 1 && !differing.has(field);
    if (areOwn && most < Infinity) {
      const title = `  ${fit(visible(field), titles)}  `;
      yield [{ tone: 'quiet', text: `${title}(${groups.length} values)` }];
      continue;
    }
    const shown = groups.slice(0, groups.length > most ? most - 1 : undefined);
    const sign = differing.has(field) ? '≠' : ' ';
    let title = `${sign} ${fit(visible(field), titles)}  `;
    for (const line of valueLines(shown, width - titles - 4, most === Infinity)) {
      yield [{ tone: sign === '≠' ? 'warning' : 'quiet', text: title }, ...line];
      title = ' '.repeat(titles + 4);
    }
    if (shown.length < groups.length)
      yield [{ tone: 'quiet', text: `${title}… ${groups.length - shown.length} more values` }];
  }
}

/** A longer value says how long it is, unless the width has no limit. */
function shownText(record: DeviceRecord, field: string, width: number): string {
  const value = valueAt(record, field);
  const text = exactFieldText(field, value, width < Infinity ? MOST_ON_SCREEN : Infinity);
  const { length } = exactText(value);
  const isCut = length > MOST_ON_SCREEN && text.endsWith('…');
  return isCut ? `${text} (${length} characters; --json has all)` : text;
}

function valuesOf(field: string, record: RecordOnDevices, width: number): ValueGroup[] {
  const { holders, differing, perDevice, isRead, unknown } = record;
  const textOf = ({ record: own }: Holder): string => shownText(own, field, width);
  if (differing.has(field)) {
    const sameAs = (holder: Holder): string =>
      comparedText(field, valueAt(holder.record, field), perDevice);
    return groupByValue(holders, { textOf, isRead, sameAs, unknown });
  }
  // What is compared and does not differ is the same on all.
  const few = isOwn(field, record) ? holders : holders.slice(0, 1);
  return groupByValue(few, { textOf, isRead }).map((group) => ({ ...group, isOdd: false }));
}

/** The values of one field; several with their devices beside them. */
function* valueLines(
  groups: readonly ValueGroup[],
  width: number,
  isWhole: boolean,
): Generator<RecordLine, void> {
  const [only] = groups;
  const cells = (text: string, room: number): string[] =>
    isWhole ? wrapText(text, room) : [cut(text, room)];
  if (groups.length === 1 && only !== undefined) {
    for (const text of cells(only.text, width)) yield [{ tone: 'plain', text }];
    return;
  }
  const texts = groups.map(({ text }) => text || "''");
  const least = Math.max(
    ...groups.map(
      ({ devices, isOdd }) => widthOf(someNames(devices, 0)) + (isOdd ? widthOf(ODD) + 1 : 0),
    ),
  );
  // Without its device a value says little: long names go below it.
  const widest = Math.max(...texts.map((text) => cellsUpTo(text, width)));
  const isBeside = least + 2 + Math.min(LEAST_VALUE, widest) <= width;
  const value = Math.min(widest, width - (isBeside ? 2 + least : widthOf(ODD) + 3));
  for (const [index, { devices, isOdd }] of groups.entries()) {
    const room = isBeside ? width - value - 2 - (isOdd ? widthOf(ODD) + 1 : 0) : width - 2;
    const isLong = index === 0 && devices.length > 2;
    const names = isLong
      ? someNames(devices, 0)
      : isWhole
        ? devices.map(visible).join(' ')
        : someNames(devices, room);
    const values = cells(texts[index] ?? '', value);
    const where = [...(isBeside ? [] : values.map(() => '')), ...cells(names, room)];
    for (let at = 0; at < Math.max(values.length, where.length); at += 1) {
      const [text = '', name = ''] = [values[at], where[at]];
      const shown = name === '' ? text : `${fit(text, isBeside ? value : 0)}  `;
      yield [
        { tone: isOdd ? 'warning' : 'plain', text: shown },
        { tone: 'quiet', text: name },
        ...(isOdd && at === 0 ? [{ tone: 'warning' as const, text: ` ${ODD}` }] : []),
      ];
    }
  }
}

/** `fw1 fw2 +7`: as many names as fit, at least one. */
export function someNames([first = '', ...rest]: readonly string[], room: number): string {
  let text = visible(first);
  for (const [index, name] of rest.entries()) {
    const left = rest.length - index;
    const next = `${text} ${visible(name)}`;
    const isLast = left === 1;
    if (widthOf(next) + (isLast ? 0 : ` +${left - 1}`.length) > room) return `${text} +${left}`;
    text = next;
  }
  return text;
}

export function titlesWidth(fields: readonly string[], width: number): number {
  const most = Math.max(20, Math.floor(width / 4));
  return Math.max(5, ...fields.map((field) => cellsUpTo(visible(field), most)));
}
