import { canonicalId } from '../../change/identity.ts';
import { NotFoundError, UsageError } from '../../errors.ts';
import {
  beginOf,
  type Event,
  eventsOf,
  inOrder,
  recordEvents,
  recordsNamed,
} from '../../history/events.ts';
import { type Filter, matches } from '../../fleet/filter.ts';
import { FilterCheck } from '../../fleet/filter-check.ts';
import type { DeviceHistory } from '../../history/history.ts';
import type { KeptRecord } from '../../history/kept.ts';
import { counted, someOf } from '../../text/one-line.ts';
import { nearHint } from '../../text/suggest.ts';
import { clockTime, zonesText } from '../../text/time.ts';
import type { Call } from '../command.ts';
import { info, message, type Output, warning } from '../output.ts';
import type { Services } from '../services.ts';
import { valueText } from '../../device/record.ts';
import { filteredBy } from '../../history/fold-events.ts';
import { changesTable, deedsSince, type LastValues } from './change-rows.ts';
import {
  askedDevices,
  coverageOf,
  historiesOf,
  notCovered,
  type Period,
  periodOf,
  summaryRemarks,
} from './coverage.ts';

type ChangesCall = Call<'since' | 'until' | 'allFields' | 'exitCode'>;

/** `changes`: what changed on the selected devices, else on all of the inventory. */
export async function* listChanges(
  call: ChangesCall,
  filter: Filter | undefined,
): AsyncGenerator<Output> {
  const period = await periodOf(call);
  const devices = await askedDevices(call);
  const histories = yield* historiesOf(call, devices, period.since);
  const eventsIn: EventsIn = (history) =>
    allEvents(history).filter((event) => matches(filter, filteredBy(event), event.device));
  if (filter !== undefined && histories.flatMap(eventsIn).length === 0) {
    refuseUnknown(filter, yield* historiesOf(call, devices, -Infinity));
  }
  yield* showChanges(call, histories, period, eventsIn);
}

/** Chooses the changes of one device that the line asks for. */
type EventsIn = (history: DeviceHistory) => readonly Event[];

const allEvents: EventsIn = ({ device, periods, since }) => eventsOf(device, periods, since);

/** Throws a `NotFoundError` or `UsageError` if no part of the filter matches anything that was ever read. */
function refuseUnknown(filter: Filter, histories: readonly DeviceHistory[]): void {
  const events = histories.flatMap(allEvents);
  if (events.some((event) => matches(filter, filteredBy(event), event.device))) return;
  const kept = keptRecords(histories);
  if (kept.length === 0) return;
  const all = [
    ...kept.map(({ key, fields }) => ({ ...fields, key })),
    ...histories.map(({ device }) => ({ device })),
    ...events.map(filteredBy),
    EVENT_FIELDS,
  ];
  const check = new FilterCheck(filter);
  check.add(all, 0);
  const doubt = check.doubt();
  if (doubt !== undefined) throw new UsageError(doubt);
  const terms = filter.terms.flatMap((term) => {
    if (term.kind === 'word') return { ...term, isFuzzy: false };
    return term.kind === 'is' && term.field === 'key' ? term : [];
  });
  const isKnown = (term: Filter['terms'][number]): boolean =>
    all.some((record) => matches({ terms: [term] }, record, ''));
  const word = terms.find((term) => !isKnown(term))?.text;
  const never = word === undefined ? undefined : neverRead(histories, undefined, word);
  if (never !== undefined) throw new NotFoundError(never.text + never.near);
}

/** The fields of a change that a filter may name besides those of records, with their fixed values. */
const EVENT_FIELDS = {
  key: '',
  kind: 'added changed gone listed unlisted period',
  resource: '',
  field: '',
};

/** Each state of a record that readings show, once; of one resource, or of all. */
function keptRecords(histories: readonly DeviceHistory[], resource?: string): KeptRecord[] {
  const lists = histories.flatMap(({ periods }) =>
    periods.flatMap(({ resources }) => [...resources]),
  );
  const readings = lists.flatMap(([name, one]) =>
    resource === undefined || name === resource ? one : [],
  );
  const states = new Set(readings.map(({ state }) => state));
  return [...new Set([...states].flatMap((state) => [...state.values()]))];
}

function readOf(histories: readonly DeviceHistory[], resource?: string): DeviceHistory[] {
  return histories.filter(({ periods }) =>
    periods.some(({ resources }) => resource === undefined || resources.has(resource)),
  );
}

/** Says that no record ever had this text in any field, and names similar keys; undefined if one had it. */
function neverRead(
  histories: readonly DeviceHistory[],
  resource: string | undefined,
  key: string,
): { readonly text: string; readonly near: string } | undefined {
  const read = readOf(histories, resource);
  const kept = keptRecords(histories, resource);
  const [, , value = key] = /^([^=]+)=(.*)$/s.exec(key) ?? [];
  const words = new Set([key, value].map(canonicalId));
  const isNamed = ({ key: name, fields }: KeptRecord): boolean =>
    [name, ...Object.values(fields)].some((text) => words.has(canonicalId(valueText(text))));
  if (read.length === 0 || kept.some(isNamed)) return undefined;
  const devices = resource === undefined ? read.map(({ device }) => device) : [];
  const known = read.flatMap(({ periods }) => periods.flatMap(({ resources }) => [...resources]));
  const [only = 'record', ...others] = new Set(known.map(([name]) => name));
  const what = resource ?? (others.length === 0 ? only : 'record');
  return {
    text: `no ${what} "${key}" was ever read on ${counted(read.length, 'device')}`,
    near: nearHint(key, new Set([...kept.map((record) => record.key), ...devices])),
  };
}

