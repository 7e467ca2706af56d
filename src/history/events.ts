import { frequencies, type Value, valueAt } from '../device/record.ts';
import { mayLeaveOut } from '../fleet/absence.ts';
import { canonicalId } from '../change/identity.ts';
import { type KeptRecord, nameOf, type RecordName } from './kept.ts';
import {
  changesOf,
  type Difference,
  type Identity,
  type KnownReading,
  type IdentityPeriod,
  type ResourcePeriod,
} from './replay.ts';

/** One field before and after. Absent: the record had no such field. */
export interface FieldChange {
  readonly field: string;
  readonly before?: Value | undefined;
  readonly after?: Value | undefined;
  /** It has a secret: the values are masked, and only their digests differ. */
  readonly isSecret: boolean;
}

/** What the journals say about who did a change. */
export type Author =
  | { readonly kind: 'run'; readonly run: string; readonly line: string }
  /** A run was at work there then, or on such a record of any device; nothing proves that it did this. */
  | { readonly kind: 'perhaps'; readonly run: string }
  | { readonly kind: 'other' }
  /** The journals of these runs cannot be read. */
  | { readonly kind: 'unknown'; readonly runs: readonly string[] };

interface EventBase {
  readonly device: string;
  /** When the period began, in ISO 8601. */
  readonly period: string;
  /** The change happened after this time (ms UTC): the begin of the last reading that does not show it. */
  readonly after: number | undefined;
  /** And before this time: the end of the first reading that shows it. */
  readonly before: number;
  /** The clock was set back between these readings: it may have happened at any time by either clock. */
  readonly isSetBack?: boolean;
  readonly resource?: string | undefined;
  /** Undefined for what nobody writes (a new period, another shape), and before the journals are asked. */
  readonly author?: Author | undefined;
}

/** When it may have happened, in ms UTC. */
export function spanOf({ after = -Infinity, before, isSetBack }: Event): readonly [number, number] {
  return isSetBack === true ? [-Infinity, Infinity] : [after, before];
}

/** When it may have happened at the earliest, in ms UTC; of a first reading, when it ended. */
export function beginOf({ after, before }: Event): number {
  return Math.min(after ?? before, before);
}

/**
 * A time for each event that never goes back from one event of a device and resource to the next, even if the clock
 * did. The events of a resource are in order.
 */
export function orderOf(events: readonly Event[]): ReadonlyMap<Event, number> {
  const latest = new Map<string, number>();
  return new Map(
    events.map((event) => {
      const id = JSON.stringify([event.device, event.resource]);
      const time = Math.max(event.before, latest.get(id) ?? -Infinity);
      latest.set(id, time);
      return [event, time];
    }),
  );
}

/** Oldest first. The events of a resource are in order, and stay so. */
export function inOrder(events: readonly Event[]): Event[] {
  const order = orderOf(events);
  return events.toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
}

type Interval = Pick<Event, 'after' | 'before' | 'isSetBack'>;

/** The times of two readings of a resource, as those of what changed between them. */
export function intervalOf(
  readings: readonly KnownReading[],
  earlier: KnownReading,
  later: KnownReading,
): Interval {
  const between = readings.slice(readings.indexOf(earlier), readings.lastIndexOf(later) + 1);
  const isBack = between.some(({ to }, at) => to < (between[at - 1]?.from ?? -Infinity));
  return { after: earlier.from, before: later.to, ...(isBack && { isSetBack: true }) };
}

interface OfRecord extends RecordName {
  readonly resource: string;
  /** As it was last, before it went, or since it has changed. */
  readonly record: KeptRecord;
}

/** A change of one record. */
export type RecordEvent = Extract<Event, RecordName>;

/** What changed on a device between two readings. */
export type Event =
  | (EventBase & {
      /**
       * `unlisted`: the list has stopped to show it, and nothing proves that it is gone. `listed`: the list has begun to
       * show it, and may have left it out before.
       */
      readonly kind: 'added' | 'listed' | 'gone' | 'unlisted';
    } & OfRecord)
  | (EventBase & {
      readonly kind: 'changed';
      readonly fields: readonly FieldChange[];
    } & OfRecord)
  /** Most records got or lost these fields at once, as with a new firmware. */
  | (EventBase & {
      readonly kind: 'shape';
      readonly resource: string;
      readonly gained: readonly string[];
      readonly lost: readonly string[];
      readonly records: number;
    })
  /** Fields that differed at every reading, and are left out from now on. */
  | (EventBase & {
      readonly kind: 'left';
      readonly resource: string;
      readonly fields: readonly string[];
    })
  /** Another certificate or address: another device, as far as is known; or records with other names. */
  | (EventBase & { readonly kind: 'identity'; readonly reason: IdentityReason });

