import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ClockOffset } from '../device/client.ts';
import type { ListEnd } from '../fleet/absence.ts';
import { isEqual } from '../device/equality.ts';
import { parseJson } from '../device/json.ts';
import {
  type DeviceRecord,
  jsonText,
  type JsonValue,
  valueAt,
  valueText,
} from '../device/record.ts';
import { attempt } from '../errors.ts';
import { type KeptRecord, type KeptState, keptWithout, type Naming } from './kept.ts';

/** When a reading began and ended, in ms UTC: the device had this state at some time between them. */
export interface Moment {
  readonly from: number;
  readonly to: number;
}

/** Which device was read. Its name says nothing: see `isSameDevice`. */
export interface Identity {
  readonly name: string;
  /** `host:port` */
  readonly address: string;
  /** The fingerprint of the pinned certificate; `verified` if an authority vouches for the name. */
  readonly pin: string;
  /** The key of the digests, by its own digest. */
  readonly digestKey: string;
}

/** What the last line of a resource says about fields that move by themselves. */
export interface Moving {
  readonly fields: readonly string[];
  /** Identifies the values that were kept last. */
  readonly digest: string;
  readonly keptAt: number;
}

/** A record whose fields changed: what is new, and the fields that are gone. */
interface KeptChange {
  readonly key: string;
  readonly fields: DeviceRecord;
  readonly digests?: Readonly<Record<string, string>>;
  readonly lost?: readonly string[];
}

interface ReadingLine extends Moment {
  readonly resource: string;
  /** The identity of the device; the file calls it so (`life`): see `periodName`. */
  readonly life: string;
  /** Identifies what was read. */
  readonly digest: string;
  readonly clock?: ClockOffset | undefined;
  readonly moving?: Moving;
  readonly list?: ListEnd;
  /** The list is a summary; the fields that it is known to leave out. */
  readonly omits?: readonly string[] | undefined;
  /** The values of moving fields, if they are kept again. */
  readonly values?: readonly (readonly [key: string, values: DeviceRecord])[];
  /** By field: in how many readings in a row it differed in every record. */
  readonly streaks?: Readonly<Record<string, number>>;
  /** The keys of records that were proven absent right after this reading. */
  readonly absent?: readonly string[];
}

/** One line of a history file. */
export type HistoryLine =
  | ({ readonly kind: 'life'; readonly at: number; readonly replaces?: string } & Identity)
  /** All records: the first reading of an identity, or the state from which later lines go on. */
  | (ReadingLine &
      Naming & {
        readonly kind: 'all';
        readonly records: readonly KeptRecord[];
      })
  /** `was`: the digest of the line that it builds upon. */
  | (ReadingLine & {
      readonly kind: 'change';
      readonly was: string;
      readonly added?: readonly KeptRecord[];
      readonly changed?: readonly KeptChange[];
      readonly gone?: readonly string[];
      /** Fields left out from now on, because they change by themselves. */
      readonly left?: readonly string[];
    })
  | (ReadingLine & { readonly kind: 'same' })
  /** A reading with too many records to be kept; one line stands for all that follow each other. */
  | (Moment & {
      readonly kind: 'large';
      readonly resource: string;
      readonly life: string;
      readonly records: number;
    });

export type LineOfReading = Exclude<HistoryLine, { readonly kind: 'life' | 'large' }>;

/** The address is the device, with its pin or the one that the user replaced by it. */
export function isSameDevice(
  known: Identity,
  next: Identity & { readonly replaces?: string },
): boolean {
  const isPinned = [next.pin, next.replaces].includes(known.pin);
  return isPinned && known.address === next.address && known.digestKey === next.digestKey;
}

/** The short name of an identity in the lines of its readings. */
export function periodName({ name, address, pin, digestKey }: Identity): string {
  const text = JSON.stringify([name, address, pin, digestKey]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}

/** Which key digests were made with, in an `Identity`. */
export function digestKeyName(key: Buffer): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 8);
}

/** With a checksum: a changed byte in a value would pass for what a device has shown. */
export function lineText(line: HistoryLine): string {
  const text = jsonText(line as unknown as JsonValue).slice(0, -1);
  return `${text},"crc":${crc32(text)}}\n`;
}

/** Whether the checksum of a line is right. */
function isWhole(text: string): boolean {
  const end = text.lastIndexOf(',"crc":');
  return end >= 0 && text.slice(end) === `,"crc":${crc32(text.slice(0, end))}}`;
}

