import type { ClockOffset } from '../device/client.ts';
import type { ListEnd } from '../fleet/device-session.ts';
import type { DeviceRecord } from '../device/record.ts';
import {
  idFieldFor,
  type Keeper,
  type KeptRecord,
  type KeptState,
  movingFields,
  keptWithout,
} from './kept.ts';
import {
  differenceByKey,
  type HistoryLine,
  type DeviceIdentity,
  isSameDevice,
  periodName,
  type LineOfReading,
  lineText,
  type Moment,
  type Moving,
  parseLine,
  replay,
  type KnownReading,
} from './replay.ts';

/** A complete reading of a resource, to be kept. */
export interface NewReading extends Moment {
  readonly identity: DeviceIdentity;
  readonly resource: string;
  readonly keyField: string;
  /** Fields that may have a unique id, the best first. */
  readonly idFields: readonly string[];
  readonly records: readonly DeviceRecord[];
  /** Fields that move by themselves, according to the profile. */
  readonly moving: readonly string[];
  /** The fields that the list is known to leave out, if it is a summary. */
  readonly omits?: readonly string[] | undefined;
  readonly list?: ListEnd;
  readonly clock?: ClockOffset | undefined;
  /** The keys of records that were proven absent right after this reading. */
  readonly absent?: Set<string>;
}

/** The comparison of more records takes seconds and hundreds of megabytes for each reading. */
export const MAX_RECORDS = 20_000;
/** The time after which the values of moving fields are kept again. */
const VALUES_EVERY_MS = 3_600_000;
/** A field that differs in all records in this many readings in a row is left out. A single record needs more. */
const STREAK = 3;
const STREAK_OF_ONE = 5;
/** The least number of bytes of changes between two whole states. */
const MIN_BYTES_BETWEEN = 16_384;

export type LastLine = Exclude<HistoryLine, { readonly kind: 'life' }> | undefined;

/** Whether a reading has too many records to be kept. */
export function isTooLarge({ records }: Pick<NewReading, 'records'>): boolean {
  return records.length > MAX_RECORDS;
}

/**
 * The line to append for a reading that shows the same as the last line of its resource; undefined if it may show
 * something else.
 */
export function sameLine(
  last: LastLine,
  reading: NewReading,
  keeper: Keeper,
): LineOfReading | undefined {
  const { resource, identity, records, from, to, clock } = reading;
  if (last === undefined || last.kind === 'large' || isTooLarge(reading)) return undefined;
  if (last.life !== periodName(identity) || from < last.to) return undefined;
  const { moving } = last;
  const names = moving?.fields ?? [];
  if (keeper.digestOf(records, new Set(names)) !== last.digest) return undefined;
  if (moving !== undefined && to - moving.keptAt > VALUES_EVERY_MS) {
    if (keeper.movingDigest(records, names) !== moving.digest) return undefined;
  }
  if (reading.omits?.every((field) => last.omits?.includes(field)) === false) return undefined;
  if (reading.omits !== undefined && last.omits === undefined) return undefined;
  const { life, digest, omits, list } = last;
  if (reading.list !== list) return undefined;
  const common = { resource, life, from, to, digest, clock, list, omits, ...absentIn(reading) };
  return { kind: 'same', ...common, ...(moving && { moving }) };
}

/** The last line of a resource in the end of a file; undefined if there is none, or another identity follows it. */
export function lastLine(tail: string, resource: string): LastLine {
  if (!tail.endsWith('\n')) return undefined;
  // The first row may have lost its beginning.
  for (const row of tail.split('\n').slice(1, -1).reverse()) {
    const line = parseLine(row);
    if (line === undefined || line.kind === 'life') return undefined;
    if (line.resource === resource) return line;
  }
  return undefined;
}

/** A reading that ends further in the future is from before the clock was set back. */
const AHEAD_MS = 1_000;

/**
 * Milliseconds that the clock was set back since the last kept reading (a lower bound); 0 if it was not.
 * If it was not, a reading that began before the last one ended was made by another process at the same time.
 */
export function setBackMs(lastTo: number, { from, to }: Moment, now: number): number {
  return from < lastTo && to <= now + AHEAD_MS ? Math.max(0, lastTo - now) : 0;
}

/** Whether the order of a reading and the last one is unknown. */
function isUnordered(lastTo: number, reading: Moment, now: number): boolean {
  if (reading.from < lastTo) return setBackMs(lastTo, reading, now) === 0;
  return reading.to > now + AHEAD_MS && lastTo <= now;
}

export interface NextLines {
  readonly text: string;
  /** Milliseconds that the clock was set back since the last reading (a lower bound). */
  readonly setBackMs: number;
}