export type IdentityReason = 'pin' | 'address' | 'digest key' | 'key field';

/** What the periods of a device show since then, oldest first. The first reading of all is no change. Pure. */
export function eventsOf(
  device: string,
  periods: readonly IdentityPeriod[],
  since = -Infinity,
): Event[] {
  return periods.flatMap((period, index) => {
    const earlier = periods[index - 1];
    const base = { device, period: period.id };
    const begin: Event[] =
      earlier === undefined
        ? []
        : [
            {
              ...{ ...base, kind: 'identity', before: period.begin, after: lastTime(earlier) },
              reason: reasonOf(earlier.identities[0], period.identities[0]),
            },
          ];
    const own = [...period.resources].flatMap(([resource, known]) =>
      eventsOfResource({ ...base, resource }, known, since),
    );
    return [...begin, ...own].filter(({ before }) => before >= since);
  });
}

/**
 * The period of one record: as `eventsOf`, and that it was there at the first reading of each period: an `added`
 * without `after`. Pure.
 */
export function recordEvents(
  device: string,
  periods: readonly IdentityPeriod[],
  resource: string,
  key: string,
): Event[] {
  const all = eventsOf(device, periods);
  const events = periods.flatMap((period) => {
    const readings = period.resources.get(resource)?.readings ?? [];
    const found = readings.flatMap((reading) =>
      recordsNamed(reading, key).map((record) => ({ reading, record, ...nameOf(record, reading) })),
    );
    // Another name later or before is still the same record.
    const ids = new Set(found.flatMap(({ id }) => (id === undefined ? [] : canonicalId(id.text))));
    const first = found.flatMap(({ reading, record, ...name }): Event[] => {
      if (reading !== readings[0]) return [];
      const at = { device, period: period.id, resource, after: undefined, before: reading.to };
      return [{ ...at, kind: 'added', ...name, record }];
    });
    const later = all.filter((event) => {
      if (event.period !== period.id) return false;
      if (!('key' in event))
        return event.kind === 'identity' && (event.resource ?? resource) === resource;
      const isRenamed =
        event.kind === 'changed' &&
        event.fields.some(({ before, after }) => before === key && after === event.key);
      const isNamed =
        event.id === undefined
          ? event.key === key || isRenamed
          : ids.has(canonicalId(event.id.text));
      return event.resource === resource && isNamed;
    });
    return [...first, ...later];
  });
  return inOrder(events);
}

/** The records of a reading that have this natural key or id. */
export function recordsNamed({ state, ...naming }: KnownReading, key: string): KeptRecord[] {
  if (naming.idField === undefined) {
    const record = state.get(key);
    return record === undefined ? [] : [record];
  }
  const id = canonicalId(key);
  return [...state.values()].filter((record) => {
    const name = nameOf(record, naming);
    return name.key === key || (name.id !== undefined && canonicalId(name.id.text) === id);
  });
}

function eventsOfResource(
  base: { readonly device: string; readonly period: string; readonly resource: string },
  { readings }: ResourcePeriod,
  since: number,
): Event[] {
  // What was found to move by itself only later did so before, too.
  const left = new Set(readings.flatMap((reading) => reading.left ?? []));
  const events: Event[] = [];
  for (const [index, reading] of readings.entries()) {
    const { difference, left: fields, state, keyField } = reading;
    const earlier = readings[index - 1];
    // Most readings show what the one before did.
    const isQuiet = earlier?.state === state && difference === undefined && fields === undefined;
    if (isQuiet || reading.to < since) continue;
    const interval = earlier && intervalOf(readings, earlier, reading);
    const at = { ...base, after: undefined, before: reading.to, ...interval };
    if (difference && earlier) {
      const known = asProven(readings, [earlier, reading], difference);
      events.push(...changesBetween(at, known, left, reading));
    }
    if (earlier && earlier.state.size > 0 && earlier.keyField !== keyField) {
      events.push({ ...at, kind: 'identity', reason: 'key field' });
    }
    if (fields && fields.length > 0) events.push({ ...at, kind: 'left', fields });
  }
  return events;
}

/** A difference, as far as all readings prove it. */
interface Proven extends Omit<Difference, 'changed'> {
  /** `interval`: if the list did not show the record for a time, it begins where it was shown last. */
  readonly changed: readonly (Difference['changed'][number] & { readonly interval?: Interval })[];
  /** Not in the list any more, which proves nothing. */
  readonly unlisted: readonly KeptRecord[];
  /** In the list now, which may have left it out before. */
  readonly listed: readonly KeptRecord[];
}

