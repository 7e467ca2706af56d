import { frequencies, type Value, valueAt } from '../device/record.ts';
import { mayLeaveOut } from '../fleet/device-session.ts';
import { canonicalId } from '../change/identity.ts';
import { type KeptRecord, nameOf, type RecordName } from './kept.ts';
import {
  changesOf,
  type Difference,
  type Identity,
  type KnownReading,
  type IdentityPeriod,
  type Readings,
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
  /** The latest time that a reading had shown by then: later than `before` if the clock was set back before. */
  readonly latest?: number | undefined;
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

type Interval = Pick<Event, 'after' | 'before' | 'isSetBack' | 'latest'>;

/** The times of two readings of a resource, as those of what changed between them. */
export function intervalOf(
  readings: readonly KnownReading[],
  earlier: KnownReading,
  later: KnownReading,
): Interval {
  const until = readings.slice(0, readings.lastIndexOf(later) + 1);
  const between = until.slice(readings.indexOf(earlier));
  const isBack = between.some(({ to }, at) => to < (between[at - 1]?.from ?? -Infinity));
  const latest = until.reduce((max, { to }) => Math.max(max, to), -Infinity);
  return { after: earlier.from, before: later.to, latest, ...(isBack && { isSetBack: true }) };
}

interface OfRecord extends RecordName {
  readonly resource: string;
  /** As it was last, before it went, or since it has changed. */
  readonly record: KeptRecord;
}

/** A change of one record. */
export type RecordEvent = Extract<Event, RecordName>;

/**
 * `unlisted`: the list has stopped to show it, and nothing proves that it is gone. `listed`: the list has begun to show it,
 * and may have left it out before.
 */
type WholeKind = 'added' | 'listed' | 'gone' | 'unlisted';

/** What changed on a device between two readings. */
export type Event =
  | (EventBase & { readonly kind: WholeKind } & OfRecord)
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
    const readings = period.resources.get(resource) ?? [];
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
  readings: Readings,
  since: number,
): Event[] {
  // What was found to move by itself only later did so before, too.
  const left = new Set(readings.flatMap((reading) => reading.left ?? []));
  const events: Event[] = [];
  for (const [index, reading] of readings.entries()) {
    const { difference, left: fields, state, absent, keyField } = reading;
    const earlier = readings[index - 1];
    // Most readings show what the one before did.
    const isQuiet = earlier?.state === state && earlier.absent === absent && fields === undefined;
    if (isQuiet || reading.to < since) continue;
    const interval = earlier && intervalOf(readings, earlier, reading);
    const at = { ...base, after: undefined, before: reading.to, ...interval };
    if (earlier && (earlier.state.size === 0 || earlier.keyField === keyField)) {
      events.push(...changesBetween({ base, readings, left }, [earlier, reading], difference));
    } else if (earlier) {
      events.push({ ...at, kind: 'identity', reason: 'key field' });
    }
    if (fields && fields.length > 0) events.push({ ...at, kind: 'left', fields });
  }
  return events;
}

/** What is known of a resource of a device. */
interface KnownResource {
  readonly base: { readonly device: string; readonly period: string; readonly resource: string };
  readonly readings: readonly KnownReading[];
  /** Fields that are not compared. */
  readonly left: ReadonlySet<string>;
}

/**
 * What differs between two readings, as all of them explain it: what a list stopped to show is gone once that is proven,
 * and was never gone if a list shows it again before; it may have changed. Pure.
 */
export function changesBetween(
  { base, readings, left }: KnownResource,
  [earlier, later]: readonly [KnownReading, KnownReading],
  difference: Difference = { added: [], gone: [], changed: [] },
): Event[] {
  const at = { ...base, ...intervalOf(readings, earlier, later) };
  const since = readings.slice(readings.indexOf(later));
  const sinceShown = ({ key }: KeptRecord): Interval => {
    const shown = readings.slice(0, -since.length).findLast(({ state }) => state.has(key));
    return shown ? intervalOf(readings, shown, later) : { after: undefined, before: later.to };
  };
  const { added, changed, gone } = difference;
  const most = readings.reduce((size, { state }) => Math.max(size, state.size), 0);
  const isCut = mayLeaveOut(earlier.list, earlier.state.size, most);
  const all = [
    ...changed.map((one) => ({ ...one, at })),
    ...added.flatMap((now) =>
      changesOf(earlier.hidden.get(now.key) ?? now, now).map((one) => {
        return { ...one, at: { ...base, ...sinceShown(now) } };
      }),
    ),
  ].map(({ before, after, fields, at }) => ({
    at,
    record: after,
    fields: fields
      .filter((field) => !left.has(field))
      .map((field) => fieldChange(field, before, after)),
  }));
  const { gained, lost, isShape } = shapeIn(
    all.map(({ fields }) => fields),
    later.state.size,
  );
  const records = all.filter(({ fields }) => fields.some(isShape)).length;
  const changes = all.flatMap(({ at, record, fields }): Event[] => {
    const own = fields.filter((change) => !isShape(change));
    const name = nameOf(record, later);
    return own.length === 0 ? [] : [{ ...at, kind: 'changed', ...name, record, fields: own }];
  });
  const whole = (kind: WholeKind, of: readonly KeptRecord[]): Event[] =>
    of.map((record) => {
      const interval = kind === 'gone' ? sinceShown(record) : {};
      return { ...at, ...interval, kind, ...nameOf(record, later), record };
    });
  const isOpen = ({ key }: KeptRecord): boolean =>
    !since.some(({ state, absent }) => state.has(key) || absent.has(key));
  const fresh = added.filter(({ key }) => !earlier.hidden.has(key));
  const proven = [...earlier.hidden.values(), ...gone].filter(({ key }) => later.absent.has(key));
  return [
    ...(records === 0 ? [] : [{ ...at, kind: 'shape' as const, gained, lost, records }]),
    ...whole(isCut ? 'listed' : 'added', fresh),
    ...changes,
    ...whole('gone', proven),
    ...whole('unlisted', gone.filter(isOpen)),
  ];
}

/** The fields that most of these records got or lost at once. */
function shapeIn(fieldsOf: readonly (readonly FieldChange[])[], size: number) {
  const inMost = (is: (change: FieldChange) => boolean): string[] =>
    frequencies(
      fieldsOf
        .flat()
        .filter(is)
        .map(({ field }) => field),
    ).flatMap(([field, count]) => (count > 1 && count * 2 > size ? [field] : []));
  const gained = inMost(({ before }) => before === undefined);
  const lost = inMost(({ after }) => after === undefined);
  const isShape = ({ field, before, after }: FieldChange): boolean =>
    (before === undefined && gained.includes(field)) ||
    (after === undefined && lost.includes(field));
  return { gained, lost, isShape };
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
  const ends = [...resources.values()].map((readings) => readings.at(-1)?.to ?? begin);
  return Math.max(begin, ...ends);
}

function reasonOf(one: Identity, other: Identity): IdentityReason {
  if (one.pin !== other.pin) return 'pin';
  if (one.address !== other.address) return 'address';
  return 'digest key';
}
