import { parseAddress } from '../../device/address.ts';
import { UnreachableError } from '../../device/errors.ts';
import { CancelledError, DevshError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { fanOut } from '../../fleet/fan-out.ts';
import { CONNECT_TIMEOUT_MS } from '../access/certificates.ts';
import type { ShellSession } from '../session.ts';
import { nextWait } from '../watch.ts';

/** The first pause; the next ones grow while no device comes back. */
const FIRST_WAIT_MS = 5_000;

/** Devices looked at in parallel. */
const WIDTH = 8;

/**
 * Notices unreachable devices that are back, each one once: connects, checks the certificate as before, and
 * disconnects. Sends no HTTP and no login, and resumes nothing. Returns the function that ends it.
 */
export function watchAbsent(
  { fleet }: ShellSession,
  onBack: (names: readonly string[]) => void,
  firstMs = FIRST_WAIT_MS,
): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const noticed = new Set<DeviceSession>();
  let waitMs = firstMs;
  let timer: NodeJS.Timeout | undefined;
  const plan = (): void => {
    timer = setTimeout(() => void round(), waitMs).unref();
  };
  const round = async (): Promise<void> => {
    const absent = fleet.connected.filter(
      ({ state }) => state.kind === 'failed' && state.error instanceof UnreachableError,
    );
    for (const session of noticed) if (!absent.includes(session)) noticed.delete(session);
    const wanted = absent.filter((session) => !noticed.has(session));
    const back: DeviceSession[] = [];
    const look = async (session: DeviceSession, emit: (found: DeviceSession) => void) => {
      if (await isBack(session, signal)) emit(session);
    };
    for await (const session of fanOut(wanted, WIDTH, look, signal)) back.push(session);
    if (signal.aborted) return;
    for (const session of back) noticed.add(session);
    if (back.length > 0) onBack(back.map(({ ref }) => ref.name));
    waitMs = nextWait(firstMs, waitMs, wanted.length === 0 || back.length > 0);
    plan();
  };
  plan();
  return () => {
    stop.abort(new CancelledError());
    clearTimeout(timer);
  };
}

/** Whether it is the same device: what is not checked proves nothing. */
async function isBack({ ref, trust, route }: DeviceSession, signal: AbortSignal): Promise<boolean> {
  if (trust === undefined || trust.kind === 'insecure') return false;
  const { scanCertificate } = await import('../../device/network.ts');
  try {
    const options = { connectTimeoutMs: CONNECT_TIMEOUT_MS, signal, route, trust };
    await scanCertificate(ref, parseAddress(ref.address), options);
    return true;
  } catch (error) {
    if (!(error instanceof DevshError)) throw error;
    return false;
  }
}
