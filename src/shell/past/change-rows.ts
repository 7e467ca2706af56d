import { type DeviceRecord, type Value, valueText } from '../../device/record.ts';
import { type Deed, Deeds, deedsOf, type IdentitiesOf } from '../../history/attribution.ts';
import type { Event } from '../../history/events.ts';
import {
  eventText,
  type FoldedEvent,
  foldEvents,
  intervalText,
} from '../../history/fold-events.ts';
import type { DeviceHistory } from '../../history/history.ts';
import { someOf } from '../../text/one-line.ts';
import { clockTime } from '../../text/time.ts';
import type { Call } from '../command.ts';
import { table, type TableOutput } from '../output.ts';
import type { Services } from '../services.ts';
import { runsSince } from '../writing/stored-runs.ts';

/** What the journals say about who did a change. */
type Author =
  | { readonly kind: 'run'; readonly run: string; readonly line: string }
  /** A run wrote to the device in that time, or perhaps this on another device; nothing proves that it did this. */
  | { readonly kind: 'perhaps'; readonly run: string; readonly elsewhere?: string }
  | { readonly kind: 'other' }
  /** Some journals cannot be read. */
  | { readonly kind: 'unknown' };

/** No effect of a request shows later. */
const LATEST_MS = 600_000;

/** What the runs of this devsh sent. */
export class Authors {
  readonly #deeds: Deeds;
  /** The runs whose journals cannot be read. */
  readonly unreadable: readonly string[];

  private constructor(deeds: readonly Deed[], unreadable: readonly string[], of: IdentitiesOf) {
    this.#deeds = new Deeds(deeds, of);
    this.unreadable = unreadable;
  }

  /** Reads the journals that were written to after `time` (ms UTC), or not long before: effects may show late. */
  static async since(
    services: Services,
    time: number,
    histories: readonly Pick<DeviceHistory, 'device' | 'periods'>[],
  ): Promise<Authors> {
    const { runs, unreadable } = await runsSince(services, time - LATEST_MS);
    const periods = new Map(histories.map(({ device, periods: all }) => [device, all]));
    return new Authors(
      runs.flatMap(deedsOf),
      [...unreadable.keys()],
      ({ device, period }) =>
        periods.get(device)?.find(({ id }) => id === period)?.identities ?? [],
    );
  }

  attribute(events: readonly Event[]): Event[] {
    return this.#deeds.attributed(events);
  }

  /** Undefined for what nobody writes: a new period, another shape. */
  of(event: Event): Author | undefined {
    if (!('key' in event)) return undefined;
    if (event.kind === 'added' && event.after === undefined) return undefined;
    if (event.by !== undefined) return { kind: 'run', run: event.by.run, line: event.by.line };
    // A list that shows more is nobody's deed.
    if (event.kind === 'listed') return undefined;
    const near = this.#deeds.near(event);
    if (near !== undefined) return { kind: 'perhaps', ...near };
    return { kind: this.unreadable.length > 0 ? 'unknown' : 'other' };
  }

  /** `run k3f (user delete jdoe)`, `not by a run of this devsh`. */
  text(event: Event): string {
    const author = this.of(event);
    switch (author?.kind) {
      case undefined:
        return '';
      case 'run':
        return `run ${author.run}: ${author.line}`;
      case 'perhaps':
        return `unclear: run ${author.run} wrote ${author.elsewhere === undefined ? 'here' : `on ${author.elsewhere}`} then`;
      case 'other':
        return 'not by a run of this devsh';
      case 'unknown':
        return `unclear: cannot read ${someOf(this.unreadable, 2)}`;
    }
  }
}

/** The last values of fields that move by themselves, and when they were read (ms UTC). */
export interface LastValues {
  readonly values: DeviceRecord;
  readonly at: number;
}

/** Above this number, devices are only counted. */
const MOST_NAMES = 2;

/** Events as a table, newest first: folded as text, one row for each device in other formats. */
export function changesTable(
  { io, options, shell }: Call,
  events: readonly Event[],
  authors: Authors,
  more: Pick<TableOutput, 'hasSuccess' | 'hasDifferences'>,
  lastValues: (event: Event) => LastValues | undefined = () => undefined,
): TableOutput {
  if ((options.format ?? 'table') !== 'table') {
    const rows = events.map((event) => dataRow(event, authors, lastValues(event))).reverse();
    const columns = 'device after before resource key kind what author run'.split(' ');
    return table('changes', columns, rows, more);
  }
  const now = shell.services.now();
  const hasClock = io.isOnScreen === true;
  const at = (time: number): string => (hasClock ? clockTime(new Date(time), now) : isoText(time));
  const valuesText = (event: Event): string => {
    const last = lastValues(event);
    if (last === undefined) return '';
    const texts = Object.entries(last.values).map(
      ([field, value]) => `${field}=${valueText(value)}`,
    );
    return `${texts.join(' ')} (${at(last.at)})`;
  };
  const noteOf = (event: Event): string => authors.text(event) + valuesText(event);
  const changes = foldEvents(events, noteOf);
  const rows = changes.map((folded) => {
    const [event] = folded.events;
    return {
      when: hasClock ? intervalText(folded, now) : isoInterval(folded),
      on: onText(folded.devices),
      what: eventText(event),
      by: authors.text(event),
      last: valuesText(event),
    };
  });
  const hasLast = rows.some(({ last }) => last !== '');
  const columns = ['when', 'on', 'what', 'by', hasLast && { key: 'last', title: 'LAST VALUES' }];
  return table('changes', columns, rows, { ...more, changes });
}

export function dataRow(event: Event, authors: Authors, last?: LastValues) {
  const author = authors.of(event);
  return {
    device: event.device,
    after: event.after === undefined ? null : isoText(event.after),
    before: isoText(event.before),
    resource: event.resource ?? null,
    key: 'key' in event ? event.key : null,
    ...('key' in event && event.id && { id: event.id.text }),
    kind: event.kind,
    what: eventText(event),
    author: author?.kind ?? null,
    run: author !== undefined && 'run' in author ? author.run : null,
    ...(event.by && { line: event.by.line }),
    ...contentOf(event),
    ...(last && { last: last.values, lastReadAt: isoText(last.at) }),
  };
}

function contentOf(event: Event): Readonly<Record<string, Value>> {
  switch (event.kind) {
    case 'added':
    case 'listed':
      return { now: event.record.fields };
    case 'gone':
    case 'unlisted':
      return { was: event.record.fields };
    case 'changed':
      return {
        // A field that the record did not have has no such value.
        fields: event.fields.map(({ field, before, after, isSecret }) => ({
          field,
          ...(isSecret && { isSecret }),
          ...(!isSecret && before !== undefined && { before }),
          ...(!isSecret && after !== undefined && { after }),
        })),
      };
    case 'shape':
      return { gained: event.gained, lost: event.lost, records: event.records };
    case 'left':
      return { left: event.fields };
    case 'identity':
      return { reason: event.reason };
  }
}

/** `fw1 +8` */
function onText(devices: readonly string[]): string {
  if (devices.length <= MOST_NAMES) return devices.join(', ');
  return `${devices[0] ?? ''} +${devices.length - 1}`;
}

function isoInterval({ after, before }: FoldedEvent): string {
  return `${after === undefined ? 'before' : `between ${isoText(after)} and`} ${isoText(before)}`;
}

export function isoText(time: number): string {
  return new Date(time).toISOString();
}