/** Lines to append to a file with this checksum, which the last one of them gets: with that of the lines before it. */
export function summed(lines: string, sum: number): string {
  const start = lines.lastIndexOf('\n', lines.length - 2) + 1;
  const before = crc32(lines.slice(0, start), sum);
  const text = `${lines.slice(start, lines.lastIndexOf(',"crc":'))},"sum":${before}`;
  return `${lines.slice(0, start)}${text},"crc":${crc32(text)}}\n`;
}

/** The checksum of a file, if its last line proves that no byte has changed. */
export function provenSum(file: Buffer): number | undefined {
  const start = file.lastIndexOf('\n', file.length - 2) + 1;
  const last = file.toString('utf8', start);
  const before = /,"sum":(\d+),"crc":\d+\}\n$/.exec(last)?.[1];
  if (before === undefined || !isWhole(last.slice(0, -1))) return undefined;
  const sum = crc32(file.subarray(0, start));
  return sum === Number(before) ? crc32(last, sum) : undefined;
}

/** A line, or undefined if it is damaged, or not of devsh. */
export function parseLine(text: string): HistoryLine | undefined {
  if (!isWhole(text)) return undefined;
  const line = attempt(Error, () => parseJson(text) as unknown as HistoryLine | null) ?? null;
  if (typeof line !== 'object' || line === null) return undefined;
  if (line.kind === 'life') return typeof line.at === 'number' ? line : undefined;
  const isReading = typeof line.from === 'number' && typeof line.to === 'number';
  if (line.kind === 'large') return isReading ? line : undefined;
  return isReading && 'digest' in line && ['all', 'change', 'same'].includes(line.kind)
    ? line
    : undefined;
}

/** What differs between two readings of one identity. */
export interface Difference {
  readonly added: readonly KeptRecord[];
  readonly gone: readonly KeptRecord[];
  readonly changed: readonly {
    readonly before: KeptRecord;
    readonly after: KeptRecord;
    /** Their values, or the digests of their values, differ. */
    readonly fields: readonly string[];
  }[];
}

/** One complete reading of a resource. */
export interface KnownReading extends Moment, Naming {
  /** To the reading before; undefined if nothing differs, and for the first one. */
  readonly difference?: Difference | undefined;
  /** Fields that were found to move by themselves, and are left out from this reading on. */
  readonly left?: readonly string[] | undefined;
  /** The state that was read. Shared, where nothing differs. */
  readonly state: KeptState;
  /** Of the device, when it was read. */
  readonly clock?: ClockOffset | undefined;
  readonly list?: ListEnd;
  /** The keys of records that are proven to be absent: their own paths said so, and no list has shown them since. */
  readonly absent?: ReadonlySet<string>;
}

/**
 * What one identity of a device has shown of a resource. Readings in the order in which they were made, which is that of
 * their times unless the clock was set back; at least one.
 */
export interface ResourcePeriod {
  readonly readings: readonly KnownReading[];
  readonly moving: readonly string[];
  /** Its list is a summary: the fields that it is known to leave out. Undefined if it shows all, as far as is known. */
  readonly omits: readonly string[] | undefined;
  /** The last values of the fields that move by themselves, by key. */
  readonly values: ReadonlyMap<string, DeviceRecord>;
  readonly valuesAt: number | undefined;
}

/** What was read of one device, whatever its name was. */
export interface IdentityPeriod {
  /** The ISO time at which it begins. */
  readonly id: string;
  readonly begin: number;
  /** The names and pins that it had, the latest first. */
  readonly identities: readonly [Identity, ...Identity[]];
  readonly resources: ReadonlyMap<string, ResourcePeriod>;
  /** By resource: the last of the readings that have too many records to be kept. */
  readonly tooLarge: ReadonlyMap<string, TooLarge>;
}

export type TooLarge = Moment & { readonly records: number };

/** Where the next line of a resource goes on. */
export interface Track extends Naming {
  state: Map<string, KeptRecord>;
  digest: string;
  from: number;
  to: number;
  moving: Moving | undefined;
  list: ListEnd;
  omits: readonly string[] | undefined;
  values: ReadonlyMap<string, DeviceRecord>;
  valuesAt: number | undefined;
  streaks: Readonly<Record<string, number>>;
  absent: ReadonlySet<string>;
}

