import type { CredentialOrigin } from '../../credentials/sources.ts';
import {
  LoginFailedError,
  UnauthorizedError,
  UnreachableError,
  UntrustedError,
} from '../../device/errors.ts';
import { CredentialError, DevshError, expectedError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import type { Call } from '../command.ts';
import { awaiting, type Output, table, success } from '../output.ts';

type CheckResult =
  'ok' | 'refused' | 'no login' | 'not tried' | 'unreachable' | 'not trusted' | 'failed';

export const ORIGIN_COLUMNS = ['device', 'address', 'source', 'user', 'kind'];

/** Tries each login with one GET, without a question. After two refusals the gate sends a login to no other device. */
export async function* checkLogins(
  call: Call,
  sessions: readonly DeviceSession[],
): AsyncGenerator<Output> {
  const origins = await originsOf(call, sessions);
  const access = call.accessWithoutAsking();
  const results = new Map<DeviceSession, CheckResult>();
  // Stored logins may have changed since the device was opened.
  await Promise.all(sessions.map((session) => session.close()));
  for await (const read of call.read(sessions, 'user', { access })) {
    results.set(read.session, read.ok ? 'ok' : resultOf(read.error, origins.get(read.session)));
    yield awaiting('trying logins', read.awaited, read.total);
    if (!read.ok) yield { kind: 'error', error: read.error, device: read.session.ref };
  }
  yield table(
    'logins',
    [...ORIGIN_COLUMNS, { key: 'result', title: 'LOGIN' }],
    sessions.map((session) => {
      const used = session.credential;
      const origin = origins.get(session);
      return {
        device: session.ref.name,
        address: session.ref.address,
        source: origin?.source ?? null,
        user: used?.user ?? origin?.user ?? null,
        kind: used?.kind ?? origin?.kind ?? null,
        result: results.get(session) ?? 'not tried',
      };
    }),
    { hasSuccess: [...results.values()].includes('ok') },
  );
}

/** Returns where the logins come from. Offers first to unlock a vault that may contain one. */
async function originsOf(
  call: Call,
  sessions: readonly DeviceSession[],
): Promise<Map<DeviceSession, CredentialOrigin>> {
  const { access, credentials, shell } = call;
  const { vault } = shell.services;
  const look = async (): Promise<Map<DeviceSession, CredentialOrigin>> => {
    const found = sessions.map(
      async (session) => [session, await originOf(call, session)] as const,
    );
    return new Map(await Promise.all(found));
  };
  const origins = await look();
  const needsVault = [...origins.values()].some(({ source }) => source === 'vault');
  if (!needsVault || vault.isUnlocked) return origins;
  const isOpen = await credentials.unlockVault(access.askPassphrase);
  return isOpen ? look() : origins;
}

/** Returns where the login of a device comes from. A source that cannot be read becomes a remark. */
export async function originOf(
  { access }: Call,
  session: DeviceSession,
): Promise<CredentialOrigin> {
  const origin = await access.origin(session.entry).catch(expectedError);
  return origin instanceof DevshError ? { source: undefined, note: origin.message } : origin;
}

function resultOf(error: DevshError, origin: CredentialOrigin | undefined): CheckResult {
  if (error instanceof UnauthorizedError || error instanceof LoginFailedError) return 'refused';
  if (error instanceof CredentialError) {
    return origin?.source === undefined ? 'no login' : 'not tried';
  }
  if (error instanceof UntrustedError) return 'not trusted';
  return error instanceof UnreachableError ? 'unreachable' : 'failed';
}

/** Offers to keep the credentials that the user typed and a device accepted. */
export async function* offerToSave(call: Call): AsyncGenerator<Output> {
  const { access, credentials, io } = call;
  const typed = [...access.typed];
  access.typed.clear();
  const { settings } = call.shell.services;
  if (typed.length === 0 || io.ask === undefined || settings.get('saveCredentials') !== 'ask')
    return;
  const store = await credentials.placeToStore();
  if (store === undefined) return;
  const where = typed.map(([{ name }]) => name).join(', ');
  const answer = await io.ask({
    kind: 'confirm',
    text: `Keep the login for ${where} in the ${store}? Type y to keep it:`,
    expected: 'y',
    isLate: io.asksLater === true,
  });
  if (answer !== 'y') return;
  try {
    const to = { to: store, askPassphrase: access.askPassphrase };
    for (const [{ name, address }, credential] of typed) {
      await credentials.store({ name, address }, credential.revealed(), to);
    }
    yield success(`kept the login for ${where} in the ${store}`);
  } catch (error) {
    if (!(error instanceof DevshError)) throw error;
    yield { kind: 'error', error };
  }
}
