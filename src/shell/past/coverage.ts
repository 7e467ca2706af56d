import type { ClockOffset } from '../../device/client.ts';
import { grouped } from '../../device/record.ts';
import { UsageError } from '../../errors.ts';
import { withConnected } from '../../fleet/inventory.ts';
import {
  type DeviceHistory,
  History,
  type NotKept,
  NotReadError,
  notReadIn,
  notReadRemarks,
} from '../../history/history.ts';
import type { Moment, TooLarge } from '../../history/replay.ts';
import { someOf } from '../../text/one-line.ts';
import { nearHint } from '../../text/suggest.ts';
import { parsePastTime, zonedTime } from '../../text/time.ts';
import type { Call } from '../command.ts';
import { type Output, warning } from '../output.ts';
import { loadRun } from '../writing/stored-runs.ts';

/** The time of an option in ms UTC: a time as in `parsePastTime`, or the begin of the run with this id or end of id. */
export async function pastTime(
  { args, shell: { services } }: Call,
  option: 'at' | 'since' | 'until',
  text: string,
): Promise<number> {
  const column = args.columnOf(option);
  const isRun = /^(?:\d{8}-\d{6}-)?[a-z0-9]{4,}$/.test(text) && !/^\d+[a-z]$/.test(text);
  if (!isRun) return parsePastTime(text, services.now(), column);
  const ids = await services.runs.ids();
  const id = ids.find((one) => one === text || one.endsWith(`-${text}`));
  if (id !== undefined) return Date.parse((await loadRun(services, id)).at);
  throw new UsageError(
    `"${text}" is neither a time (2d, 03:00, "yesterday 03:00", 2026-11-22T03:00) nor a run${nearHint(text, ids)}`,
    { column, suggestions: text === 'yesterday' ? ['1d', 'yesterday 00:00'] : [] },
  );
}

/** The period of `--since` and `--until`, in ms UTC. An absent option leaves its end open. */
export interface Period {
  readonly since: number;
  readonly until: number;
}

export async function periodOf(call: Call<'since' | 'until'>): Promise<Period> {
  const { options, args } = call;
  const time = async (option: 'since' | 'until', open: number): Promise<number> =>
    options[option] === undefined ? open : pastTime(call, option, options[option]);
  const since = await time('since', -Infinity);
  const until = await time('until', Infinity);
  if (since <= until) return { since, until };
  throw new UsageError('--since is after --until', { column: args.columnOf('since') });
}

/** The names of the selected devices, or of all in the inventory if none is selected. Throws if there are none. */
export async function askedDevices(call: Call): Promise<string[]> {
  const selected = await call.selected();
  if (selected.length > 0) return selected.map(({ ref }) => ref.name);
  const { devices } = await call.shell.services.inventory.load();
  if (devices.length > 0) return devices.map(({ name }) => name);
  throw new UsageError(
    'you selected no device, and the inventory has none: name devices with --on',
  );
}

/** Returns a function that tells why devsh keeps no reading of a device; undefined if it keeps one. */
async function notKept({ access, shell }: Call): Promise<NotKept> {
  const { fleet, services } = shell;
  const inventory = withConnected(
    await services.inventory.load(),
    fleet.connected.map(({ entry }) => entry),
  );
  return (name) => {
    const entry = inventory.find(name);
    return entry && access.isUnchecked(entry)
      ? 'its certificate is not checked, so devsh keeps no reading of it'
      : undefined;
  };
}

/** The readings of all time, with those of this session. */
export async function pastOf(call: Call): Promise<History> {
  return new History(await call.shell.readings(), await notKept(call));
}

/** The readings of these devices that are kept from `since` on. Warns about damaged files. */
export async function* historiesOf(
  call: Call,
  devices: readonly string[],
  since: number,
): AsyncGenerator<Output, DeviceHistory[]> {
  const past = await pastOf(call);
  const histories = devices.map((device) => past.of(device, since));
  const damaged = histories.flatMap(({ damage }) => damage ?? []);
  if (damaged.length > 0) yield warning(`the history has gaps: ${someOf(damaged)}`);
  return histories;
}