function absentAfter(
  track: Pick<Track, 'absent'> | undefined,
  { absent = [] }: LineOfReading,
  state: KeptState,
): ReadonlySet<string> {
  const all = [...(track?.absent ?? []), ...absent];
  return new Set(all.filter((key) => !state.has(key)));
}

export function applyLine(
  track: Track | undefined,
  line: LineOfReading,
): [Track, KnownReading] | undefined {
  const { from, to, digest, moving, values, clock, list, streaks = {} } = line;
  const omits = line.omits ?? track?.omits;
  const kept = values && { values: new Map(values), valuesAt: to };
  if (line.kind === 'all') {
    const state = new Map(line.records.map((record) => [record.key, record]));
    const absent = absentAfter(track, line, state);
    const next: Track = {
      ...{ values: track?.values ?? new Map(), valuesAt: track?.valuesAt, ...kept },
      ...{ keyField: line.keyField, idField: line.idField },
      ...{ state, digest, from, to, moving, list, omits, streaks, absent },
    };
    // Records that are named by another field cannot be compared.
    const isComparable = track && (track.keyField === line.keyField || track.state.size === 0);
    const difference = isComparable && differenceOf(stripped(track.state, moving), state);
    const { keyField, idField } = line;
    const reading = { from, to, keyField, idField, state, clock, list, absent };
    return [next, { ...reading, difference: difference || undefined }];
  }
  if (track === undefined) return undefined;
  const known = line.kind === 'change' ? line.was : line.digest;
  if (known !== track.digest) return undefined;
  const next = { ...track, digest, from, to, moving, list, omits, streaks, ...kept };
  const { keyField, idField } = track;
  const naming = { keyField, idField };
  if (line.kind === 'same') {
    const absent = absentAfter(track, line, track.state);
    return [
      { ...next, absent },
      { from, to, ...naming, clock, list, absent, state: track.state },
    ];
  }
  const before = stripped(track.state, moving);
  const state = new Map(before);
  for (const key of line.gone ?? []) state.delete(key);
  for (const change of line.changed ?? []) {
    const old = state.get(change.key);
    if (old !== undefined) state.set(change.key, changedRecord(old, change));
  }
  for (const record of line.added ?? []) state.set(record.key, record);
  const absent = absentAfter(track, line, state);
  return [
    { ...next, state, absent },
    {
      from,
      to,
      ...naming,
      state,
      clock,
      list,
      absent,
      difference: differenceOf(before, state),
      left: line.left,
    },
  ];
}

/** The same state without fields that are found to move only now. */
function stripped(
  state: Map<string, KeptRecord>,
  moving: Moving | undefined,
): Map<string, KeptRecord> {
  const names = moving?.fields ?? [];
  const hasOne = [...state.values()].some(({ fields }) =>
    names.some((name) => Object.hasOwn(fields, name)),
  );
  if (!hasOne) return state;
  return new Map([...state].map(([key, record]) => [key, keptWithout(record, names)]));
}

function changedRecord(
  old: KeptRecord,
  { key, fields, digests, lost = [] }: KeptChange,
): KeptRecord {
  const rest = keptWithout(old, [...Object.keys(fields), ...lost]);
  const secrets = { ...rest.digests, ...digests };
  const all = { ...rest.fields, ...fields };
  return { key, fields: all, ...(Object.keys(secrets).length > 0 && { digests: secrets }) };
}

/**
 * Compares two states. A digest and a value cannot be compared without the key, so a field that only one of
 * them has as a digest counts as the same.
 *
 * @param isSame for a comparison with the key
 */
export function differenceOf(
  before: KeptState,
  after: KeptState,
  isSame: (field: string, one: KeptRecord, other: KeptRecord) => boolean = isSameKept,
): Difference | undefined {
  if (before === after) return undefined;
  const added: KeptRecord[] = [];
  const changed: Difference['changed'][number][] = [];
  for (const [key, record] of after) {
    const old = before.get(key);
    if (old === undefined) added.push(record);
    else if (old !== record) {
      const names = new Set([...Object.keys(old.fields), ...Object.keys(record.fields)]);
      const fields = [...names].filter((field) => !isSame(field, old, record));
      if (fields.length > 0) changed.push({ before: old, after: record, fields });
    }
  }
  const gone = [...before.values()].filter(({ key }) => !after.has(key));
  const isEmpty = added.length + changed.length + gone.length === 0;
  return isEmpty ? undefined : { added, changed, gone };
}

