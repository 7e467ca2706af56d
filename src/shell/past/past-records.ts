import { isKeyOf } from '../../change/identity.ts';
import { DevshError, NotFoundError } from '../../errors.ts';
import { beginOf, changesBetween, type Event } from '../../history/events.ts';
import { notReadRemarks, NotReadError, type PastState } from '../../history/history.ts';
import { SAME_EVERY_MS } from '../../history/observer.ts';
import { differenceOf } from '../../history/replay.ts';
import { type Filter, matches } from '../../fleet/filter.ts';
import { FilterCheck } from '../../fleet/filter-check.ts';
import { isSingle } from '../../device/profile.ts';
import { perDeviceFields } from '../../fleet/compared.ts';
import type { DeviceRecord, DeviceRef } from '../../device/record.ts';
import { counted, pluralOf, someOf } from '../../text/one-line.ts';
import type { Call } from '../command.ts';
import { info, message, type Output, type View, warning } from '../output.ts';
import type { Given } from '../grammar/options.ts';
import { readAll, refuseGiven } from '../records/compare-records.ts';
import { refuseDoubtful, sortedBy, viewOf } from '../records/read-records.ts';
import { changesTable, deedsSince } from './change-rows.ts';
import { filteredBy, intervalEnds } from '../../history/fold-events.ts';
import { zonedTime, zoneText } from '../../text/time.ts';
import { historiesOf, pastOf, pastTime, summaryRemarks } from './coverage.ts';

/** `user list --at TIME`: the records that were read then; with `--drift`, the changes since then. */
export async function* listPast(
  call: Call<'drift', 'columns' | 'sort' | 'fold'>,
  at: string,
  resource: string,
  filter: Filter | undefined,
): AsyncGenerator<Output> {
  refuseWithAt(call.options);
  if (call.options.drift) {
    yield* driftSince(call, at, resource, filter);
    return;
  }
  const all = { ...viewOf(call, resource, 'table'), isPast: true };
  const view = filter === undefined ? all : { ...all, filtered: true };
  const check = new FilterCheck(filter, sortedBy(view));
  const isMeant = (record: DeviceRecord, device: string) => {
    const isFound = matches(filter, record, device);
    check.add([record], isFound ? 1 : 0, [], device);
    return isFound;
  };
  const { unread } = yield* pastRecords(call, at, view, isMeant);
  yield* refuseDoubtful(call, check, unread);
}

/** `user show KEY --at TIME`: the record `wanted` as it was read then. If `wanted` is undefined, all records. */
export async function* showPast(
  call: Call,
  at: string,
  view: View,
  wanted: string | undefined,
): AsyncGenerator<Output> {
  refuseWithAt(call.options);
  const isWanted = (record: DeviceRecord, _: string, idFields: readonly string[]): boolean =>
    wanted === undefined || isKeyOf(record, idFields, wanted);
  const { found } = yield* pastRecords(call, at, view, isWanted);
  if (found === 0) {
    throw new NotFoundError(`devsh read no ${view.resource} "${wanted ?? ''}" then`);
  }
}

/** Sends no request. Returns how many records `isMeant` chose, and the devices that were not read then. */
async function* pastRecords(
  call: Call,
  at: string,
  view: View,
  isMeant: (record: DeviceRecord, device: string, idFields: readonly string[]) => boolean,
): AsyncGenerator<Output, { found: number; unread: readonly DeviceRef[] }> {
  const { services } = call.shell;
  const time = await pastTime(call, 'at', at);
  const sessions = await call.sessions();
  const past = await pastOf(call);
  const states: { device: string; state: PastState }[] = [];
  const unread: DeviceRef[] = [];
  let found = 0;
  for (const [position, { ref: device, profile }] of sessions.entries()) {
    const common = { kind: 'read', device, position, total: sessions.length } as const;
    const state = past.stateAt(device.name, view.resource, time);
    if (state instanceof DevshError) {
      unread.push(device);
      yield { ...common, view, outcome: { ok: false, error: state } };
      continue;
    }
    states.push({ device: device.name, state });
    const records = state.records.filter((record) =>
      isMeant(record, device.name, [state.keyField, ...profile.idFields]),
    );
    found += records.length;
    const key = isSingle(profile, view.resource) ? '' : state.keyField;
    const perDevice = [...new Set([...view.perDevice, ...perDeviceFields(profile, view.resource)])];
    const { from, to, nextRead } = state;
    yield {
      ...common,
      view: { ...view, key, perDevice },
      outcome: { ok: true, records },
      past: { from, to, next: nextRead?.to },
    };
  }
  if (states.length > 0) yield* remarks(states, view.resource, services.now());
  return { found, unread };
}

