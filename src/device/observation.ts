import type { WriteName } from './facts-schema.ts';
import { type Origin, type Profile, updateFacts, type WriteFacts } from './profile.ts';
import type { DeviceRecord } from './record.ts';

/** How a resource is written in one of the three ways. */
export function waysOf(profile: Profile, write: WriteName, resource: string): WriteFacts {
  return write === 'update' ? updateFacts(profile, resource) : profile[write];
}

/** Where devsh knows from how a resource is written. */
export function originOfWrite(profile: Profile, write: WriteName, resource: string): Origin {
  const isOwn = write === 'update' && waysOf(profile, write, resource) !== profile.update;
  const own = profile.origins[`resources.${resource}.${write}`];
  return own ?? (isOwn ? 'observed' : (profile.origins[write] ?? 'assumed'));
}

/** Whether an id is only the place of a record among the others. */
export function hasPositionalIds(profile: Profile): boolean {
  return profile.ids === 'positional';
}

/** Fields that change by themselves: counters, uptimes. */
export function volatileFields(profile: Profile, resource: string): readonly string[] {
  return profile.resources[resource]?.volatile ?? [];
}

/** Fields in which the device keeps book of a record: its state, its address, links to others. */
export function bookkeepingFields(profile: Profile, resource: string): readonly string[] {
  return profile.resources[resource]?.bookkeeping ?? [];
}

/** Fields that are the device's own affair: they change by themselves, and nobody sets them back. */
export function ownFields(profile: Profile, resource: string): readonly string[] {
  return [...volatileFields(profile, resource), ...bookkeepingFields(profile, resource)];
}

/** Fields that tell nothing when they are another time something else. */
export function uncomparedFields(profile: Profile, resource: string): readonly string[] {
  const ids = hasPositionalIds(profile) ? profile.idFields : [];
  return [...ids, ...ownFields(profile, resource)];
}

type Found = { readonly profile: Profile; readonly resource: string; readonly fields: string[] };

/** By reading: many changes are planned from one. */
const found = new WeakMap<readonly DeviceRecord[], Found>();

/**
 * Fields that a device has and shows of none of these records, as far as anybody has told: the profile,
 * OPTIONS, an earlier reading or an own write.
 */
export function hiddenFields(
  profile: Profile,
  resource: string,
  records: readonly DeviceRecord[],
): readonly string[] {
  const known = found.get(records);
  if (known?.profile === profile && known.resource === resource) return known.fields;
  const { hidden = [], shown = [], fields = [], details = {} } = profile.resources[resource] ?? {};
  const told = Object.keys(details).filter((field) => details[field]?.readOnly === false);
  const unshown = [...new Set([...hidden, ...shown, ...fields, ...told])].filter(
    (field) =>
      !profile.idFields.includes(field) && !records.some((record) => Object.hasOwn(record, field)),
  );
  found.set(records, { profile, resource, fields: unshown });
  return unshown;
}