/**
 * The lines to append for any reading; undefined if devsh cannot know whether it was made after the last one. If the
 * clock was set back, the order of the lines is not that of their times. Pure.
 *
 * @param text the file from its last whole state on
 * @param now ms UTC, to notice that the clock was set back
 */
export function nextLines(
  text: string,
  reading: NewReading,
  keeper: Keeper,
  now: number,
  bytesBetween = MIN_BYTES_BETWEEN,
): NextLines | undefined {
  const { resource, identity, to } = reading;
  const life = periodName(identity);
  const { end, damaged } = replay(text);
  const isSame = end !== undefined && isSameDevice(end.identities[0], identity);
  const track = isSame ? end.resources.get(resource)?.at(-1) : undefined;
  if (track !== undefined && isUnordered(track.to, reading, now)) return undefined;
  const begin = end?.life === life ? '' : lineText({ kind: 'life', at: to, ...identity });
  const added = begin + lineText(nextLine(reading, keeper, life, track));
  // Readers need nothing before the last whole state.
  const isDue = damaged > 0 || isLong(text, bytesBetween);
  return {
    text: isDue ? added + wholeState(replay(text + added)) : added,
    setBackMs: track === undefined ? 0 : setBackMs(track.to, reading, now),
  };
}

function nextLine(
  reading: NewReading,
  keeper: Keeper,
  life: string,
  track: KnownReading | undefined,
): HistoryLine {
  const { resource, records, from, to, keyField, idFields } = reading;
  if (isTooLarge(reading)) {
    return { kind: 'large', resource, life, from, to, records: records.length };
  }
  const isRenamed = records.length > 0 && track?.keyField !== keyField;
  const isShared =
    track?.idField === undefined && idFieldFor(records, keyField, idFields) !== undefined;
  return track === undefined || isRenamed || isShared
    ? wholeLine(reading, keeper, life, track)
    : lineSince(track, reading, keeper, life);
}

function wholeLine(
  reading: NewReading,
  keeper: Keeper,
  life: string,
  track: KnownReading | undefined,
): LineOfReading {
  const { resource, records, keyField, idFields, from, to, clock } = reading;
  const last = track?.keyField === keyField ? track : undefined;
  const naming = { keyField, idField: last?.idField ?? idFieldFor(records, keyField, idFields) };
  const names = movingNames(reading, track?.moving, naming.idField);
  const moving = new Set(names);
  const digest = keeper.digestOf(records, moving);
  const state = keeper.state({ resource, records, ...naming }, moving, last?.state);
  return {
    ...{ kind: 'all', resource, life, from, to, digest, clock, ...naming },
    ...{ list: reading.list, omits: omittedIn(reading, last) },
    ...absentIn(reading),
    records: [...state.values()],
    ...(names.length > 0 && freshValues(reading, keeper, names, state)),
  };
}

function omittedIn(
  { omits }: NewReading,
  track: Pick<KnownReading, 'omits'> | undefined,
): readonly string[] | undefined {
  return omits === undefined ? track?.omits : [...new Set([...(track?.omits ?? []), ...omits])];
}

function movingNames(
  reading: NewReading,
  known: Moving | undefined,
  idField: string | undefined,
): string[] {
  const { records, moving, keyField } = reading;
  const found = [...(known?.fields ?? []), ...moving, ...movingFields(records)];
  const names = new Set(found.filter((field) => field !== keyField && field !== idField));
  return [...names].filter(
    (field) =>
      records.some((record) => Object.hasOwn(record, field)) || known?.fields.includes(field),
  );
}

function freshValues(
  { records, to }: NewReading,
  keeper: Keeper,
  names: readonly string[],
  state: KeptState,
) {
  const moving: Moving = { fields: names, digest: keeper.movingDigest(records, names), keptAt: to };
  return { moving, values: keeper.movingValues(records, [...state.keys()], names) };
}

function absentIn({ absent }: NewReading): { readonly absent?: readonly string[] } {
  return absent === undefined || absent.size === 0 ? {} : { absent: [...absent] };
}