/** Like `neverRead`, but says it only if all readings of each of these devices are kept. */
export function neverHad(
  histories: readonly DeviceHistory[],
  resource: string,
  key: string,
): ReturnType<typeof neverRead> {
  const isKept = histories.every(
    ({ damage, periods }) =>
      damage === undefined &&
      periods.some(({ resources }) => resources.has(resource)) &&
      !periods.some(({ tooLarge }) => tooLarge.has(resource)),
  );
  return isKept ? neverRead(histories, resource, key) : undefined;
}

/** `user changes KEY`: the period of one record on each device. */
export async function* listRecordChanges(
  call: ChangesCall,
  resource: string,
  key: string,
): AsyncGenerator<Output> {
  const period = await periodOf(call);
  const devices = await askedDevices(call);
  const histories = yield* historiesOf(call, devices, period.since);
  const read = readOf(histories, resource);
  const all = neverRead(histories, resource, key) && (yield* historiesOf(call, devices, -Infinity));
  const unknown = all && neverRead(all, resource, key);
  if (unknown !== undefined) {
    const { text, near } = unknown;
    throw new NotFoundError(text + (near || `; "changes resource=${resource}" shows what changed`));
  }
  const eventsIn: EventsIn = ({ device, periods }) => recordEvents(device, periods, resource, key);
  yield* showChanges(call, histories, period, eventsIn, resource);
  const present = ({ periods }: DeviceHistory): boolean => {
    const last = periods.at(-1)?.resources.get(resource)?.at(-1);
    return last !== undefined && recordsNamed(last, key).length > 0;
  };
  const names = (is: boolean): string =>
    someOf(read.filter((one) => present(one) === is).map(({ device }) => device));
  const [on, off] = [names(true), names(false)];
  if (read.length > 0)
    yield info(
      `at the last reading: ${on === '' ? '' : `on ${on}`}${on && off && '; '}${off === '' ? '' : `not on ${off}`}`,
    );
}

/** The changes of a period with their authors, the oldest first. `first`: the earliest time of the first change. */
export async function changesIn(
  services: Services,
  histories: readonly DeviceHistory[],
  period: Period,
  eventsIn = allEvents,
): Promise<{ events: readonly Event[]; first: number; unreadable: readonly string[] }> {
  const found = histories
    .flatMap(eventsIn)
    .filter((event) => event.before >= period.since && beginOf(event) <= period.until);
  const first = Math.min(...found.map(beginOf));
  const deeds = await deedsSince(services, first, histories);
  return { events: inOrder(deeds.attributed(found)), first, unreadable: deeds.unreadable };
}

async function* showChanges(
  call: ChangesCall,
  histories: readonly DeviceHistory[],
  period: Period,
  eventsIn: EventsIn,
  resource?: string,
): AsyncGenerator<Output> {
  const { options, shell } = call;
  const { events, first, unreadable } = await changesIn(
    shell.services,
    histories,
    period,
    eventsIn,
  );
  const byName = new Map(histories.map((history) => [history.device, history]));
  const lastValues = (event: Event): LastValues | undefined => {
    if (!options.allFields || !('key' in event)) return undefined;
    const last = byName.get(event.device)?.periods.at(-1)?.resources.get(event.resource)?.at(-1);
    const [record] = last === undefined ? [] : recordsNamed(last, event.id?.text ?? event.key);
    const values = last?.values.get(record?.key ?? event.key);
    return values && last?.valuesAt !== undefined ? { values, at: last.valuesAt } : undefined;
  };
  const coverage = coverageOf(histories, period);
  const uncovered = notCovered(coverage, period, shell.services.now());
  const hasSuccess = uncovered.devices.size < histories.length;
  yield changesTable(
    call,
    events,
    { hasSuccess, hasDifferences: options.exitCode && events.length > 0 },
    lastValues,
  );
  for (const error of uncovered.errors) yield { kind: 'error', error };
  const summaries = summaryRemarks(histories, resource);
  const remarks = [...uncovered.remarks, ...summaries];
  for (const remark of remarks) yield warning(remark);
  if (unreadable.length > 0) {
    yield warning(
      `cannot read the journals of ${someOf(unreadable)}: what they did is not attributed`,
    );
  }
  if (!hasSuccess) return;
  const isWhole = uncovered.errors.length + remarks.length === 0;
  const count = events.length === 0 ? 'no changes' : counted(events.length, 'change');
  yield message(
    isWhole && events.length === 0 ? 'done' : 'info',
    `${count} on ${counted(histories.length - uncovered.devices.size, 'device')}; ${readText(coverage, shell.services.now(), first)}`,
  );
}

/** `read from 20 Nov 09:00 to 09:40 (fw3) or later; times are UTC+01:00` */
function readText(coverage: ReturnType<typeof coverageOf>, now: Date, first: number): string {
  const read = coverage.flatMap(({ device, first, last }) =>
    first && last ? [{ device, from: first.to, to: last.to }] : [],
  );
  const clock = (time: number): string => clockTime(new Date(time), now);
  const stale = read.reduce((a, b) => (b.to < a.to ? b : a));
  const latest = Math.max(...read.map(({ to }) => to));
  const last =
    clock(stale.to) === clock(latest)
      ? `last read ${clock(latest)}`
      : `last read between ${clock(stale.to)} (${stale.device}) and ${clock(latest)}`;
  const oldest = Math.min(first, stale.to);
  return `${last}; times are ${zonesText(new Date(oldest), now)}`;
}
