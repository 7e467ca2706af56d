import { grouped } from '../../device/record.ts';
import { type NotRead, NotReadError, notReadIn, notReadText } from '../../history/history.ts';
import type { Moment } from '../../history/lines.ts';
import type { TooLarge } from '../../history/replay.ts';
import { someOf } from '../../text/one-line.ts';
import { zonedTime, zoneText } from '../../text/time.ts';
import type { Call } from '../command.ts';
import { info, type Output, table, warning } from '../output.ts';
import { isoText } from './change-rows.ts';
import {
  askedDevices,
  type DeviceHistory,
  historiesOf,
  type Period,
  periodOf,
} from './past-time.ts';

/** What was read of a resource on one device. */
export interface Covered {
  readonly device: string;
  /** Empty for a device that was never read. */
  readonly resource: string;
  /** Of all readings. */
  readonly first: Moment | undefined;
  readonly last: Moment | undefined;
  /** Those in the period. */
  readonly readings: readonly Moment[];
  readonly lives: number;
  /** The last reading that had too many records to be kept. */
  readonly tooLarge: TooLarge | undefined;
}

export function coverageOf(histories: readonly DeviceHistory[], period: Period): Covered[] {
  return histories.flatMap(({ device, lives }): Covered[] => {
    const known = lives.flatMap((life) => [...life.resources.keys(), ...life.tooLarge.keys()]);
    const names = known.length === 0 ? [''] : [...new Set(known)];
    return names.map((resource) => {
      const all: Moment[] = lives.flatMap((life) => life.resources.get(resource)?.readings ?? []);
      return {
        ...{ device, resource, first: all[0], last: all.at(-1), lives: lives.length },
        readings: all.filter(({ from, to }) => to >= period.since && from <= period.until),
        tooLarge: lives.flatMap((life) => life.tooLarge.get(resource) ?? []).at(-1),
      };
    });
  });
}

/** What the readings leave open: errors for devices of which nothing is known in the period, else remarks. */
export function notCovered(
  coverage: readonly Covered[],
  { since, until }: Period,
  now: Date,
): { devices: ReadonlySet<string>; errors: NotReadError[]; remarks: string[] } {
  const groups = new Map<string, Set<string>>();
  const put = (text: string, device: string): void => {
    groups.set(text, (groups.get(text) ?? new Set()).add(device));
  };
  const texts = (): string[] =>
    [...groups].map(([text, devices]) => `${text}: ${someOf([...devices])}`);
  const clock = (time: number): string => zonedTime(time, now);
  const read = new Set(
    coverage.filter(({ readings }) => readings.length > 0).map(({ device }) => device),
  );
  const devices = new Set(
    coverage.filter(({ device }) => !read.has(device)).map(({ device }) => device),
  );
  for (const { device, resource, first, last, tooLarge } of coverage) {
    if (read.has(device)) continue;
    if (tooLarge !== undefined && tooLarge.to >= since)
      put(tooLargeText(resource, tooLarge), device);
    else if (first === undefined || last === undefined) put('never read', device);
    else if (first.from > until) put(`not read then, first read ${clock(first.to)}`, device);
    else if (last.to < since) put(`not read then, last read ${clock(last.to)}`, device);
    else put('not read then', device);
  }
  const errors = texts().map((text) => new NotReadError(text));
  groups.clear();
  for (const { device, resource, first, last, readings, tooLarge } of coverage) {
    if (!read.has(device)) continue;
    if (tooLarge !== undefined && tooLarge.to >= since)
      put(tooLargeText(resource, tooLarge), device);
    if (first === undefined || last === undefined) continue;
    if (readings.length === 0)
      put(`${resource} not read then, last read ${clock(last.to)}`, device);
    else if (Number.isFinite(since) && first.from > since)
      put(`${resource} first read ${clock(first.to)}, what changed before is not known`, device);
  }
  return { devices, errors, remarks: texts() };
}

/** Lists that are only a summary: what their readings know nothing of. */
export function summaryRemarks(histories: readonly DeviceHistory[], resource?: string): string[] {
  const summaries = histories.flatMap(({ device, lives }) =>
    [...(lives.at(-1)?.resources ?? [])].map(([name, known]) => {
      const last = known.readings.findLast(({ state }) => state.size > 0);
      return { device, resource: name, notRead: last && notReadIn(known, last.state) };
    }),
  );
  return notReadRemarks(
    summaries.filter((one) => resource === undefined || one.resource === resource),
  );
}

/** One for each summary, with the devices that have it: `user: known are only uuid, username: …`. */
export function notReadRemarks(
  lists: readonly {
    readonly device: string;
    readonly resource: string;
    readonly notRead: NotRead | undefined;
  }[],
): string[] {
  const groups = grouped(lists, ({ resource, notRead }) =>
    notRead === undefined ? undefined : `${resource}: ${notReadText(notRead)}`,
  );
  return [...groups].map(([text, same]) => `${text}: ${someOf(same.map(({ device }) => device))}`);
}

function tooLargeText(resource: string, { records }: TooLarge): string {
  return `${resource} is too large to be kept (${records} records)`;
}

/** `changes --coverage`: what was read, when, and what was not. */
export async function* showCoverage(call: Call<'since' | 'until'>): AsyncGenerator<Output> {
  const period = await periodOf(call);
  const histories = yield* historiesOf(call, await askedDevices(call));
  const now = call.shell.services.now();
  const coverage = coverageOf(histories, period);
  const { devices, errors, remarks } = notCovered(coverage, period, now);
  const time = (at: number | undefined): string | null => (at === undefined ? null : isoText(at));
  const rows = coverage.map(({ device, resource, first, last, readings, lives }) => {
    const gap = longestGap(readings);
    return {
      device,
      resource: resource || null,
      first: time(first?.to),
      last: time(last?.to),
      readings: readings.length,
      gapFrom: time(gap?.from),
      gapTo: time(gap?.to),
      lives,
    };
  });
  const gaps = [
    { key: 'gapFrom', title: 'LONGEST GAP' },
    { key: 'gapTo', title: 'TO' },
  ];
  const columns = ['device', 'resource', 'first', 'last', 'readings', ...gaps, 'lives'];
  yield table('coverage', columns, rows, { hasSuccess: devices.size < histories.length });
  for (const error of errors) yield { kind: 'error', error };
  // What was not read at the begin of the period is a gap, too.
  for (const text of remarks) yield { kind: 'error', error: new NotReadError(text) };
  for (const text of summaryRemarks(histories)) yield warning(text);
  if (call.io.isOnScreen === true) yield info(`times are ${zoneText(now)}`);
}

/** Between the end of one reading and the end of the next one. */
export function longestGap(readings: readonly Moment[]): Moment | undefined {
  let longest: Moment | undefined;
  for (const [index, { to }] of readings.entries()) {
    const from = readings[index - 1]?.to;
    if (from === undefined) continue;
    if (longest === undefined || to - from > longest.to - longest.from) longest = { from, to };
  }
  return longest;
}
