import { basename } from 'node:path';
import { isChangedCertificate, UnreachableError, UntrustedError } from '../../device/errors.ts';
import type { DeviceRef } from '../../device/record.ts';
import { routeText } from '../../device/route/route.ts';
import type { DevshError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { Call } from '../command.ts';
import { awaiting, type Output, table, type TableOutput } from '../output.ts';

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

type Failures = ReadonlyMap<DeviceSession, DevshError>;

/** Reports failures in order, each cause once. */
function* failureOutputs(sessions: readonly DeviceSession[], failed: Failures): Generator<Output> {
  for (const session of sessions) {
    const error = failed.get(session);
    if (error !== undefined) yield { kind: 'error', error, device: session.ref };
  }
}

/** Reads the users of each device and reports its state. `ask` answers questions; returns what to read again. */
export async function* probe(
  call: Call,
  sessions: readonly DeviceSession[],
  ask?: (failed: Failures) => AsyncGenerator<Output, readonly DeviceSession[]>,
): AsyncGenerator<Output> {
  const failed = new Map<DeviceSession, DevshError>();
  const read = async function* (devices: readonly DeviceSession[]): AsyncGenerator<Output> {
    for (const session of devices) failed.delete(session);
    yield awaiting('connecting', new Set(devices), devices.length);
    for await (const one of call.read(devices, PROBED_RESOURCE)) {
      yield awaiting('connecting', one.awaited, one.total);
      if (!one.ok) failed.set(one.session, one.error);
    }
  };
  for (let next = sessions; next.length > 0; next = ask ? yield* ask(failed) : [])
    yield* read(next);
  yield* failureOutputs(sessions, failed);
  const hasSuccess = sessions.some(({ state }) => state.kind === 'ready');
  yield { ...devicesTable(sessions), hasSuccess };
  // The table does not wait for the description of the devices.
  const { learnAllQuietly } = await import('../devices/learning.ts');
  call.shell.inBackground(learnAllQuietly(call, sessions, PROBED_RESOURCE));
}

function devicesTable(sessions: readonly DeviceSession[]): TableOutput {
  const rows = sessions.map((session) => ({
    ...{ name: session.ref.name, address: session.ref.address },
    ...sessionFields(session),
  }));
  const hasRoute = rows.some(({ route }) => route !== null);
  const columns = ['name', 'address', 'state', 'users', AS, 'trust', hasRoute && REACHED_BY];
  return table('inventory', columns, rows);
}

export const AS = { key: 'account', title: 'AS' };
export const REACHED_BY = { key: 'route', title: 'REACHED BY' };

/** The cells of a device that its session fills. A device without a session is not connected. */
export function sessionFields(session: DeviceSession | undefined) {
  const { state, ref, lastRead } = session ?? { state: { kind: 'new' } as const };
  const facts = session && deviceFacts(session);
  const failure = state.kind === 'failed' ? state : undefined;
  return {
    state: state.kind === 'failed' ? state.error.code : STATES[state.kind],
    since: failure?.since.toISOString() ?? null,
    reason: failure && ref ? reasonText(failure.error, ref) : null,
    trust: facts?.trust ?? null,
    last_read: lastRead?.toISOString() ?? null,
    users: session?.cached(PROBED_RESOURCE)?.length ?? null,
    account: facts?.account ?? null,
    latency_ms: facts?.latencyMs === undefined ? null : Math.round(facts.latencyMs),
    route: facts?.route ?? null,
  };
}

/** The message without name and address, which the row shows already. */
function reasonText({ message }: DevshError, { name, address }: DeviceRef): string {
  const start =
    [`${name}: ${address} `, `${name}: `].find((text) => message.startsWith(text)) ?? '';
  return message.slice(start.length);
}

const STATES = { new: 'not connected', connecting: 'connecting', ready: 'connected' } as const;

export const CHANGED = 'CHANGED';
export const NOT_CHECKED = 'NOT CHECKED';

export function caText(file: string): string {
  return `CA ${basename(file)}`;
}

/** The known facts about a device of the session, besides its state. Their texts are not escaped yet. */
export type SessionFacts = ReturnType<typeof deviceFacts>;

export function deviceFacts(session: DeviceSession) {
  const { state, profile, entry, route } = session;
  const resources = new Set([...Object.keys(profile.resources), ...(profile.offers ?? [])]);
  return {
    latencyMs: state.kind === 'ready' ? state.latencyMs : undefined,
    account: session.account,
    trust: trustText(session),
    profile: entry.profile ?? 'documented',
    // Undefined for a direct route.
    route: route === undefined || route.kind === 'direct' ? undefined : routeText(route),
    counts: [...resources].flatMap((resource) => {
      const records = session.cached(resource);
      return records === undefined ? [] : [{ resource, count: records.length }];
    }),
  };
}

/** How the certificate is checked; undefined before the first check. */
function trustText(session: DeviceSession): string | undefined {
  const { trust, state } = session;
  if (state.kind === 'failed' && isChangedCertificate(state.error)) return CHANGED;
  switch (trust?.kind) {
    case undefined:
      return undefined;
    case 'pinned':
      return 'pinned';
    case 'ca':
      return hasProof(session) ? caText(trust.file) : undefined;
    case 'system':
      return hasProof(session) ? 'system CA' : undefined;
    case 'insecure':
      return NOT_CHECKED;
  }
}

/** Whether the device has presented a certificate that a CA signed. A pin is a proof in itself. */
function hasProof({ state }: DeviceSession): boolean {
  if (state.kind !== 'failed') return state.kind === 'ready';
  return !(state.error instanceof UntrustedError || state.error instanceof UnreachableError);
}
