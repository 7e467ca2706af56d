import { resourceOf, updateFacts, type Profile } from '../../device/profile.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';

/** The reasons why records of a resource cannot be added, changed or deleted; absent if they can. */
export type DeniedWrites = Readonly<Partial<Record<'add' | 'set' | 'delete', string>>>;

/** Returns what every device reports as unavailable, by resource. A write that is not reported is not denied. */
export function deniedWrites(
  sessions: readonly DeviceSession[],
): ReadonlyMap<string, DeniedWrites> {
  const resources = new Set(sessions.flatMap(({ profile }) => Object.keys(profile.resources)));
  const who = sessions.length === 1 ? 'the device does' : 'the devices do';
  const denied = [...resources].flatMap((resource): [string, DeniedWrites][] => {
    const reasons = (['add', 'set', 'delete'] as const).flatMap((action): [string, string][] => {
      const missing = sessions.map(({ profile }) => missingMethod(profile, resource, action));
      const [method] = missing;
      if (method === undefined || missing.includes(undefined)) return [];
      return [[action, `${who} not offer ${method} here`]];
    });
    return reasons.length === 0 ? [] : [[resource, Object.fromEntries(reasons)]];
  });
  return new Map(denied);
}

function missingMethod(
  profile: Profile,
  resource: string,
  action: keyof DeniedWrites,
): string | undefined {
  const { create, remove } = profile;
  const writes = { add: create, set: updateFacts(profile, resource), delete: remove };
  const { method, path } = writes[action];
  const { record, list } = resourceOf(profile, resource).options ?? {};
  const here = path === '{item}' ? record : path === '{collection}' ? list : undefined;
  return here === undefined || here.includes(method) ? undefined : method;
}
