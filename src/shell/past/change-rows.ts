import { type DeviceRecord, type Value, valueText } from '../../device/record.ts';
import { Deeds, deedsOf, type IdentitiesOf } from '../../history/attribution.ts';
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

/** The longest time until a request shows its effect. */
const LATEST_MS = 600_000;

/** The requests of runs that were active after `time` (ms UTC) or shortly before it: effects may show late. */
export async function deedsSince(
  services: Services,
  time: number,
  histories: readonly Pick<DeviceHistory, 'device' | 'periods'>[],
): Promise<Deeds> {
  const { runs, unreadable } = await runsSince(services, time - LATEST_MS);
  const periods = new Map(histories.map(({ device, periods: all }) => [device, all]));
  const identitiesOf: IdentitiesOf = ({ device, period }) =>
    periods.get(device)?.find(({ id }) => id === period)?.identities ?? [];
  return new Deeds(runs.flatMap(deedsOf), identitiesOf, [...unreadable.keys()]);
}

/** `run k3f (user delete jdoe)`, `not by a run of this devsh`. */
export function authorText({ author }: Event): string {
  switch (author?.kind) {
    case undefined:
      return '';
    case 'run':
      return `run ${author.run}: ${author.line}`;
    case 'perhaps':
      return `unclear: run ${author.run} was at work then`;
    case 'other':
      return 'not by a run of this devsh';
    case 'unknown':
      return `unclear: cannot read ${someOf(author.runs, 2)}`;
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
  more: Pick<TableOutput, 'hasSuccess' | 'hasDifferences'>,
  lastValues: (event: Event) => LastValues | undefined = () => undefined,
): TableOutput {
  if ((options.format ?? 'table') !== 'table') {
    const rows = events.map((event) => dataRow(event, lastValues(event))).reverse();
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
  const noteOf = (event: Event): string => authorText(event) + valuesText(event);
  const changes = foldEvents(events, noteOf);
  const rows = changes.map((folded) => {
    const [event] = folded.events;
    return {
      when: hasClock ? intervalText(folded, now) : isoInterval(folded),
      on: onText(folded.devices),
      what: eventText(event),
      by: authorText(event),
      last: valuesText(event),
    };
  });
  const hasLast = rows.some(({ last }) => last !== '');
  const columns = ['when', 'on', 'what', 'by', hasLast && { key: 'last', title: 'LAST VALUES' }];
  return table('changes', columns, rows, { ...more, changes });
}

export function dataRow(event: Event, last?: LastValues) {
  const { author } = event;
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
    ...(author?.kind === 'run' && { line: author.line }),
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
        // If the record did not have a field, there is no value before or after.
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
