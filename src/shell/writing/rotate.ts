import type { Change, Target } from '../../change/change.ts';
import type { Rotation } from '../../change/step.ts';
import { UsageError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { MASK } from '../../text/one-line.ts';
import { accountResources } from '../access/access.ts';
import { newSecrets } from '../access/new-secrets.ts';
import { bothKeyAndWhere } from '../arguments.ts';
import type { Call } from '../command.ts';
import type { NewSecretOption, ROTATE_TOKEN } from '../grammar/options.ts';
import type { Output } from '../output.ts';
import { findLogins } from './kept-rotations.ts';
import { refuseReadOnly } from './consent.ts';
import { write } from './write.ts';

type RotateCall = Call<(typeof ROTATE_TOKEN)[number], NewSecretOption>;

/** Writes masked secrets as any other change, by default on one canary device first. */
export async function* rotate(given: RotateCall, kind: Rotation['kind']): AsyncGenerator<Output> {
  const { canary = 1, dryRun } = given.options;
  const call = given.with({ canary });
  refuseReadOnly(call);
  const targets = targetsOf(call, kind === 'basic' ? 'rotate password' : 'rotate token');
  // Throws for a line that names no source, before a device is asked.
  if (kind === 'basic' && !dryRun) newSecrets(call);
  const sessions = await call.sessions();
  if (!dryRun) await findLogins(call, sessions);
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
  yield* write(call, { sessions, wanted, age: 'fresh' });
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
