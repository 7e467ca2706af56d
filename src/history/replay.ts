import { isEqual } from '../device/equality.ts';
import type { ClockOffset } from '../device/client.ts';
import { valueAt, type DeviceRecord } from '../device/record.ts';
import { type KeptRecord, type KeptState, keptWithout, type Naming } from './kept.ts';
import {
  type Identity,
  isWhole,
  type KeptChange,
  lifeName,
  type LineOfReading,
  type Moment,
  type Moving,
  parseLine,
} from './lines.ts';

/** What differs between two readings of one life. */
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
}

/**
 * What one life of a device has shown of a resource. Readings in the order in which they were made, which is that of
 * their times unless the clock was set back; at least one.
 */
export interface ResourceLife {
  readonly readings: readonly KnownReading[];
  readonly moving: readonly string[];
  /** Its list is a summary: the fields that it is known to leave out. Undefined if it shows all, as far as is known. */
  readonly omits: readonly string[] | undefined;
  /** The last values of the fields that move by themselves, by key. */
  readonly values: ReadonlyMap<string, DeviceRecord>;
  readonly valuesAt: number | undefined;
}

export interface Life {
  /** The ISO time at which it begins. */
  readonly id: string;
  readonly begin: number;
  readonly identity: Identity;
  readonly resources: ReadonlyMap<string, ResourceLife>;
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
  omits: readonly string[] | undefined;
  values: ReadonlyMap<string, DeviceRecord>;
  valuesAt: number | undefined;
  streaks: Readonly<Record<string, number>>;
}

export function applyLine(
  track: Track | undefined,
  line: LineOfReading,
): [Track, KnownReading?] | undefined {
  const { from, to, digest, moving, values, clock, streaks = {} } = line;
  const omits = line.omits ?? track?.omits;
  const kept = values && { values: new Map(values), valuesAt: to };
  if (line.kind === 'all') {
    const state = new Map(line.records.map((record) => [record.key, record]));
    const next: Track = {
      ...{ values: track?.values ?? new Map(), valuesAt: track?.valuesAt, ...kept },
      ...{ keyField: line.keyField, idField: line.idField },
      ...{ state, digest, from, to, moving, omits, streaks },
    };
    // Records that are named by another field cannot be compared.
    const isComparable = track && (track.keyField === line.keyField || track.state.size === 0);
    const difference = isComparable && differenceOf(stripped(track.state, moving), state);
    const { keyField, idField } = line;
    return [
      next,
      { from, to, keyField, idField, state, clock, difference: difference || undefined },
    ];
  }
  if (track === undefined) return undefined;
  const known = line.kind === 'change' ? line.was : line.digest;
  if (known !== track.digest) return undefined;
  const next = { ...track, digest, from, to, moving, omits, streaks, ...kept };
  const { keyField, idField } = track;
  const naming = { keyField, idField };
  if (line.kind === 'same') return [next, { from, to, ...naming, clock, state: track.state }];
  const before = stripped(track.state, moving);
  const state = new Map(before);
  for (const key of line.gone ?? []) state.delete(key);
  for (const change of line.changed ?? []) {
    const old = state.get(change.key);
    if (old !== undefined) state.set(change.key, changedRecord(old, change));
  }
  for (const record of line.added ?? []) state.set(record.key, record);
  return [
    { ...next, state },
    { from, to, ...naming, state, clock, difference: differenceOf(before, state), left: line.left },
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
  return old !== undefined && now !== undefined;
}

/** The lives in a history file, oldest first, and how many lines are damaged or build on a damaged one. Pure. */
export function replay(text: string): {
  readonly lives: readonly Life[];
  readonly damaged: number;
} {
  const lives: OpenLife[] = [];
  let damaged = 0;
  for (const row of text.split('\n')) {
    if (row === '' || addUnchanged(lives.at(-1), row)) continue;
    const line = parseLine(row);
    if (line === undefined) {
      damaged += 1;
      continue;
    }
    if (line.kind === 'life') {
      const id = new Date(line.at).toISOString();
      const maps = { resources: new Map(), tooLarge: new Map(), tracks: new Map() };
      lives.push({ id, name: lifeName(line), begin: line.at, identity: line, ...maps });
      continue;
    }
    const life = lives.at(-1);
    if (life?.name !== line.life) {
      damaged += 1;
      continue;
    }
    if (line.kind === 'large') {
      const { from, to, records } = line;
      life.tooLarge.set(line.resource, { from, to, records });
      continue;
    }
    const [track, readings = []] = life.tracks.get(line.resource) ?? [];
    const applied = applyLine(track, line);
    if (applied === undefined) {
      damaged += 1;
      continue;
    }
    // A whole state may follow the line of the same reading.
    const [, reading] = applied;
    const isAgain = reading?.to === readings.at(-1)?.to && reading?.difference === undefined;
    if (reading !== undefined && !isAgain) readings.push(reading);
    life.tracks.set(line.resource, [applied[0], readings]);
  }
  return {
    damaged,
    lives: lives.map(({ id, begin, identity, tooLarge, tracks }) => ({
      ...{ id, begin, identity, tooLarge },
      resources: new Map(
        [...tracks].map(([resource, [track, readings]]) => [resource, lifeOf(track, readings)]),
      ),
    })),
  };
}

type OpenLife = Life & {
  readonly name: string;
  readonly tracks: Map<string, [Track, KnownReading[]]>;
  readonly tooLarge: Map<string, TooLarge>;
};

const UNCHANGED =
  /^\{"kind":"same","resource":"([^"\\]*)","life":"([\w-]*)","from":(\d+),"to":(\d+),"digest":"([\w-]*)"(?:,"clock":\[(-?\d+),(-?\d+)\])?[,}]/;

