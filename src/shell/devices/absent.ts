import { parseAddress } from '../../device/address.ts';
import { UnreachableError } from '../../device/errors.ts';
import { CancelledError, DevshError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { ShellSession } from '../session.ts';

/** The shortest time between two looks at one device. Between two devices there is a pause. */
const PERIOD_MS = 4_000;
const PAUSES_IN_PERIOD = 16;

/** Looks at one item after the other, first at the one that waits longest. Returns the function that ends it. */
export function lookInTurn<T extends object>(
  wanted: () => readonly T[],
  look: (item: T) => Promise<void>,
  periodMs = PERIOD_MS,
): () => void {
  const begun = new WeakMap<T, number>();
  const open = new Set<T>();
  const beganAt = (item: T): number => begun.get(item) ?? -Infinity;
  const timer = setInterval(() => {
    const now = performance.now();
    const [next] = wanted()
      .filter((item) => !open.has(item) && now - beganAt(item) >= periodMs)
      .sort((a, b) => beganAt(a) - beganAt(b));
    if (next === undefined) return;
    begun.set(next, now);
    open.add(next);
    void look(next).finally(() => open.delete(next));
  }, periodMs / PAUSES_IN_PERIOD).unref();
  return () => clearInterval(timer);
}

/** Connects to absent devices until they are back; sends no HTTP and no login. Returns the function that ends it. */
export function watchAbsent(
  { fleet }: ShellSession,
  onBack: (name: string) => void,
  periodMs = PERIOD_MS,
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
  const end = lookInTurn(wanted, look, periodMs);
  return () => {
    end();
    stop.abort(new CancelledError());
  };
}

/** Whether the same device answers. Without a check of the certificate nothing proves that. */
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
