import type { Credential } from '../device/credential.ts';
import { isRefusedLogin } from '../device/errors.ts';
import { DevshError } from '../errors.ts';
import { type Access, withoutAsking } from './access.ts';
import { DeviceSession } from './device-session.ts';

/** `unclear`: neither a login nor the refusal of one. */
export type LoginOutcome = 'accepted' | 'refused' | 'unclear';

/** Reads a list once with this credential, on a new connection; a 403 is a login. No gate: the caller spares others. */
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