function lineSince(
  track: KnownReading,
  reading: NewReading,
  keeper: Keeper,
  life: string,
): LineOfReading {
  const { resource, records, from, to, clock } = reading;
  const { keyField, idField } = track;
  let names = movingNames(reading, track.moving, idField);
  const naming = { resource, records, keyField, idField };
  const state = keeper.state(naming, new Set(names), track.state);
  const isIn = (name: string): boolean => names.includes(name);
  const found = differenceByKey(
    track.state,
    state,
    (field, one, other) => isIn(field) || keeper.isSame(resource, field, one, other),
  );
  const streaks = streaksOf(track, found?.changed ?? [], state);
  const needed = state.size > 1 ? STREAK : STREAK_OF_ONE;
  const left = Object.keys(streaks).filter((field) => (streaks[field] ?? 0) >= needed);
  names = [...names, ...left];
  const digest = keeper.digestOf(records, new Set(names));
  const old = track.moving;
  const isFresh = old !== undefined && left.length === 0 && old.fields.length === names.length;
  const isDue =
    !isFresh ||
    (to - old.keptAt > VALUES_EVERY_MS && keeper.movingDigest(records, names) !== old.digest);
  const values =
    names.length === 0 ? {} : isDue ? freshValues(reading, keeper, names, state) : { moving: old };
  const [list, omits] = [reading.list, omittedIn(reading, track)];
  const common = { resource, life, from, to, digest, clock, list, omits, ...absentIn(reading) };
  const open = Object.entries(streaks).filter(([field]) => !left.includes(field));
  const changed = (found?.changed ?? []).flatMap(({ before, after, fields }) => {
    const kept = fields.filter((field) => !left.includes(field));
    return kept.length === 0 ? [] : [keptChange(before, after, kept)];
  });
  return {
    ...{ kind: 'change', was: track.digest, ...common, ...values },
    ...(open.length > 0 && { streaks: Object.fromEntries(open) }),
    ...(left.length > 0 && { left }),
    ...(found &&
      found.added.length > 0 && { added: found.added.map((one) => keptWithout(one, left)) }),
    ...(changed.length > 0 && { changed }),
    ...(found && found.gone.length > 0 && { gone: found.gone.map(({ key }) => key) }),
  };
}

function keptChange(before: KeptRecord, after: KeptRecord, fields: readonly string[]) {
  const now = fields.filter((field) => Object.hasOwn(after.fields, field));
  const lost = fields.filter(
    (field) => !now.includes(field) && Object.hasOwn(before.fields, field),
  );
  const digests = now.filter((field) => Object.hasOwn(after.digests ?? {}, field));
  const pick = <T>(from: Readonly<Record<string, T>>, names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, from[name] as T]));
  return {
    ...{ key: after.key, fields: pick(after.fields, now) },
    ...(digests.length > 0 && { digests: pick(after.digests ?? {}, digests) }),
    ...(lost.length > 0 && { lost }),
  };
}

/** By field that differs in every record of both readings: the number of readings in a row in which it did. */
function streaksOf(
  track: KnownReading,
  changed: readonly { readonly after: KeptRecord; readonly fields: readonly string[] }[],
  state: ReadonlyMap<string, KeptRecord>,
): Record<string, number> {
  const common = [...state.values()].filter(({ key }) => track.state.has(key));
  const fields = new Set(changed.flatMap((one) => one.fields));
  const byKey = new Map(changed.map((one) => [one.after.key, one.fields]));
  const streaks = [...fields].flatMap((field): [string, number][] => {
    const having = common.filter((record) => Object.hasOwn(record.fields, field));
    const isEvery = having.length > 0 && having.every(({ key }) => byKey.get(key)?.includes(field));
    return isEvery ? [[field, (track.streaks[field] ?? 0) + 1]] : [];
  });
  return Object.fromEntries(streaks);
}

/** Whether the lines behind the last whole state are longer than it is, so that a new one is due. */
function isLong(text: string, bytesBetween: number): boolean {
  const sizes = new Map(
    Array.from(text.matchAll(/^\{"kind":"all","resource":("[^"\\]*").*$/gm), ([line, resource]) => [
      resource,
      line.length,
    ]),
  );
  const whole = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  return text.length > 2 * whole + bytesBetween;
}

/** Lines with the last state of all resources, so that no line before them is needed. */
export function wholeState({ end, upTo }: Pick<ReturnType<typeof replay>, 'end' | 'upTo'>): string {
  if (end === undefined) return '';
  const { begin, life, resources, tooLarge } = end;
  const lines = [
    ...[...resources].map(([resource, readings]) =>
      stateLine(readings.at(-1) ?? readings[0], resource, life),
    ),
    ...[...tooLarge].map(([resource, last]) => ({
      kind: 'large' as const,
      resource,
      life,
      ...last,
    })),
  ].sort((a, b) => a.to - b.to);
  const head = { kind: 'life' as const, at: begin, upTo, ...end.identities[0] };
  return [head, ...lines].map(lineText).join('');
}

function stateLine(track: KnownReading, resource: string, life: string): LineOfReading {
  const { from, to, digest, keyField, idField, state, moving, list, omits, values, absent } = track;
  const { clock, hidden, streaks } = track;
  return {
    ...{ kind: 'all', resource, life, from, to, digest, clock, keyField, idField, list, omits },
    records: [...state.values()],
    ...(absent.size > 0 && { absent: [...absent] }),
    ...(hidden.size > 0 && { hidden: [...hidden.values()] }),
    ...(Object.keys(streaks).length > 0 && { streaks }),
    ...(moving && { moving }),
    ...(values.size > 0 && { values: [...values] }),
  };
}
