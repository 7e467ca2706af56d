import type { Credential } from '../device/credential.ts';
import { isRefusedLogin } from '../device/errors.ts';
import { DevshError } from '../errors.ts';
import { type Access, withoutAsking } from './access.ts';
import { DeviceSession } from './device-session.ts';

/** `unclear`: the response shows neither a login nor a refusal. */
export type LoginOutcome = 'accepted' | 'refused' | 'unclear';

/** Reads a list once on a new connection. A 403 is a login. The gate is not asked: the caller limits refusals itself. */
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
