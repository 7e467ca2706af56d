import { join } from 'node:path';
import { withLock, type LockOptions } from './lock.ts';

/** So long one devsh waits for another that writes to the same device. */
const WRITE_WAIT_MS = 120_000;
const WRITE_STALE_MS = 600_000;

/**
 * Runs `work` while no other devsh with the same state folder writes to this device (`host:port`).
 * Throws SettingsError when another one keeps it for too long, CancelledError when that is not waited for.
 */
export function withWriteLock<T>(
  stateFolder: string,
  address: string,
  work: () => Promise<T>,
  waiting: Pick<LockOptions, 'signal' | 'onWait'> = {},
): Promise<T> {
  return withLock(join(stateFolder, 'locks', address.replace(/[^\w.-]/g, '_')), work, {
    waitMs: WRITE_WAIT_MS,
    staleMs: WRITE_STALE_MS,
    purpose: `cannot write to ${address} now`,
    ...waiting,
  });
}
