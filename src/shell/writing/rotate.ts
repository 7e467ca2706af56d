import type { Change, Target } from '../../change/change.ts';
import { explicitChanges } from '../../change/pending.ts';
import { type DevicePlan, isOwing, type Plan, stepCount } from '../../change/plan.ts';
import { OWN_TOKEN, rotatedAccount } from '../../change/rotate-step.ts';
import { isOwnRotation } from '../../change/guard.ts';
import type { KeptRotations } from '../../change/rotation.ts';
import type { RotatedAccount } from '../../device/credential.ts';
import type { RotationStore } from '../../credentials/rotation-store.ts';
import type { DeviceRef } from '../../device/record.ts';
import { RefusedError, UsageError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { MASK, someOf } from '../../text/one-line.ts';
import { visible } from '../../text/visible.ts';
import {
  newSecrets,
  type NewSecrets,
  devicesWithSameLogin,
  openSecondPlace,
  type SecondPlace,
} from '../access/new-secrets.ts';
import { accountResources } from '../access/access.ts';
import { accountsOf } from '../../device/profile.ts';
import { bothKeyAndWhere } from '../arguments.ts';
import type { Call } from '../command.ts';
import type { ROTATE } from '../grammar/options.ts';
import { type Output, warning } from '../output.ts';
import { findLogins, rotationsIn } from './kept-rotations.ts';
import { refuseReadOnly } from './consent.ts';
import { write, type WriteIntent } from './write.ts';
import type { Rotation } from '../../change/step.ts';

type RotateCall = Call<(typeof ROTATE)[number]>;

/** An account that the run rotates, also on a device that could not be read. */
interface Item {
  readonly device: DeviceRef;
  readonly account: RotatedAccount;
  readonly session: DeviceSession | undefined;
  readonly isOwn: boolean;
}

export function rotatePassword(call: RotateCall): AsyncGenerator<Output> {
  return rotate(call, 'basic');
}

export function rotateToken(call: RotateCall): AsyncGenerator<Output> {
  return rotate(call, 'token');
}

/** Plans masked changes; once they are confirmed, chooses and keeps the secrets. Then an ordinary roll-out. */
async function* rotate(given: RotateCall, kind: Rotation['kind']): AsyncGenerator<Output> {
  const { canary = 1, dryRun } = given.options;
  const call = given.with({ canary });
  refuseReadOnly(call);
  const targets = targetsOf(call, kind === 'basic' ? 'rotate password' : 'rotate token');
  const secrets = kind === 'basic' && !dryRun ? newSecrets(call) : undefined;
  const sessions = await call.sessions();
  const store = dryRun ? undefined : await call.rotations();
  if (store !== undefined) await findLogins(call, sessions);
  const resources = await accountResources(call.shell.services, sessions);
  const wanted = (session: DeviceSession): readonly Change[] =>
    targets.map((target) => ({
      action: 'set',
      resource: resources.get(session) ?? 'user',
      target,
      fields: { [kind === 'basic' ? 'password' : 'token']: MASK },
      rotation: { kind },
      isExact: true,
    }));
  const byAddress = new Map(sessions.map((session) => [session.ref.address, session]));
  const review: WriteIntent['review'] = async function* (planned) {
    const devices = planned.devices.map((one) => ownLast(one, byAddress));
    const plan = { ...planned, devices };
    if (stepCount(plan) === 0 && plan.devices.some(isOwing)) {
      yield { kind: 'plan', plan, dryRun: true };
      yield warning(
        'devsh kept no new secret, so nothing is pending: repeat the line when they answer',
      );
      return undefined;
    }
    const items = itemsOf(plan, byAddress, kind);
    const own = items.filter(({ isOwn }) => isOwn);
    if (kind === 'token') refuseOwnTokens(sessions, own);
    const details: string[] = [];
    let second: SecondPlace | undefined;
    if (store !== undefined) {
      const ownSessions = own.flatMap(({ session }) => session ?? []);
      const sharing = (await devicesWithSameLogin(call, ownSessions)).map(visible);
      if (sharing.length > 0) details.push(`these keep the old password: ${someOf(sharing)}`);
      const isNeeded = kind === 'token' || own.length > 0 || secrets?.isGenerated === true;
      second = openSecondPlace(call, { run: plan.run, sessions, isNeeded });
    }
    for (const text of details) yield warning(text);
    const how = { run: plan.run, ...(secrets && { secrets }), second };
    const rotations = store && (() => choose(call, store, items, how));
    return { plan, details, rotations };
  };
  yield* write(call, { sessions, wanted, age: 'fresh', review });
}

function targetsOf({ args, options }: RotateCall, title: string): readonly Target[] {
  const { where, user } = options;
  const [key] = args.words('USER');
  if (key !== undefined && where !== undefined) throw bothKeyAndWhere(title, key);
  if (where !== undefined) return [{ kind: 'where', filter: where }];
  if (key !== undefined) {
    return [...new Set(args.all('USER'))].map((one) => ({ kind: 'key', key: one, by: 'name' }));
  }
  const hint = user === undefined ? '' : `; --user ${user} is only the login`;
  const text = `name the accounts to rotate as arguments: USER…, or --where FILTER${hint}`;
  throw new UsageError(text, { column: args.end });
}

/** The login that is not rotated must be another one: a lost answer would lose the token in use. */
function refuseOwnTokens(sessions: readonly DeviceSession[], own: readonly Item[]): void {
  const unnamed = sessions.find(({ credential }) => credential && credential.user === undefined);
  const refused = own[0]?.device ?? unnamed?.ref;
  if (refused !== undefined) throw new RefusedError(`${refused.name}: ${OWN_TOKEN}`);
}

/** The login in use last: until then it is the way back for the others. */
function ownLast(plan: DevicePlan, sessions: ReadonlyMap<string, DeviceSession>): DevicePlan {
  const credential = sessions.get(plan.device.address)?.credential;
  const own = plan.steps.filter((step) => isOwnRotation(step, credential));
  const others = plan.steps.filter((step) => !own.includes(step));
  return { ...plan, steps: [...others, ...own] };
}

function itemsOf(
  { devices }: Plan,
  sessions: ReadonlyMap<string, DeviceSession>,
  kind: Rotation['kind'],
): readonly Item[] {
  const purpose = { kind: 'rotate', rotation: { kind } } as const;
  return devices.flatMap((plan) => {
    const { device, steps, changes = [] } = plan;
    const session = sessions.get(device.address);
    const pending = (isOwing(plan) ? changes : []).flatMap((one) =>
      explicitChanges(devices, one).flatMap(({ change }) =>
        change.action === 'set' && change.target.kind === 'key' ? change.target : [],
      ),
    );
    return [...steps, ...pending].map(({ key, ...step }): Item => {
      const login = { ref: device, credential: session?.credential };
      const about = { ...step, key, purpose };
      const account = rotatedAccount(login, about, session?.cached(accountsOf(session.profile)));
      return { device, session, account, isOwn: isOwnRotation(about, session?.credential) };
    });
  });
}

/** Chooses the secrets and keeps them in both places, all before the first request. */
async function choose(
  call: RotateCall,
  store: RotationStore,
  items: readonly Item[],
  { run, secrets, second }: { run: string; secrets?: NewSecrets; second: SecondPlace | undefined },
): Promise<KeptRotations> {
  const all = await store.readAll(items.map(({ account }) => account));
  const chosen = [];
  for (const [at, item] of items.entries()) {
    const { pending, isSent, run: earlier = '?', replaces, current } = all[at] ?? {};
    const { account, device, session, isOwn } = item;
    if (isSent === true && pending !== undefined) {
      // It may be in effect, so this run ends what that one began.
      chosen.push({ ...item, secret: pending, replaces });
      call.access.warn(
        `${device.name}: the new password of ${visible(account.user)} is that of run ${earlier}, which had not ended`,
      );
    } else if (secrets !== undefined) {
      const inUse = isOwn ? session?.credential?.revealed().secret : undefined;
      // Also of another account: no other command may log in with it until the outcome is known.
      const secret = await secrets.secretFor(item);
      chosen.push({ ...item, secret, replaces: inUse ?? current });
    }
  }
  await second?.keep(chosen);
  await Promise.all(
    chosen.map(({ account, secret, replaces }) =>
      store.keepPending(account, secret, { run, replaces }),
    ),
  );
  return rotationsIn(call, store, run, second);
}
