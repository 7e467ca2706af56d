import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ClockOffset } from '../device/client.ts';
import type { ListEnd } from '../fleet/device-session.ts';
import { isEqual } from '../device/equality.ts';
import { parseJson } from '../device/json.ts';
import {
  type DeviceRecord,
  jsonText,
  type JsonValue,
  valueAt,
  valueText,
} from '../device/record.ts';
import { idsOf } from '../change/identity.ts';
import { attempt } from '../errors.ts';
import { type KeptRecord, type KeptState, keptWithout, type Naming } from './kept.ts';

/** When a reading began and ended, in ms UTC: the device had this state at some time between them. */
export interface Moment {
  readonly from: number;
  readonly to: number;
}

/** The device that was read. A name alone does not identify it: see `isSameDevice`. */
export interface DeviceIdentity {
  readonly name: string;
  /** `host:port` */
  readonly address: string;
  /** The fingerprint of the pinned certificate; `verified` if an authority vouches for the name. */
  readonly pin: string;
  /** The digest of the key that digests were made with. */
  readonly digestKey: string;
}

/** The fields of a resource that move by themselves, according to its last line. */
export interface Moving {
  readonly fields: readonly string[];
  /** The digest of the values that were kept last. */
  readonly digest: string;
  readonly keptAt: number;
}

/** A changed record: its new and changed fields, and the names of those that are gone. */
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
  /** The digest of the records. */
  readonly digest: string;
  readonly clock?: ClockOffset | undefined;
  readonly moving?: Moving;
  readonly list?: ListEnd;
  /** The fields that the list is known to leave out, if it is a summary. */
  readonly omits?: readonly string[] | undefined;
  /** The values of moving fields, if they are kept again. */
  readonly values?: readonly (readonly [key: string, values: DeviceRecord])[];
  /** The readings in a row in which a field differed in every record, by field. */
  readonly streaks?: Readonly<Record<string, number>>;
  /** The keys of records that were proven absent right after this reading. */
  readonly absent?: readonly string[];
}

/**
 * One line of a history file. A `life` with `upTo` begins a whole state: the last line of each resource follows, and no
 * line before it is later than `upTo`.
 */
export type HistoryLine =
  | ({
      readonly kind: 'life';
      readonly at: number;
      readonly upTo?: number;
      readonly replaces?: string;
    } & DeviceIdentity)
  /** All records of a reading: the first one of an identity, or a state on which later lines build. */
  | (ReadingLine &
      Naming & {
        readonly kind: 'all';
        readonly records: readonly KeptRecord[];
        readonly hidden?: readonly KeptRecord[] | undefined;
      })
  /** The changes since the line whose digest is `was`. */
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
  /** A reading with too many records to be kept. One line stands for several of them in a row. */
  | (Moment & {
      readonly kind: 'large';
      readonly resource: string;
      readonly life: string;
      readonly records: number;
    });

export type LineOfReading = Exclude<HistoryLine, { readonly kind: 'life' | 'large' }>;

/** Whether address and pin are the same. The pin may also be the one that the user has replaced by the new one. */
export function isSameDevice(
  known: DeviceIdentity,
  next: DeviceIdentity & { readonly replaces?: string },
): boolean {
  const isPinned = [next.pin, next.replaces].includes(known.pin);
  return isPinned && known.address === next.address && known.digestKey === next.digestKey;
}

/** The short name of an identity in the lines of its readings. */
export function periodName({ name, address, pin, digestKey }: DeviceIdentity): string {
  const text = JSON.stringify([name, address, pin, digestKey]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}

/** The name of a key of digests, as in `DeviceIdentity`. */
export function digestKeyName(key: Buffer): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 8);
}

/** Writes a line with a checksum: otherwise a value with a damaged byte would look like one that a device has shown. */
export function lineText(line: HistoryLine): string {
  const text = jsonText(line as unknown as JsonValue).slice(0, -1);
  return `${text},"crc":${crc32(text)}}\n`;
}

/** Whether the checksum of a line is right. */
function isWhole(text: string): boolean {
  const end = text.lastIndexOf(',"crc":');
  return end >= 0 && text.slice(end) === `,"crc":${crc32(text.slice(0, end))}}`;
}