function* remarks(
  states: readonly { readonly device: string; readonly state: PastState }[],
  resource: string,
  now: Date,
): Generator<Output> {
  const names = (is: (state: PastState) => boolean): string =>
    someOf(states.filter(({ state }) => is(state)).map(({ device }) => device));
  const span = {
    after: Math.min(...states.map(({ state }) => state.from)),
    before: Math.max(...states.map(({ state }) => state.to)),
  };
  const nexts = states.flatMap(({ state }) => (state.nextRead ? [state.nextRead.to] : []));
  const next =
    nexts.length === 0
      ? 'not read again since'
      : `the next reading was ${nexts.length === states.length ? '' : 'at the earliest '}${zonedTime(Math.min(...nexts), now)}`;
  const [begin = '', end] = intervalEnds(span, now);
  yield info(
    `as read between ${begin} and ${end} ${zoneText(new Date(span.before))}; ${next}: what changed between is not known`,
  );
  const old = names(({ isCurrentIdentity }) => !isCurrentIdentity);
  if (old !== '') yield warning(`replaced since, so this is of the device before: ${old}`);
  const kept = states.flatMap(({ state }) => [...state.state.values()]);
  const masked = new Set(kept.flatMap(({ digests = {} }) => Object.keys(digests)));
  if (masked.size > 0) yield info(`secrets are not kept: ${[...masked].join(', ')}`);
  const lists = states.map(({ device, state: { notRead } }) => ({ device, resource, notRead }));
  for (const text of notReadRemarks(lists)) yield warning(text);
  const left = [...new Set(states.flatMap(({ state }) => state.leftOut))];
  if (left.length > 0) yield info(`left out, because they are not compared: ${left.join(', ')}`);
}

/** `user list --drift --at TIME`: each device as it is now, compared with itself then. */
async function* driftSince(
  call: Call,
  at: string,
  resource: string,
  filter: Filter | undefined,
): AsyncGenerator<Output> {
  const { services } = call.shell;
  const time = await pastTime(call, 'at', at);
  const sessions = await call.sessions();
  const startedAt = services.now().getTime();
  const asked = (yield* readAll(call, sessions, resource)).map(({ session }) => session.ref);
  const names = asked.map(({ name }) => name);
  const histories = yield* historiesOf(call, names, time);
  const events: Event[] = [];
  const compared: string[] = [];
  for (const { device, periods } of histories) {
    const ref = asked.find(({ name }) => name === device);
    const fail = (text: string): Output => ({
      kind: 'error',
      error: new NotReadError(text),
      ...(ref && { device: ref }),
    });
    const current = periods.at(-1);
    const readings = current?.resources.get(resource) ?? [];
    const now = readings.at(-1);
    const then = readings.findLast(({ to }) => to <= time);
    const [first = now] = periods.flatMap((period) => period.resources.get(resource) ?? []);
    if (!current || !now || !first || now.to < startedAt - SAME_EVERY_MS) {
      yield fail(
        'its present state is not kept, so it cannot be compared ("help settings": historyDays)',
      );
    } else if (then === undefined) {
      yield fail(
        first.to <= time
          ? `is another device since ${zonedTime(current.begin, services.now())} (certificate or address), and is not compared with the one before`
          : `${resource} was not read by ${zonedTime(time, services.now())}; the first reading is of ${zonedTime(first.to, services.now())}`,
      );
    } else if (then.keyField !== now.keyField && then.state.size > 0) {
      yield fail(
        `its ${pluralOf(resource)} are named by "${now.keyField}" since, then by "${then.keyField}": they cannot be compared`,
      );
    } else {
      compared.push(device);
      const base = { device, period: current.id, resource };
      const left = new Set(now.moving?.fields);
      const difference = differenceOf(then.state, now.state);
      events.push(...changesBetween({ base, readings, left }, [then, now], difference));
    }
  }
  if (compared.length === 0) return;
  // The last reading of a device may be long before that time.
  const first = Math.min(...events.map(beginOf));
  const shown = (await deedsSince(services, first, histories))
    .attributed(events)
    .filter((event) => matches(filter, filteredBy(event), event.device));
  yield changesTable(call, shown, {
    hasSuccess: true,
    hasDifferences: shown.length > 0,
  });
  const count = shown.length === 0 ? 'no changes' : counted(shown.length, 'change');
  const summaries = summaryRemarks(
    histories.filter(({ device }) => compared.includes(device)),
    resource,
  );
  for (const text of summaries) yield warning(text);
  const isWhole = compared.length === sessions.length && summaries.length === 0;
  yield message(
    shown.length === 0 && isWhole ? 'done' : 'info',
    `${count} since ${zonedTime(time, services.now())} on ${counted(compared.length, 'device')}`,
  );
}

/** Refuses options that need the present. */
function refuseWithAt(options: Given): void {
  const others = ['watchMs', 'against', 'countBy'] as const;
  refuseGiven(options, others, '--at shows what was read then');
}
