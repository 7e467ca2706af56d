import { accountsOf } from '../../device/profile.ts';
import type { Plan } from '../../change/plan.ts';
import { type KeptRotations, rotationOf } from '../../change/rotation.ts';
import type { RotationStore } from '../../credentials/rotation-store.ts';
import { Credential } from '../../device/credential.ts';
import { isRefusedLogin } from '../../device/errors.ts';
import type { SecondPlace } from '../access/new-secrets.ts';
import { DevshError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { tryLogin } from '../../fleet/fresh-login.ts';
import type { WriteCall } from '../command.ts';

/** The kept secrets of a run that is resumed: devsh chooses none again. */
export async function keptRotations(call: WriteCall, plan: Plan): Promise<KeptRotations> {
  const [{ openSecondPlace }, sessions] = await Promise.all([
    import('../access/new-secrets.ts'),
    call.sessionsAt(plan.devices.map(({ device }) => device)),
  ]);
  const run = plan.of?.run ?? plan.run;
  const second = openSecondPlace(call, { run, sessions, isNeeded: false });
  const steps = plan.devices.flatMap((device) => device.steps);
  const makesTokens = steps.some((step) => rotationOf(step)?.answer);
  if (makesTokens && sessions.some(({ entry }) => entry.credentialStoreCommand === undefined)) {
    call.access.warn(
      'new tokens are kept on this machine alone: only "rotate token" itself writes the --escrow file',
    );
  }
  return rotationsIn(call, await call.rotations(), run, second);
}

export function rotationsIn(
  { access }: WriteCall,
  store: RotationStore,
  ownRun: string,
  second: SecondPlace | undefined,
): KeptRotations {
  return {
    run: ownRun,
    read: async (account) => ({
      ...(await store.read(account)),
      lastTried: await store.lastTried(account),
    }),
    trying: (account, secret) => store.trying(account, secret),
    async beforeSending(device, account, secret) {
      await second?.hand({ device, account, secret });
      await store.markSent(account, ownRun);
    },
    async received(device, account, secret) {
      await store.keepPending(account, secret, { run: ownRun });
      await second?.keep([{ device, account, secret }]);
      await second?.hand({ device, account, secret });
    },
    async promote(account, options) {
      await store.promote(account, options);
      // What the user typed no longer opens the device, and the new one is kept already.
      for (const [entry, { user }] of options.isLogin ? access.typed : []) {
        if (entry.address === account.address && user === account.user) access.typed.delete(entry);
      }
    },
    drop: (account) => store.dropPending(account),
    async keepsOld(account) {
      try {
        await store.endDoubts([account]);
        const { replaces } = await store.read(account);
        if (replaces !== undefined) await second?.handBack(account, replaces);
      } catch (error) {
        if (!(error instanceof DevshError)) throw error;
        access.warn(`${account.address}: ${error.message}; it may still have the refused one`);
      }
    },
  };
}

/**
 * Opens devices whose login in use may no longer work with another kept one: that of a rotation that has not
 * ended, or the previous one if the device is back from a backup.
 */
export async function findLogins(
  call: WriteCall,
  sessions: readonly DeviceSession[],
): Promise<void> {
  const store = await call.rotations();
  const accounts = await store.list();
  const older = new Map<DeviceSession, Credential>();
  for (const session of sessions) {
    await session.ensureOpen(call.access);
    const { credential, ref } = session;
    const { kind, user = '', secret: inUse = '' } = credential?.revealed() ?? {};
    const kept = accounts.find(
      (one) => one.address === ref.address && one.user === user && one.kind === kind,
    );
    if (credential === undefined || kept === undefined || kind !== 'basic') continue;
    const { pending, isSent = false, replaces, previous } = kept;
    const other = [isSent ? pending : undefined, replaces].find(
      (secret) => secret !== undefined && secret !== inUse,
    );
    if (other === undefined) {
      const isOther = previous !== undefined && previous !== inUse;
      if (isOther) older.set(session, Credential.basic(user, previous));
      continue;
    }
    const nameOf = (secret: string) => (secret === pending ? 'new' : 'old');
    // The one that was tried last may have been refused, and devsh killed before it saw that.
    const first = (await store.lastTried(kept)) === nameOf(other) ? inUse : other;
    await store.trying(kept, nameOf(first));
    const login = Credential.basic(user, first);
    const outcome = await tryLogin(session, call.access, accountsOf(session.profile), login);
    const next = outcome === (first === other ? 'accepted' : 'refused') ? other : inUse;
    if (next !== first) await store.trying(kept, nameOf(next));
    if (next === other) await session.openWith(call.access, Credential.basic(user, next));
  }
  // As each other command does: a login that two devices refuse goes to no third one.
  const access = call.accessWithoutAsking();
  for await (const { session, ...read } of call.read([...older.keys()], 'user', { access })) {
    const login = !read.ok && isRefusedLogin(read.error) ? older.get(session) : undefined;
    if (login !== undefined) await session.openWith(call.access, login);
  }
}