/**
 * Prepares lines that are appended behind lines with the checksum `sum`. The last new line gets the checksum of all
 * lines before it, from the last whole state on.
 */
export function summed(lines: string, sum: number): string {
  const whole = lines.search(/^\{"kind":"life","at":\d+,"upTo":/m);
  const start = lines.lastIndexOf('\n', lines.length - 2) + 1;
  const before = whole < 0 ? crc32(lines.slice(0, start), sum) : crc32(lines.slice(whole, start));
  const text = `${lines.slice(start, lines.lastIndexOf(',"crc":'))},"sum":${before}`;
  return `${lines.slice(0, start)}${text},"crc":${crc32(text)}}\n`;
}

/** The checksum of the end of a file from a whole state on, if its last line proves that no byte has changed. */
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

/** The difference between two readings of one identity. */
export interface Difference {
  readonly added: readonly KeptRecord[];
  readonly gone: readonly KeptRecord[];
  readonly changed: readonly {
    readonly before: KeptRecord;
    readonly after: KeptRecord;
    /** The fields whose values, or digests of values, differ. */
    readonly fields: readonly string[];
  }[];
}

/** One complete reading of a resource, with all that its next line builds on. */
export interface KnownReading extends Moment, Naming {
  readonly digest: string;
  /** The difference from the reading before; undefined if nothing differs, and for the first reading. */
  readonly difference?: Difference | undefined;
  /** Fields that were found to move by themselves, and are left out from this reading on. */
  readonly left?: readonly string[] | undefined;
  /** The records. Readings without a difference share one object. */
  readonly state: KeptState;
  /** The clock of the device when it was read. */
  readonly clock?: ClockOffset | undefined;
  readonly list?: ListEnd;
  /** The keys of records that are proven absent: a GET of their own paths showed it, and no list has them since. */
  readonly absent: ReadonlySet<string>;
  /** By key, the records that the list no longer shows, but that are not proven absent. */
  readonly hidden: KeptState;
  readonly moving: Moving | undefined;
  /** The fields that the list is known to leave out, if it is a summary. Undefined if it shows all, as far as known. */
  readonly omits: readonly string[] | undefined;
  /** The last values of the fields that move by themselves, by key. */
  readonly values: ReadonlyMap<string, DeviceRecord>;
  readonly valuesAt: number | undefined;
  readonly streaks: Readonly<Record<string, number>>;
  /** The number of lines before it that are lost. */
  readonly damaged: number;
}

/** The readings of a resource under one identity, in the order in which they were made, whatever the clock said. */
export type Readings = [KnownReading, ...KnownReading[]];

/** The readings of one device, whatever its name was. */
export interface IdentityPeriod {
  /** The ISO time at which it begins. */
  readonly id: string;
  readonly begin: number;
  /** The names and pins that it had, the latest first. */
  readonly identities: [DeviceIdentity, ...DeviceIdentity[]];
  /** The short name of the last identity. */
  life: string;
  readonly resources: Map<string, Readings>;
  /** The last of the readings that have too many records to be kept, by resource. */
  readonly tooLarge: Map<string, TooLarge>;
}

export type TooLarge = Moment & { readonly records: number };

/** The reading that a line describes; undefined if it builds on a line that is lost. */
function applyLine(
  last: KnownReading | undefined,
  line: LineOfReading,
  damaged: number,
): KnownReading | undefined {
  const { from, to, digest, moving, clock, streaks = {}, omits = last?.omits } = line;
  const values = line.values && new Map(line.values);
  const shown = line.kind === 'same' ? last?.list : line.list;
  // A lost line may have shown records that this one leaves out.
  const list: ListEnd = damaged > (last?.damaged ?? 0) ? 'hides' : shown;
  const common = {
    ...{ from, to, digest, moving, clock, list, streaks, omits, damaged },
    values: values ?? last?.values ?? new Map<string, DeviceRecord>(),
    valuesAt: values ? to : last?.valuesAt,
  };
  if (line.kind === 'all') {
    const { keyField, idField } = line;
    const state = new Map(line.records.map((record) => [record.key, record]));
    // Records with another key field cannot be compared.
    const isComparable = last && (last.keyField === keyField || last.state.size === 0);
    const difference = isComparable && differenceOf(stripped(last.state, moving), state);
    const absences = absencesAfter(last, line, state, difference || undefined);
    return {
      ...common,
      keyField,
      idField,
      state,
      ...absences,
      difference: difference || undefined,
    };
  }
  if (last?.digest !== (line.kind === 'change' ? line.was : digest)) return undefined;
  const { keyField, idField } = last;
  const naming = { keyField, idField };
  if (line.kind === 'same') {
    const { state } = last;
    return { ...common, ...naming, state, ...absencesAfter(last, line, state) };
  }
  const before = stripped(last.state, moving);
  const { added = [], changed = [], gone = [] } = line;
  const state = new Map(before);
  for (const key of gone) state.delete(key);
  for (const change of changed) {
    const old = state.get(change.key);
    if (old !== undefined) state.set(change.key, changedRecord(old, change));
  }
  for (const record of added) state.set(record.key, record);
  const touched = [...gone, ...[...changed, ...added].map(({ key }) => key)];
  const among = (all: KeptState): KeptState =>
    new Map(touched.flatMap((key) => all.get(key) ?? []).map((record) => [record.key, record]));
  const difference = differenceOf(among(before), among(state));
  const absences = absencesAfter(last, line, state, difference);
  return { ...common, ...naming, state, ...absences, difference, left: line.left };
}

const NOTHING_SEEN: Pick<KnownReading, 'absent' | 'hidden'> = {
  absent: new Set(),
  hidden: new Map(),
};

/** The most records that are kept after the list has stopped to show them. */
const MOST_HIDDEN = 100;

function absencesAfter(
  last: KnownReading | undefined,
  line: LineOfReading,
  state: KeptState,
  difference?: Difference,
): Pick<KnownReading, 'absent' | 'hidden'> {
  const { absent: known, hidden: before } = last ?? NOTHING_SEEN;
  if (last !== undefined && line.absent === undefined && difference === undefined) {
    return { absent: known, hidden: before };
  }
  const all = [...known, ...(line.absent ?? [])];
  const absent = new Set(all.filter((key) => !state.has(key)));
  const kept = line.kind === 'all' ? (line.hidden ?? []) : [];
  const hidden = [...before.values(), ...kept, ...(difference?.gone ?? [])].filter(
    ({ key }) => !state.has(key) && !absent.has(key),
  );
  return { absent, hidden: new Map(hidden.slice(-MOST_HIDDEN).map((one) => [one.key, one])) };
}

/** The state without the fields that this reading has shown to move by themselves. */
function stripped(state: KeptState, moving: Moving | undefined): KeptState {
  const names = moving?.fields ?? [];
  if (names.length === 0) return state;
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

/** The difference between two states. Records with another key, but the same id, count as renamed. */
export function differenceOf(before: KeptState, after: KeptState): Difference | undefined {
  const difference = differenceByKey(before, after);
  if (difference === undefined || difference.gone.length === 0) return difference;
  const { added, gone, changed } = difference;
  const byId = new Map(added.flatMap((record) => idsOf(record.fields).map((id) => [id, record])));
  const renamed = gone.flatMap((old) => {
    const now = idsOf(old.fields).flatMap((id) => byId.get(id) ?? [])[0];
    return now === undefined ? [] : [[old, now] as const];
  });
  const known = new Set(renamed.flat());
  return {
    added: added.filter((record) => !known.has(record)),
    gone: gone.filter((record) => !known.has(record)),
    changed: [...changed, ...renamed.flatMap(([old, now]) => changesOf(old, now))],
  };
}

/** The difference between two images of one record, whatever its key is. */
export function changesOf(before: KeptRecord, after: KeptRecord): Difference['changed'] {
  const one = (kept: KeptRecord): KeptState => new Map([['', kept]]);
  return differenceByKey(one(before), one(after))?.changed ?? [];
}

/**
 * Compares two states. By default, a field that only one of them has as a digest counts as the same, because a digest
 * and a value cannot be compared without the key.
 *
 * @param isSame compares two values of a field, if the caller has the key
 */
export function differenceByKey(
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
  // It shows even so whether a secret has appeared or disappeared.
  return [old, now].every((value) => valueText(value) !== '');
}

/**
 * The periods in a history file, the oldest first, and the number of lines that are damaged or build on a damaged one.
 * Of the readings before `since` (ms UTC), it keeps the last one in each period. Pure.
 */
export function replay(
  text: string,
  since = -Infinity,
): {
  readonly periods: readonly IdentityPeriod[];
  /** The period that the next line continues. */
  readonly end: IdentityPeriod | undefined;
  /** The latest time in it, ms UTC. */
  readonly upTo: number;
  readonly damaged: number;
} {
  const periods: IdentityPeriod[] = [];
  let [damaged, upTo] = [0, 0];
  for (const row of text.split('\n')) {
    const period = periods.at(-1);
    if (row === '' || addUnchanged(period, row, since, damaged)) continue;
    const line = parseLine(row);
    if (line?.kind === 'life') {
      upTo = Math.max(upTo, line.upTo ?? 0);
      const life = periodName(line);
      if (period === undefined || !isSameDevice(period.identities[0], line)) {
        const id = new Date(line.at).toISOString();
        const maps = { tooLarge: new Map(), resources: new Map() };
        periods.push({ id, life, begin: line.at, identities: [identityIn(line)], ...maps });
      } else if (period.life !== life) {
        period.identities.unshift(identityIn(line));
        period.life = life;
      }
    } else if (line === undefined || period?.life !== line.life) {
      damaged += 1;
    } else if (line.kind === 'large') {
      const { from, to, records } = line;
      period.tooLarge.set(line.resource, { from, to, records });
    } else if (!addReading(period, line, since, damaged)) {
      damaged += 1;
    }
  }
  for (const { resources, tooLarge } of periods) {
    const times = [...[...resources.values()].flat(), ...tooLarge.values()];
    upTo = times.reduce((latest, { to }) => Math.max(latest, to), upTo);
  }
  return { periods, damaged, upTo, end: periods.at(-1) };
}

function identityIn({ name, address, pin, digestKey }: DeviceIdentity): DeviceIdentity {
  return { name, address, pin, digestKey };
}

/** Adds the reading of a line. Returns false if the line builds on one that is lost. */
function addReading(
  { resources }: IdentityPeriod,
  line: LineOfReading,
  since: number,
  damaged: number,
): boolean {
  const readings = resources.get(line.resource);
  const last = readings?.at(-1);
  const next = applyLine(last, line, damaged);
  if (next === undefined) return false;
  // A line of a whole state repeats the reading before it.
  const isAgain = last?.to === next.to && next.difference === undefined;
  if (readings === undefined) resources.set(line.resource, [next]);
  else if (isPast(last, next, since)) readings.splice(-1, 1, next);
  else if (!isAgain) readings.push(next);
  else readings.splice(-1, 1, { ...next, difference: last.difference, left: last.left });
  return true;
}

function isPast(last: Moment | undefined, next: Moment, since: number): boolean {
  return last !== undefined && last.to < since && next.to < since;
}

const UNCHANGED =
  /^\{"kind":"same","resource":"([^"\\]*)","life":"([\w-]*)","from":(\d+),"to":(\d+),"digest":"([\w-]*)"(?:,"clock":\[(-?\d+),(-?\d+)\])?[,}]/;

/** Adds a reading that shows the same as the last one, as most do, without parsing the line. Returns whether it did. */
function addUnchanged(
  period: IdentityPeriod | undefined,
  row: string,
  since: number,
  damaged: number,
): boolean {
  if (!row.startsWith('{"kind":"same"') || !isWhole(row)) return false;
  if (row.includes('"values"') || /"(?:streaks|absent)":/.test(row)) return false;
  const [, resource = '', life, from, to, digest, least, most] = UNCHANGED.exec(row) ?? [];
  const readings = period?.resources.get(resource);
  const last = readings?.at(-1);
  if (last === undefined || period?.life !== life) return false;
  if (last.digest !== digest || last.damaged !== damaged) return false;
  if (last.to === Number(to)) return true;
  const clock = least === undefined ? undefined : ([Number(least), Number(most)] as const);
  const times = { from: Number(from), to: Number(to), clock };
  const next = { ...last, ...times, difference: undefined, left: undefined };
  readings?.splice(isPast(last, next, since) ? -1 : readings.length, 1, next);
  return true;
}
