import type { Credential } from '../device/credential.ts';
import { isRefusedLogin } from '../device/errors.ts';
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
    if (isRefusedLogin(error)) return 'refused';
    return error.code === 'forbidden' ? 'forbidden' : 'unclear';
  } finally {
    await fresh.close();
  }
}
