import type { Plan } from '../../change/plan.ts';
import type { KeptRotations, RotatedAccount } from '../../change/rotate-step.ts';
import type { RotationStore } from '../../credentials/rotation-store.ts';
import type { SecondPlace } from '../access/new-secrets.ts';
import { CredentialError } from '../../errors.ts';
import type { WriteCall } from '../command.ts';

/** The kept secrets of a run that is resumed or settles others: devsh chooses none again. */
export async function keptRotations(call: WriteCall, plan: Plan): Promise<KeptRotations> {
  const [{ openSecondPlace }, sessions] = await Promise.all([
    import('../access/new-secrets.ts'),
    call.sessionsAt(plan.devices.map(({ device }) => device)),
  ]);
  const second = openSecondPlace(call, { run: plan.run, sessions, isNeeded: false });
  const runs = [plan.run, ...(plan.settles ?? [])];
  return rotationsIn(call, await call.rotations(), runs, second);
}

/** @param another generates a secret in place of a refused one */
export function rotationsIn(
  { access }: WriteCall,
  store: RotationStore,
  runs: readonly string[],
  second: SecondPlace | undefined,
  another: (account: RotatedAccount) => string | undefined = () => undefined,
): KeptRotations {
  const [own = ''] = runs;
  return {
    runs,
    read: (account) => store.read(account),
    async beforeSending(device, account, { secret, run = own }) {
      await second?.hand({ device, account, secret });
      await store.markSent(account, run);
    },
    async received(device, account, secret) {
      await store.keepPending(account, secret, { run: own });
      await second?.keep([{ device, account, secret }]);
      await second?.hand({ device, account, secret });
    },
    async another(device, account) {
      const secret = another(account);
      if (secret === undefined) return undefined;
      await second?.keep([{ device, account, secret }]);
      await store.keepPending(account, secret, { run: own });
      return secret;
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
      const { replaces } = await store.read(account);
      try {
        if (replaces !== undefined) await second?.handBack(account, replaces);
      } catch (error) {
        if (!(error instanceof CredentialError)) throw error;
        access.warn(`${account.address}: ${error.message}; it may still have the refused one`);
      }
    },
  };
}
