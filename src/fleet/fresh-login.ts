import type { Credential } from '../device/credential.ts';
import { LoginFailedError, UnauthorizedError } from '../device/errors.ts';
import { DevshError } from '../errors.ts';
import { type Access, withoutAsking } from './access.ts';
import { DeviceSession } from './device-session.ts';

/** `unclear`: neither a login nor the refusal of one. */
export type LoginOutcome = 'accepted' | 'refused' | 'unclear';

/**
 * Reads a list with this credential, or without one, once and on a new connection. A 403 comes after the
 * login, so it counts as one. The gate that keeps a refused login from other devices does not count here: the
 * caller sends each credential to this device alone.
 */
export async function tryLogin(
  { entry }: DeviceSession,
  access: Access,
  resource: string,
  credential: Credential | undefined,
): Promise<LoginOutcome | 'forbidden'> {
  const fresh = new DeviceSession(entry);
  const quiet: Access = {
    ...withoutAsking(access),
    credential: () => Promise.resolve(credential),
    admit: () => Promise.resolve(),
    settle: () => undefined,
  };
  try {
    await fresh.list(quiet, resource);
    return 'accepted';
  } catch (error) {
    if (!(error instanceof DevshError)) throw error;
    if (error instanceof LoginFailedError) return 'refused';
    if (!(error instanceof UnauthorizedError)) return 'unclear';
    return error.code === 'unauthorized' ? 'refused' : 'forbidden';
  } finally {
    await fresh.close();
  }
}
