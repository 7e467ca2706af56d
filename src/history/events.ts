import { frequencies, type Value, valueAt } from '../device/record.ts';
import { mayLeaveOut } from '../fleet/device-session.ts';
import { canonicalId } from '../change/identity.ts';
import { type KeptRecord, nameOf, type RecordName } from './kept.ts';
import {
  changesOf,
  type Difference,
  type DeviceIdentity,
  type KnownReading,
  type IdentityPeriod,
  type Readings,
} from './replay.ts';

/** One field before and after a change. A value is absent if the record had no such field. */
export interface FieldChange {
  readonly field: string;
  readonly before?: Value | undefined;
  readonly after?: Value | undefined;
  /** Whether the field has a secret: the values are masked, and only their digests differ. */
  readonly isSecret: boolean;
}

/** The author of a change, from the journals. */
export type Author =
  | { readonly kind: 'run'; readonly run: string; readonly line: string }
  /** A run wrote to the device then, or to such a record of any device. Nothing proves that it made the change. */
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
  /** The clock was set back between these readings, so that the change may be from any time. */
  readonly isSetBack?: boolean;
  /** The latest end of all readings up to then. Later than `before` if the clock was set back earlier. */
  readonly latest?: number | undefined;
  readonly resource?: string | undefined;
  /** Undefined for an event that no request makes (a new period, another shape), and before journals are read. */
  readonly author?: Author | undefined;
}

/** The interval in which an event happened, in ms UTC. */
export function spanOf({ after = -Infinity, before, isSetBack }: Event): readonly [number, number] {
  return isSetBack === true ? [-Infinity, Infinity] : [after, before];
}

/** The earliest time at which an event may have happened, in ms UTC; for a first reading, its end. */
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

/** Sorts events, the oldest first. The events of one resource must be in order, and stay so. */
export function inOrder(events: readonly Event[]): Event[] {
  const order = orderOf(events);
  return events.toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
}

type Interval = Pick<Event, 'after' | 'before' | 'isSetBack' | 'latest'>;

/** The interval of a change that two readings of a resource enclose. */
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
  /** The record after the change; if it is gone, as it was last. */
  readonly record: KeptRecord;
}

export type RecordEvent = Extract<Event, RecordName>;

/**
 * `unlisted`: the list no longer shows the record, but nothing proves that it is gone. `listed`: the list shows it now,
 * but may have left it out before.
 */
type WholeKind = 'added' | 'listed' | 'gone' | 'unlisted';

/** A change on a device between two readings. */
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
  /** Fields that differed at every reading. They are no longer compared. */
  | (EventBase & {
      readonly kind: 'left';
      readonly resource: string;
      readonly fields: readonly string[];
    })
  /** The certificate, address or naming of records has changed, so that it may be another device. */
  | (EventBase & { readonly kind: 'identity'; readonly reason: IdentityReason });

export type IdentityReason = 'pin' | 'address' | 'digest key' | 'key field';

/** The changes of a device since then, the oldest first. Its very first reading is no change. Pure. */
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
 * The changes of one record. If the first reading of a period shows the record, an `added` without `after` says so.
 * Pure.
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
    // A record with the same id is the same one, also under another name.
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

function eventsOfResource(base: KnownResource['base'], readings: Readings, since: number): Event[] {
  // A field that was found to move by itself did so before, too.
  const left = new Set(readings.flatMap((reading) => reading.left ?? []));
  const events: Event[] = [];
  for (const [index, reading] of readings.entries()) {
    const { difference, left: fields, state, absent, keyField } = reading;
    const earlier = readings[index - 1];
    // Most readings show the same as the one before.
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

interface KnownResource {
  readonly base: { readonly device: string; readonly period: string; readonly resource: string };
  readonly readings: readonly KnownReading[];
  /** Fields that are not compared. */
  readonly left: ReadonlySet<string>;
}

/**
 * The changes between two readings, in the light of all readings. A record that the list no longer shows is `gone` once
 * that is proven. If a list shows it again before, it was never gone, but may have changed. Pure.
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

function reasonOf(one: DeviceIdentity, other: DeviceIdentity): IdentityReason {
  if (one.pin !== other.pin) return 'pin';
  if (one.address !== other.address) return 'address';
  return 'digest key';
}
