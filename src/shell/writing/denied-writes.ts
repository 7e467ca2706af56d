import { resourceOf, updateFacts, type Profile, type WriteFacts } from '../../device/profile.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';

/** The reasons why records of a resource cannot be added, changed or deleted; absent if they can. */
export type DeniedWrites = Readonly<Partial<Record<'add' | 'set' | 'delete', string>>>;

/** By resource: what every device reports as unavailable. A write that is not reported is not denied. */
export function deniedWrites(
  sessions: readonly DeviceSession[],
): ReadonlyMap<string, DeniedWrites> {
  const resources = new Set(sessions.flatMap(({ profile }) => Object.keys(profile.resources)));
  const denied = new Map<string, DeniedWrites>();
  for (const resource of resources) {
    const each = sessions.map(({ profile }) => deniedBy(profile, resource));
    const writes = {
      ...reasonFor('add', each),
      ...reasonFor('set', each),
      ...reasonFor('delete', each),
    };
    if (Object.keys(writes).length > 0) denied.set(resource, writes);
  }
  return denied;
}

function deniedBy(profile: Profile, resource: string) {
  return {
    add: missingMethod(profile, resource, profile.create),
    set: missingMethod(profile, resource, updateFacts(profile, resource)),
    delete: missingMethod(profile, resource, profile.remove),
  };
}

function missingMethod(
  profile: Profile,
  resource: string,
  { method, path }: WriteFacts,
): string | undefined {
  const { itemAllows, collectionAllows } = resourceOf(profile, resource);
  const here =
    path === '{item}' ? itemAllows : path === '{collection}' ? collectionAllows : undefined;
  return here === undefined || here.includes(method) ? undefined : method;
}

function reasonFor(
  action: keyof DeniedWrites,
  each: readonly ReturnType<typeof deniedBy>[],
): DeniedWrites {
  const [first] = each;
  if (first?.[action] === undefined || each.some((one) => one[action] === undefined)) return {};
  const who = each.length === 1 ? 'the device does' : 'the devices do';
  return { [action]: `${who} not offer ${first[action]} here` };
}