/**
 * The difference of two of these readings, as all of them explain it: what a list did not show, and a later one shows
 * again, was never gone; it may have changed.
 */
export function asProven(
  readings: readonly KnownReading[],
  [earlier, later]: readonly [KnownReading, KnownReading],
  difference: Difference,
): Proven {
  const since = readings.slice(readings.indexOf(later));
  const isProven = ({ key }: KeptRecord): boolean => {
    const end = since.findIndex(({ state }) => state.has(key));
    return since.slice(0, end < 0 ? undefined : end).some(({ absent }) => absent.has(key));
  };
  const [back, fresh] = parted(difference.added, ({ key }) => earlier.hidden.has(key));
  const [gone, missing] = parted(difference.gone, isProven);
  const before = readings.slice(0, readings.indexOf(later));
  const changed = back.flatMap((now) => {
    const shown = before.findLast(({ state }) => state.has(now.key));
    const interval = shown
      ? intervalOf(readings, shown, later)
      : { after: undefined, before: later.to };
    return changesOf(earlier.hidden.get(now.key) ?? now, now).map((one) => ({ ...one, interval }));
  });
  const most = readings.reduce((size, { state }) => Math.max(size, state.size), 0);
  const isCut = mayLeaveOut(earlier.list, earlier.state.size, most);
  return {
    ...{ added: isCut ? [] : fresh, listed: isCut ? fresh : [], gone },
    unlisted: missing.filter(({ key }) => !since.some(({ state }) => state.has(key))),
    changed: [...difference.changed, ...changed],
  };
}

function parted<T>(all: readonly T[], is: (one: T) => boolean): [T[], T[]] {
  return [all.filter(is), all.filter((one) => !is(one))];
}

/** What differs between two states of a device, without the fields in `left`. Pure. */
export function changesBetween(
  at: Omit<EventBase, 'author' | 'resource'> & { readonly resource: string },
  { added, listed, gone, unlisted, changed }: Proven,
  left: ReadonlySet<string>,
  reading: KnownReading,
): Event[] {
  const { size } = reading.state;
  const fieldsOf = changed.map(({ before, after, fields }) =>
    fields.filter((field) => !left.has(field)).map((field) => fieldChange(field, before, after)),
  );
  const inMost = (changes: readonly FieldChange[]): string[] =>
    frequencies(changes.map(({ field }) => field)).flatMap(([field, count]) =>
      count > 1 && count * 2 > size ? [field] : [],
    );
  const gained = inMost(fieldsOf.flat().filter(({ before }) => before === undefined));
  const lost = inMost(fieldsOf.flat().filter(({ after }) => after === undefined));
  const isShape = ({ field, before, after }: FieldChange): boolean =>
    (before === undefined && gained.includes(field)) ||
    (after === undefined && lost.includes(field));
  const records = fieldsOf.filter((fields) => fields.some(isShape)).length;
  const shape: Event[] = records === 0 ? [] : [{ ...at, kind: 'shape', gained, lost, records }];
  const changedEvents = changed.flatMap(({ after, interval }, index): Event[] => {
    const fields = (fieldsOf[index] ?? []).filter((change) => !isShape(change));
    return fields.length === 0
      ? []
      : [{ ...at, ...interval, kind: 'changed', ...nameOf(after, reading), record: after, fields }];
  });
  const whole = (
    kind: 'added' | 'listed' | 'gone' | 'unlisted',
    records: readonly KeptRecord[],
  ): Event[] => records.map((record) => ({ ...at, kind, ...nameOf(record, reading), record }));
  return [
    ...shape,
    ...whole('added', added),
    ...whole('listed', listed),
    ...changedEvents,
    ...whole('gone', gone),
    ...whole('unlisted', unlisted),
  ];
}

function fieldChange(field: string, before: KeptRecord, after: KeptRecord): FieldChange {
  const isSecret = [before, after].some(({ digests }) => valueAt(digests, field) !== undefined);
  return {
    ...{ field, isSecret },
    before: valueAt(before.fields, field),
    after: valueAt(after.fields, field),
  };
}

function lastTime({ begin, resources }: IdentityPeriod): number {
  const ends = [...resources.values()].map(({ readings }) => readings.at(-1)?.to ?? begin);
  return Math.max(begin, ...ends);
}

function reasonOf(one: Identity, other: Identity): IdentityReason {
  if (one.pin !== other.pin) return 'pin';
  if (one.address !== other.address) return 'address';
  return 'digest key';
}
