import { DevshError, UsageError } from '../../errors.ts';
import { changesBetween, type Event } from '../../history/events.ts';
import { History, NotReadError, type PastState } from '../../history/history.ts';
import { differenceOf } from '../../history/replay.ts';
import { type Filter, matches } from '../../fleet/filter.ts';
import { isSingle } from '../../device/profile.ts';
import type { Life } from '../../history/replay.ts';
import { perDeviceFields } from '../../fleet/compared.ts';
import type { DeviceRecord } from '../../device/record.ts';
import { counted, someOf } from '../../text/one-line.ts';
import type { Call } from '../command.ts';
import { info, message, type Output, type View, warning } from '../output.ts';
import { Authors } from './authors.ts';
import { changesTable, filteredBy } from './change-rows.ts';
import { intervalText } from '../../history/fold-events.ts';
import { zoneText } from '../../text/time.ts';
import { historiesOf, pastTime, timeText } from './past-time.ts';

/** `user list --at TIME`, `user show KEY --at TIME`: what was read then. No device is asked. */
export async function* pastRecords(
  call: Call,
  at: string,
  view: View,
  isMeant: (record: DeviceRecord, device: string, idFields: readonly string[]) => boolean,
): AsyncGenerator<Output, number> {
  const { services } = call.shell;
  const time = await pastTime(services, at);
  const sessions = await call.sessions();
  const history = new History(await call.shell.readings());
  const states: { device: string; state: PastState }[] = [];
  let found = 0;
  for (const [position, { ref: device, profile }] of sessions.entries()) {
    const common = { kind: 'read', device, position, total: sessions.length } as const;
    try {
      const state = await history.stateAt(device.name, view.resource, time);
      states.push({ device: device.name, state });
      const records = state.records.filter((record) =>
        isMeant(record, device.name, [state.keyField, ...profile.idFields]),
      );
      found += records.length;
      const key = isSingle(profile, view.resource) ? '' : state.keyField;
      const perDevice = [
        ...new Set([...view.perDevice, ...perDeviceFields(profile, view.resource)]),
      ];
      const { read, nextRead } = state;
      yield {
        ...common,
        view: { ...view, key, perDevice },
        outcome: { ok: true, records },
        past: { ...read, next: nextRead?.to },
      };
    } catch (error) {
      if (!(error instanceof DevshError)) throw error;
      yield { ...common, view, outcome: { ok: false, error } };
    }
  }
  if (states.length > 0) yield* remarks(states, services.now());
  return found;
}

function* remarks(
  states: readonly { readonly device: string; readonly state: PastState }[],
  now: Date,
): Generator<Output> {
  const names = (is: (state: PastState) => boolean): string =>
    someOf(states.filter(({ state }) => is(state)).map(({ device }) => device));
  const reads = states.map(({ state }) => state.read);
  const span = {
    after: Math.min(...reads.map(({ from }) => from)),
    before: Math.max(...reads.map(({ to }) => to)),
  };
  const nexts = states.flatMap(({ state }) => (state.nextRead ? [state.nextRead.to] : []));
  const next =
    nexts.length === 0
      ? 'not read again since'
      : `the next reading was ${nexts.length === states.length ? '' : 'at the earliest '}${timeText(Math.min(...nexts), now)}`;
  yield info(
    `as read ${intervalText(span, now)} ${zoneText(new Date(span.before))}; ${next}: what changed between is not known`,
  );
  const old = names(({ isCurrentLife }) => !isCurrentLife);
  if (old !== '') yield warning(`replaced since, so this is of the device before: ${old}`);
  const lossy = [...new Set(states.flatMap(({ state }) => state.lossy))];
  if (lossy.length > 0) yield info(`secrets are not kept: ${lossy.join(', ')}`);
  const left = [...new Set(states.flatMap(({ state }) => state.leftOut))];
  if (left.length > 0) yield info(`left out, because they move by themselves: ${left.join(', ')}`);
}

