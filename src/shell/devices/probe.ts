import { routeText } from '../../device/route/route.ts';
import type { DevshError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { pluralOf } from '../../text/one-line.ts';
import type { Call } from '../command.ts';
import { awaiting, type Output, table, type TableOutput } from '../output.ts';
import { deviceFacts } from './device-facts.ts';

/** `connect` trusts the certificate, logs in, and reads this resource. */
const PROBED_RESOURCE = 'user';

/** Requests the users of each device. Reports a failure only if it differs from the last one of the device. */
export async function* askAll(
  call: Call,
  sessions: readonly DeviceSession[],
): AsyncGenerator<Output> {
  const wasFailing = new Set(sessions.filter(({ state }) => state.kind === 'failed'));
  const failed = new Map<DeviceSession, DevshError>();
  for await (const read of call.read(sessions, PROBED_RESOURCE)) {
    if (!read.ok && !wasFailing.has(read.session)) failed.set(read.session, read.error);
  }
  yield* failureOutputs(sessions, failed);
}

/** Reports failures in order, each cause once. */
function* failureOutputs(
  sessions: readonly DeviceSession[],
  failed: ReadonlyMap<DeviceSession, DevshError>,
): Generator<Output> {
  for (const session of sessions) {
    const error = failed.get(session);
    if (error !== undefined) yield { kind: 'error', error, device: session.ref };
  }
}

/** Reads the users of each device. Reports failures and the states of all devices at the end. */
export async function* probe(
  call: Call,
  sessions: readonly DeviceSession[],
): AsyncGenerator<Output> {
  const failed = new Map<DeviceSession, DevshError>();
  yield awaiting('connecting', new Set(sessions), sessions.length);
  for await (const read of call.read(sessions, PROBED_RESOURCE)) {
    yield awaiting('connecting', read.awaited, read.total);
    if (!read.ok) failed.set(read.session, read.error);
  }
  yield* failureOutputs(sessions, failed);
  const hasSuccess = sessions.some(({ state }) => state.kind === 'ready');
  yield { ...devicesTable(sessions), hasSuccess };
  // The table does not wait for the description of the devices.
  const { learnAllQuietly } = await import('../devices/learning.ts');
  call.shell.inBackground(learnAllQuietly(call, sessions, PROBED_RESOURCE));
}

/** @param isFull also what `connect` leaves out: latency, profile, observed facts */
export function devicesTable(sessions: readonly DeviceSession[], isFull = false): TableOutput {
  const facts = sessions.map(deviceFacts);
  const others = facts.flatMap(({ counts }) => counts.map(({ resource }) => resource));
  const resources = [...new Set([PROBED_RESOURCE, ...(isFull ? others : [])])];
  const hasFailed = sessions.some(({ state }) => state.kind === 'failed');
  return table(
    // Not `devices`: in JSON this key contains the devices that were read.
    'connections',
    [
      'device',
      'address',
      'state',
      ...(isFull && hasFailed ? ['since', 'reason'] : []),
      isFull && { key: 'latency_ms', title: 'MS' },
      ...resources.map(pluralOf),
      { key: 'account', title: 'AS' },
      { key: 'trust', title: 'CERTIFICATE' },
      isFull && 'profile',
      facts.some(({ route }) => route !== undefined) && { key: 'route', title: 'REACHED BY' },
    ],
    sessions.map((session, index) => {
      const { state } = session;
      const { account, trust, latencyMs, profile } = facts[index] ?? deviceFacts(session);
      return {
        device: session.ref.name,
        address: session.ref.address,
        state: state.kind === 'failed' ? state.error.code : STATES[state.kind],
        ...(isFull && failureFields(session)),
        ...(isFull && { latency_ms: latencyMs === undefined ? null : Math.round(latencyMs) }),
        ...Object.fromEntries(
          resources.map((name) => [pluralOf(name), session.cached(name)?.length ?? null]),
        ),
        account: account ?? null,
        trust: trust ?? null,
        ...(isFull && { profile }),
        route: session.route === undefined ? null : routeText(session.route),
      };
    }),
  );
}

function failureFields({ state, ref }: DeviceSession) {
  if (state.kind !== 'failed') return { since: null, reason: null };
  // The row already shows the name.
  const reason = state.error.message.replace(`${ref.name}: `, '');
  return { since: state.since.toISOString(), reason };
}

const STATES = { new: 'not connected', connecting: 'connecting', ready: 'connected' } as const;
