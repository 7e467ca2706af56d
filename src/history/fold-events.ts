import { compareTexts } from '../fleet/sort.ts';
import { type DeviceRecord, exactText, jsonText } from '../device/record.ts';
import { type Event, type FieldChange, orderOf, type RecordEvent } from './events.ts';
import { clockTime } from '../text/time.ts';
import { counted } from '../text/one-line.ts';
import { textOf } from '../output/sentences.ts';

const MINUTE_MS = 60_000;

/** The same change on one or several devices. */
export interface FoldedEvent {
  /** One event for each device, in the order of time. They differ only in device, interval and step. */
  readonly events: readonly [Event, ...Event[]];
  readonly devices: readonly string[];
  /** All events are after this time (ms UTC). Undefined if this is not known for one of them. */
  readonly after: number | undefined;
  /** All events are before this time (ms UTC). */
  readonly before: number;
}

/**
 * Folds equal events of several devices if they have the same run as their author, or if their intervals overlap, so
 * that they may be from the same moment. Newest first. Pure.
 *
 * @param noteOf a further text that must be equal
 */
export function foldEvents(
  events: readonly Event[],
  noteOf: (event: Event) => string = () => '',
): FoldedEvent[] {
  const open = new Map<string, { events: [Event, ...Event[]]; from: number; to: number }[]>();
  for (const event of events) {
    const id = jsonText([contentOf(event), authorRunOf(event) ?? null, noteOf(event)]);
    const groups = open.get(id) ?? [];
    open.set(id, groups);
    const { after = -Infinity, before } = event;
    const [from, to] = [Math.min(after, before), Math.max(after, before)];
    const group = groups.find(
      (one) =>
        one.events.every(({ device }) => device !== event.device) &&
        (authorRunOf(event) !== undefined || Math.max(one.from, from) <= Math.min(one.to, to)),
    );
    if (group === undefined) {
      groups.push({ events: [event], from, to });
    } else {
      group.events.push(event);
      group.from = Math.max(group.from, from);
      group.to = Math.min(group.to, to);
    }
  }
  const order = orderOf(events);
  const latest = ({ events: same }: FoldedEvent): number =>
    Math.max(...same.map((event) => order.get(event) ?? 0));
  return [...open.values()]
    .flat()
    .map(({ events: same }): FoldedEvent => {
      const after = Math.min(...same.map((event) => event.after ?? -Infinity));
      return {
        events: same,
        devices: same.map(({ device }) => device).sort(compareTexts),
        after: Number.isFinite(after) ? after : undefined,
        before: Math.max(...same.map(({ before }) => before)),
      };
    })
    .sort((a, b) => latest(b) - latest(a));
}

export function authorRunOf({ author }: Event): string | undefined {
  return author?.kind === 'run' ? author.run : undefined;
}

/** A text that is equal for the same event on two devices. The number of records with another shape may differ. */
function contentOf(event: Event): string {
  if (event.kind !== 'shape') return eventText(event);
  return jsonText([event.resource, event.gained, event.lost]);
}

/** `user jdoe gone`, `user bob changed: lang de → en, password`. Texts of devices are not yet safe to show. */
export function eventText(event: Event): string {
  switch (event.kind) {
    case 'added':
    case 'gone':
      if (event.kind === 'added' && event.after === undefined)
        return textOf({ code: 'event', is: 'first', name: nameText(event) });
      return `${nameText(event)} ${event.kind}`;
    case 'listed':
    case 'unlisted':
      return textOf({ code: 'event', is: event.kind, name: nameText(event) });
    case 'changed':
      return `${nameText(event)}: ${event.fields.map(fieldText).join(', ')}`;
    case 'shape': {
      const { resource, gained, lost } = event;
      const signed = [...gained.map((field) => `+${field}`), ...lost.map((field) => `-${field}`)];
      const values = { fields: signed.join(' '), records: counted(event.records, 'record') };
      return textOf({ code: 'event', is: 'shape', resource, ...values });
    }
    case 'left':
      return textOf({ ...event, code: 'event', is: 'left', fields: event.fields.join(', ') });
    case 'identity':
      return [event.resource ?? [], textOf({ code: 'identity', is: event.reason })]
        .flat()
        .join(': ');
  }
}

/** `user bob`, `user bob (user_id 7)`; a single object has no name. */
function nameText({ resource, key, id }: RecordEvent): string {
  return [resource, key, id && `(${id.field} ${id.text})`].filter(Boolean).join(' ');
}

function fieldText({ field, before, after, isSecret }: FieldChange): string {
  if (isSecret) return `${field} changed`;
  if (before === undefined) return `${field} + ${exactText(after)}`;
  if (after === undefined) return `${field} gone (was ${exactText(before)})`;
  return `${field} ${exactText(before)} → ${exactText(after)}`;
}

/** `09:12 – 09:41`, or the end alone if the interval is at most a minute long; see `intervalEnds`. */
export function intervalText(interval: Pick<FoldedEvent, 'after' | 'before'>, now: Date): string {
  const [begin, end] = intervalEnds(interval, now);
  if (begin === undefined) return `before ${end}`;
  return interval.before - (interval.after ?? 0) <= MINUTE_MS ? end : `${begin} – ${end}`;
}

/** The ends of an interval, rounded outwards: to minutes, or to seconds if it is shorter than two minutes. */
export function intervalEnds(
  { after, before }: Pick<FoldedEvent, 'after' | 'before'>,
  now: Date,
): [begin: string | undefined, end: string] {
  const isShort = after !== undefined && before - after < 2 * MINUTE_MS;
  const unit = isShort ? 1000 : MINUTE_MS;
  const text = (time: number): string => clockTime(new Date(time), now, isShort);
  return [after === undefined ? after : text(after), text(Math.ceil(before / unit) * unit)];
}

/** The fields in which a filter searches: those of the record or the change, and those of the table. */
export function filteredBy(event: Event): DeviceRecord {
  const fields =
    event.kind === 'changed'
      ? Object.fromEntries(
          event.fields.map(({ field, before = null, after = null }) => [field, [before, after]]),
        )
      : 'record' in event
        ? event.record.fields
        : {};
  const field = event.kind === 'changed' ? event.fields.map((one) => one.field) : [];
  const { kind, resource = '' } = event;
  const key = 'key' in event ? event.key : '';
  const id = 'key' in event && event.id ? { [event.id.field]: event.id.text } : {};
  return { ...fields, ...id, resource, key, kind, field, what: eventText(event) };
}