/** `user list --drift --at TIME`: each device as it is now, compared with itself then. */
export async function* driftSince(
  call: Call,
  at: string,
  resource: string,
  filter: Filter | undefined,
): AsyncGenerator<Output> {
  const { services } = call.shell;
  const time = await pastTime(services, at);
  const sessions = await call.sessions();
  const startedAt = services.now().getTime();
  const read = new Set<string>();
  let done = 0;
  for await (const one of call.read(sessions, resource)) {
    done += 1;
    const { ref: device } = one.session;
    if (one.ok) read.add(device.name);
    else yield { kind: 'error', error: one.error, device };
    const text = `reading ${resource}s: ${device.name} ${one.ok ? 'responded' : 'failed'}`;
    yield { kind: 'progress', done, total: sessions.length, text };
  }
  const asked = sessions.filter(({ ref }) => read.has(ref.name));
  const histories = yield* historiesOf(
    call,
    asked.map(({ ref }) => ref.name),
  );
  const events: Event[] = [];
  const compared: string[] = [];
  const comparedLives: Life[] = [];
  for (const { device, lives } of histories) {
    const ref = asked.find((session) => session.ref.name === device)?.ref;
    const fail = (text: string): Output => ({
      kind: 'error',
      error: new NotReadError(text),
      ...(ref && { device: ref }),
    });
    const current = lives.at(-1);
    const readings = current?.resources.get(resource)?.readings ?? [];
    const now = readings.at(-1);
    const then = readings.findLast(({ to }) => to <= time);
    const [first] = lives.flatMap((life) => life.resources.get(resource)?.readings ?? []);
    if (current === undefined || now === undefined || first === undefined || now.to < startedAt) {
      yield fail(
        'its present state is not kept, so it cannot be compared ("help settings": historyDays)',
      );
    } else if (then === undefined) {
      yield fail(
        first.to <= time
          ? `is another device since ${timeText(current.begin, services.now())} (certificate or address), and is not compared with the one before`
          : `${resource} was not read by ${timeText(time, services.now())}; the first reading is of ${timeText(first.to, services.now())}`,
      );
    } else if (then.keyField !== now.keyField && then.state.size > 0) {
      yield fail(
        `its ${resource}s are named by "${now.keyField}" since, then by "${then.keyField}": they cannot be compared`,
      );
    } else {
      compared.push(device);
      comparedLives.push(current);
      const place = { device, life: current.id, resource, after: then.from, before: now.to };
      const difference = differenceOf(then.state, now.state);
      const left = new Set(current.resources.get(resource)?.moving);
      if (difference) events.push(...changesBetween(place, difference, left, now.state.size));
    }
  }
  if (compared.length === 0) return;
  // A device may have been read last long before that time.
  const first = Math.min(...events.map(({ after, before }) => after ?? before));
  const authors = await Authors.since(services, first, comparedLives);
  const shown = authors
    .attribute(events)
    .filter((event) => filter === undefined || matches(filter, filteredBy(event), event.device));
  yield changesTable(call, shown, authors, {
    hasSuccess: true,
    hasDifferences: shown.length > 0,
  });
  const count = shown.length === 0 ? 'no changes' : counted(shown.length, 'change');
  yield message(
    shown.length === 0 && compared.length === sessions.length ? 'done' : 'info',
    `${count} since ${timeText(time, services.now())} on ${counted(compared.length, 'device')}`,
  );
}

/** Options that need the present. */
export function refuseWithAt(
  options: Partial<Record<'watchMs' | 'asCurl' | 'against' | 'countBy', unknown>>,
): void {
  const flags = {
    watchMs: '--watch',
    asCurl: '--as-curl',
    against: '--against',
    countBy: '--count-by',
  };
  for (const [key, flag] of Object.entries(flags)) {
    const value = options[key as keyof typeof flags];
    if (value !== undefined && value !== false) {
      throw new UsageError(`--at shows what was read then: leave out ${flag}`);
    }
  }
}