/** `agrees within 0.6 s`, `00:01:30.0 behind (± 0.6 s)` */
export function offsetText([least, most]: ClockOffset): string {
  const seconds = (ms: number): string => `${Math.ceil(ms / 100) / 10} s`;
  if (least <= 0 && most >= 0) return `agrees within ${seconds(Math.max(-least, most))}`;
  const middle = Math.abs(least + most) / 2;
  const days = middle < 86_400_000 ? '' : `${Math.floor(middle / 86_400_000)} d `;
  // Cut to a tenth of a second.
  const clock = new Date(middle).toISOString().slice(11, 21);
  const width = seconds((most - least) / 2 + 100);
  return `${days}${clock} ${least > 0 ? 'ahead' : 'behind'} (± ${width})`;
}

/** The readings of a resource on one device. */
interface Covered {
  readonly device: string;
  /** Empty for a device that was never read. */
  readonly resource: string;
  /** The first and the last of all readings. */
  readonly first: Moment | undefined;
  readonly last: Moment | undefined;
  readonly readings: readonly Moment[];
  /** The last reading that had too many records to be kept. */
  readonly tooLarge: TooLarge | undefined;
  readonly unread: string;
}

export function coverageOf(histories: readonly DeviceHistory[], period: Period): Covered[] {
  return histories.flatMap(({ device, periods, unread }): Covered[] => {
    const known = periods.flatMap((period) => [
      ...period.resources.keys(),
      ...period.tooLarge.keys(),
    ]);
    const names = known.length === 0 ? [''] : [...new Set(known)];
    return names.map((resource) => {
      const all: Moment[] = periods.flatMap((period) => period.resources.get(resource) ?? []);
      return {
        ...{ device, unread, resource, first: all[0], last: all.at(-1) },
        readings: all.filter(({ from, to }) => to >= period.since && from <= period.until),
        tooLarge: periods.flatMap((period) => period.tooLarge.get(resource) ?? []).at(-1),
      };
    });
  });
}

/** What the readings do not cover: errors for devices without a reading in the period, and remarks for the others. */
export function notCovered(
  coverage: readonly Covered[],
  { since, until }: Period,
  now: Date,
): { devices: ReadonlySet<string>; errors: NotReadError[]; remarks: string[] } {
  const clock = ({ to }: Moment): string => zonedTime(to, now);
  const namesOf = (covered: readonly Covered[]) => new Set(covered.map(({ device }) => device));
  const read = namesOf(coverage.filter(({ readings }) => readings.length > 0));
  const isRead = ({ device }: Covered): boolean => read.has(device);
  const textOf = (covered: Covered): string | undefined => {
    const { resource, first, last, readings, tooLarge, unread } = covered;
    const what = isRead(covered) ? `${resource} ` : '';
    if (tooLarge !== undefined && tooLarge.to >= since) {
      return `${resource} is too large to be kept (${tooLarge.records} records)`;
    }
    if (first === undefined || last === undefined) return what === '' ? unread : undefined;
    if (readings.length === 0) {
      if (first.from > until) return `${what}not read then, first read ${clock(first)}`;
      return `${what}not read then${last.to < since ? `, last read ${clock(last)}` : ''}`;
    }
    return Number.isFinite(since) && first.from > since
      ? `${what}first read ${clock(first)}, what changed before is not known`
      : undefined;
  };
  const textsOf = (covered: readonly Covered[]): string[] =>
    [...grouped(covered, textOf)].map(([text, same]) => `${text}: ${someOf([...namesOf(same)])}`);
  const unread = coverage.filter((one) => !isRead(one));
  const errors = textsOf(unread).map((text) => new NotReadError(text));
  return { devices: namesOf(unread), errors, remarks: textsOf(coverage.filter(isRead)) };
}

/** Names the fields that readings do not have because the list of the device is only a summary. */
export function summaryRemarks(histories: readonly DeviceHistory[], resource?: string): string[] {
  const summaries = histories.flatMap(({ device, periods }) =>
    [...(periods.at(-1)?.resources ?? [])].map(([name, readings]) => {
      const last = readings.findLast(({ state }) => state.size > 0);
      const notRead = last && notReadIn(readings.at(-1) ?? last, last.state);
      return { device, resource: name, notRead };
    }),
  );
  return notReadRemarks(
    summaries.filter((one) => resource === undefined || one.resource === resource),
  );
}