/** Adds a reading that shows what the last one showed, as most do, without parsing it. */
function addUnchanged(life: OpenLife | undefined, row: string): boolean {
  if (!row.startsWith('{"kind":"same"') || !isWhole(row)) return false;
  if (row.includes('"values"') || row.includes('"streaks"')) return false;
  const [, resource = '', name, from, to, digest, least, most] = UNCHANGED.exec(row) ?? [];
  const [track, readings] = life?.tracks.get(resource) ?? [];
  if (track === undefined || readings === undefined) return false;
  if (life?.name !== name || track.digest !== digest) return false;
  const { keyField, idField, state } = track;
  const clock = least === undefined ? undefined : ([Number(least), Number(most)] as const);
  const reading = { from: Number(from), to: Number(to), keyField, idField, state, clock };
  track.from = reading.from;
  track.to = reading.to;
  if (reading.to !== readings.at(-1)?.to) readings.push(reading);
  return true;
}

function lifeOf(track: Track, readings: readonly KnownReading[]): ResourceLife {
  const { moving, omits, values, valuesAt } = track;
  return { readings, moving: moving?.fields ?? [], omits, values, valuesAt };
}

/** Where the last life in a file stands for a resource; undefined if it is not `life`, or has not read it. */
export function lastTrack(
  text: string,
  life: string,
  resource: string,
): { readonly isLife: boolean; readonly track: Track | undefined } {
  const begin = Math.max(0, text.lastIndexOf('\n{"kind":"life"') + 1);
  const newline = text.indexOf('\n', begin);
  const head = newline < 0 ? undefined : parseLine(text.slice(begin, newline));
  if (head?.kind !== 'life' || lifeName(head) !== life) return { isLife: false, track: undefined };
  const lastAll = text.lastIndexOf(`\n{"kind":"all","resource":${JSON.stringify(resource)},`);
  let track: Track | undefined;
  if (lastAll < begin) return { isLife: true, track };
  for (const row of text.slice(lastAll + 1).split('\n')) {
    const line = row === '' ? undefined : parseLine(row);
    if (line === undefined || line.kind === 'life' || line.kind === 'large') continue;
    if (line.resource !== resource || line.life !== life) continue;
    track = applyLine(track, line)?.[0] ?? track;
  }
  return { isLife: true, track };
}
