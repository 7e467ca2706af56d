import { isOwnRotation } from '../../change/guard.ts';
import { explicitChanges } from '../../change/pending.ts';
import { isOwing, type Plan } from '../../change/plan.ts';
import { type KeptRotations, rotatedAccount } from '../../change/rotate-step.ts';
import { rotationOf } from '../../change/step.ts';
import type { RotationStore } from '../../credentials/rotation-store.ts';
import { Credential, type RotatedAccount } from '../../device/credential.ts';
import { isRefusedLogin } from '../../device/errors.ts';
import { accountsOf } from '../../device/profile.ts';
import type { DeviceRef } from '../../device/record.ts';
import { DevshError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { fanOut } from '../../fleet/fan-out.ts';
import { tryLogin } from '../../fleet/fresh-login.ts';
import { someOf } from '../../text/one-line.ts';
import { visible } from '../../text/visible.ts';
import {
  devicesWithSameLogin,
  type NewSecrets,
  newSecrets,
  openSecondPlace,
  type SecondPlace,
} from '../access/new-secrets.ts';
import type { WriteCall } from '../command.ts';

/** An account whose secret the run replaces, also on a device that could not be read. */
interface Item {
  readonly device: DeviceRef;
  readonly account: RotatedAccount;
  readonly session: DeviceSession | undefined;
  readonly isOwn: boolean;
}

/**
 * Checks where the new secrets of a plan can be kept, before the user confirms the plan. Throws a `RefusedError` for a
 * place that would lose them. `keep` chooses the secrets and stores them in both places before the first request.
 * A run that continues another one uses the secrets of that run.
 */
export async function prepareRotations(
  call: WriteCall,
  plan: Plan,
  sessions: readonly DeviceSession[],
): Promise<{ readonly details: readonly string[]; keep(): Promise<KeptRotations> }> {
  const isNew = plan.of === undefined;
  // A continued run chooses no secrets. Each of its steps checks itself that its account is still the same.
  const items = isNew ? itemsOf(plan, sessions) : [];
  const steps = plan.devices.flatMap((device) => device.steps);
  const isToken =
    items.some(({ account }) => account.kind === 'token') ||
    steps.some((step) => rotationOf(step)?.kind === 'token');
  const run = plan.of?.run ?? plan.run;
  const secrets = isNew && !isToken ? newSecrets(call) : undefined;
  const own = items.flatMap(({ isOwn, session }) => (isOwn && session) || []);
  const sharing = isNew ? await devicesWithSameLogin(call, own) : [];
  const isNeeded = isNew && (isToken || own.length > 0 || secrets?.isGenerated === true);
  const second = openSecondPlace(call, { run, sessions, isNeeded });
  const isAlone = sessions.some(({ entry }) => entry.credentialStoreCommand === undefined);
  const details = [
    ...(sharing.length > 0 ? [`these keep the old password: ${someOf(sharing.map(visible))}`] : []),
    ...(isToken && !isNew && isAlone
      ? [
          'new tokens are kept on this machine alone: only "rotate token" itself writes the --escrow file',
        ]
      : []),
  ];
  const keep = async (): Promise<KeptRotations> => {
    const store = await call.rotations();
    if (isNew) await keepNew(call, store, items, { run, secrets, second });
    return rotationsIn(call, store, run, second);
  };
  return { details, keep };
}

function itemsOf({ devices }: Plan, sessions: readonly DeviceSession[]): readonly Item[] {
  return devices.flatMap((plan) => {
    const { device, steps, changes = [] } = plan;
    const session = sessions.find(({ ref }) => ref.address === device.address);
    const pending = (isOwing(plan) ? changes : []).flatMap((one) =>
      explicitChanges(devices, one).flatMap(({ change, key }) =>
        change.action === 'set' && change.rotation
          ? { key, purpose: { kind: 'rotate' as const, rotation: change.rotation } }
          : [],
      ),
    );
    return [...steps.filter(rotationOf), ...pending].map((about): Item => {
      const login = { ref: device, credential: session?.credential };
      const account = rotatedAccount(login, about, session?.cached(accountsOf(session.profile)));
      return { device, session, account, isOwn: isOwnRotation(about, session?.credential) };
    });
  });
}

async function keepNew(
  call: WriteCall,
  store: RotationStore,
  items: readonly Item[],
  { run, secrets, second }: { run: string; secrets: NewSecrets | undefined; second: SecondPlace },
): Promise<void> {
  const all = await store.readAll(items.map(({ account }) => account));
  const chosen = [];
  for (const [at, item] of items.entries()) {
    const { pending, isSent, run: earlier = '?', replaces, current } = all[at] ?? {};
    const { account, device, session, isOwn } = item;
    if (isSent === true && pending !== undefined) {
      // The device may use this password already, so this run completes the earlier one.
      chosen.push({ ...item, secret: pending, replaces });
      call.access.warn(
        `${device.name}: the new password of ${visible(account.user)} is that of run ${earlier}, which had not ended`,
      );
    } else if (secrets !== undefined) {
      const inUse = isOwn ? session?.credential?.revealed().secret : undefined;
      // No other command may log in with it until the outcome is known, also if it is another account.
      const secret = await secrets.secretFor(item);
      chosen.push({ ...item, secret, replaces: inUse ?? current });
    }
  }
  await second.keep(chosen);
  await Promise.all(
    chosen.map(({ account, secret, replaces }) =>
      store.keepPending(account, secret, { run, replaces }),
    ),
  );
}

function rotationsIn(
  { access }: WriteCall,
  store: RotationStore,
  ownRun: string,
  second: SecondPlace,
): KeptRotations {
  return {
    run: ownRun,
    read: async (account) => ({
      ...(await store.read(account)),
      lastTried: await store.lastTried(account),
    }),
    trying: (account, secret) => store.trying(account, secret),
    async beforeSending(device, account, secret) {
      await second.hand({ device, account, secret });
      await store.markSent(account, ownRun);
    },
    async received(device, account, secret) {
      await store.keepPending(account, secret, { run: ownRun });
      await second.keep([{ device, account, secret }]);
      await second.hand({ device, account, secret });
    },
    async promote(account, options) {
      await store.promote(account, options);
      // The typed secret no longer opens the device, and the new one is stored.
      for (const [entry, { user }] of options.isLogin ? access.typed : []) {
        if (entry.address === account.address && user === account.user) access.typed.delete(entry);
      }
    },
    drop: (account) => store.dropPending(account),
    async keepsOld(account) {
      try {
        await store.endDoubts([account]);
        const { replaces } = await store.read(account);
        if (replaces !== undefined) await second.handBack(account, replaces);
      } catch (error) {
        if (!(error instanceof DevshError)) throw error;
        access.warn(`${account.address}: ${error.message}; it may still have the refused one`);
      }
    },
  };
}

/**
 * Opens devices with another stored login if the one in use may no longer work: with a secret of a rotation that has
 * not ended, or with the previous secret if the device was restored from a backup.
 */
export async function findLogins(
  call: WriteCall,
  sessions: readonly DeviceSession[],
): Promise<void> {
  const store = await call.rotations();
  const accounts = (await store.list()).filter(({ kind }) => kind === 'basic');
  const older = new Map<DeviceSession, Credential>();
  const find = async (session: DeviceSession): Promise<void> => {
    await session.ensureOpen(call.access);
    const { credential, ref } = session;
    const { kind, user = '', secret: inUse = '' } = credential?.revealed() ?? {};
    const kept = accounts.find((one) => one.address === ref.address && one.user === user);
    if (kept === undefined || kind !== 'basic') return;
    const { pending, isSent = false, replaces, previous } = kept;
    const other = [isSent ? pending : undefined, replaces].find(
      (secret) => secret !== undefined && secret !== inUse,
    );
    if (other === undefined) {
      const isOther = previous !== undefined && previous !== inUse;
      if (isOther) older.set(session, Credential.basic(user, previous));
      return;
    }
    const nameOf = (secret: string) => (secret === pending ? 'new' : 'old');
    // devsh may have been killed before it read that the device refused the last secret: try the other one first.
    const first = (await store.lastTried(kept)) === nameOf(other) ? inUse : other;
    await store.trying(kept, nameOf(first));
    const login = Credential.basic(user, first);
    const outcome = await tryLogin(session, call.access, accountsOf(session.profile), login);
    const next = outcome === (first === other ? 'accepted' : 'refused') ? other : inUse;
    if (next !== first) await store.trying(kept, nameOf(next));
    if (next === other) await session.openWith(call.access, Credential.basic(user, next));
  };
  const begun = sessions.filter(({ ref }) => accounts.some((one) => one.address === ref.address));
  // `find` emits nothing, so `next` resolves when all devices are done.
  await fanOut(begun, call.readWidth, find, call.io.signal).next();
  // A login that two devices refuse goes to no third one, as in each other command.
  const access = call.accessWithoutAsking();
  for await (const { session, ...read } of call.read([...older.keys()], 'user', { access })) {
    const login = !read.ok && isRefusedLogin(read.error) ? older.get(session) : undefined;
    if (login !== undefined) await session.openWith(call.access, login);
  }
}
