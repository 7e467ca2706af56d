import { setTimeout as sleep } from 'node:timers/promises';
import { parseAddress } from '../../device/address.ts';
import { UnreachableError } from '../../device/errors.ts';
import { CancelledError, DevshError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { ShellSession } from '../session.ts';

/** A device is looked at this often; one that does not answer in this time is looked at again. */
const PERIOD_MS = 4_000;
/** So many devices are looked at in one period; more of them in turn. */
const MOST_IN_PERIOD = 20;
/** Between two devices, if there are more. */
const GAP_MS = 250;

/** Time, which tests replace. */
export interface Clock {
  now(): number;
  /** Resolves early if the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

const CLOCK: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined),
};

/** Looks at one item after the other, the one first that was not looked at for longest. Ends with the signal. */
export async function lookInTurn<T>(
  wanted: () => readonly T[],
  look: (item: T) => Promise<void>,
  signal: AbortSignal,
  clock = CLOCK,
): Promise<void> {
  const begun = new Map<T, number>();
  const open = new Set<T>();
  while (!signal.aborted) {
    const items = wanted();
    for (const item of begun.keys()) if (!items.includes(item)) begun.delete(item);
    const beganAt = (item: T): number => begun.get(item) ?? -Infinity;
    const [next] = items
      .filter((item) => !open.has(item) && clock.now() - beganAt(item) >= PERIOD_MS)
      .sort((a, b) => beganAt(a) - beganAt(b));
    if (next !== undefined) {
      begun.set(next, clock.now());
      open.add(next);
      void look(next).finally(() => open.delete(next));
    }
    const gapMs = items.length > MOST_IN_PERIOD ? GAP_MS : PERIOD_MS / MOST_IN_PERIOD;
    await clock.sleep(items.length === 0 ? PERIOD_MS : gapMs, signal);
  }
}

/**
 * Notices unreachable devices that are back, each one once: connects, checks the certificate as before, and
 * disconnects. Sends no HTTP and no login, and resumes nothing. Returns the function that ends it.
 */
export function watchAbsent(
  { fleet }: ShellSession,
  onBack: (name: string) => void,
  clock = CLOCK,
): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const noticed = new Set<DeviceSession>();
  const wanted = (): readonly DeviceSession[] => {
    const absent = fleet.connected.filter(
      ({ state }) => state.kind === 'failed' && state.error instanceof UnreachableError,
    );
    for (const session of noticed) if (!absent.includes(session)) noticed.delete(session);
    return absent.filter((session) => !noticed.has(session));
  };
  const look = async (session: DeviceSession): Promise<void> => {
    if (!(await isBack(session, signal)) || !wanted().includes(session)) return;
    noticed.add(session);
    onBack(session.ref.name);
  };
  void lookInTurn(wanted, look, signal, clock);
  return () => stop.abort(new CancelledError());
}

/** Whether it is the same device: what is not checked proves nothing. */
async function isBack({ ref, trust, route }: DeviceSession, signal: AbortSignal): Promise<boolean> {
  if (trust === undefined || trust.kind === 'insecure') return false;
  const { scanCertificate } = await import('../../device/network.ts');
  try {
    const options = { connectTimeoutMs: PERIOD_MS, signal, route, trust };
    await scanCertificate(ref, parseAddress(ref.address), options);
    return true;
  } catch (error) {
    if (!(error instanceof DevshError)) throw error;
    return false;
  }
}