function isSameKept(field: string, one: KeptRecord, other: KeptRecord): boolean {
  const [a, b] = [valueAt(one.digests, field), valueAt(other.digests, field)];
  if (a !== undefined && b !== undefined) return a === b;
  const [old, now] = [valueAt(one.fields, field), valueAt(other.fields, field)];
  if (a === undefined && b === undefined) return isEqual(old, now);
  // Whether a secret has appeared or disappeared shows all the same.
  return [old, now].every((value) => valueText(value) !== '');
}

/** The periods in a history file, oldest first, and how many lines are damaged or build on a damaged one. Pure. */
export function replay(text: string): {
  readonly periods: readonly IdentityPeriod[];
  /** Where the next line goes on: the short name of the last identity, and its resources. */
  readonly end: Pick<OpenPeriod, 'life' | 'tracks' | 'identities'> | undefined;
  readonly damaged: number;
} {
  const periods: OpenPeriod[] = [];
  let damaged = 0;
  for (const row of text.split('\n')) {
    const period = periods.at(-1);
    if (row === '' || addUnchanged(period, row)) continue;
    const line = parseLine(row);
    if (line?.kind === 'life') {
      if (period !== undefined && isSameDevice(period.identities[0], line)) {
        period.identities.unshift(line);
        period.life = periodName(line);
      } else {
        const id = new Date(line.at).toISOString();
        const maps = { tooLarge: new Map(), tracks: new Map() };
        periods.push({ id, life: periodName(line), begin: line.at, identities: [line], ...maps });
      }
    } else if (line === undefined || period?.life !== line.life) {
      damaged += 1;
    } else if (line.kind === 'large') {
      const { from, to, records } = line;
      period.tooLarge.set(line.resource, { from, to, records });
    } else {
      const [track, readings = []] = period.tracks.get(line.resource) ?? [];
      const applied = applyLine(track, line);
      if (applied === undefined) {
        damaged += 1;
        continue;
      }
      // A whole state may follow the line of the same reading.
      const [next, reading] = applied;
      const isAgain = reading.to === readings.at(-1)?.to && reading.difference === undefined;
      if (!isAgain) readings.push(reading);
      period.tracks.set(line.resource, [next, readings]);
    }
  }
  return {
    damaged,
    end: periods.at(-1),
    periods: periods.map(({ id, begin, identities, tooLarge, tracks }) => ({
      ...{ id, begin, identities, tooLarge },
      resources: new Map(
        [...tracks].map(([resource, [track, readings]]) => [resource, periodOf(track, readings)]),
      ),
    })),
  };
}

interface OpenPeriod extends Omit<IdentityPeriod, 'resources'> {
  life: string;
  readonly identities: [Identity, ...Identity[]];
  readonly tracks: Map<string, [Track, KnownReading[]]>;
  readonly tooLarge: Map<string, TooLarge>;
}

const UNCHANGED =
  /^\{"kind":"same","resource":"([^"\\]*)","life":"([\w-]*)","from":(\d+),"to":(\d+),"digest":"([\w-]*)"(?:,"clock":\[(-?\d+),(-?\d+)\])?[,}]/;

/** Adds a reading that shows what the last one showed, as most do, without parsing it. */
function addUnchanged(period: OpenPeriod | undefined, row: string): boolean {
  if (!row.startsWith('{"kind":"same"') || !isWhole(row)) return false;
  if (row.includes('"values"') || /"(?:streaks|absent)":/.test(row)) return false;
  const [, resource = '', life, from, to, digest, least, most] = UNCHANGED.exec(row) ?? [];
  const [track, readings] = period?.tracks.get(resource) ?? [];
  if (track === undefined || readings === undefined) return false;
  if (period?.life !== life || track.digest !== digest) return false;
  const { keyField, idField, state, list, absent } = track;
  const clock = least === undefined ? undefined : ([Number(least), Number(most)] as const);
  const times = { from: Number(from), to: Number(to) };
  const reading = { ...times, keyField, idField, state, clock, list, absent };
  track.from = reading.from;
  track.to = reading.to;
  if (reading.to !== readings.at(-1)?.to) readings.push(reading);
  return true;
}

function periodOf(track: Track, readings: readonly KnownReading[]): ResourcePeriod {
  const { moving, omits, values, valuesAt } = track;
  return { readings, moving: moving?.fields ?? [], omits, values, valuesAt };
}
