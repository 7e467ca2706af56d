import type { Observed, SeenWriting, WriteName } from './learned-schema.ts';
import {
  type Origin,
  type Profile,
  resourceOf,
  updateFacts,
  withResource,
  type WriteFacts,
  WRITES,
} from './profile.ts';
import type { DeviceRecord } from './record.ts';

/** What writing to a device, and reading back, showed of how it speaks. */
export type Observation =
  | { readonly kind: 'proven'; readonly write: WriteName; readonly resource: string }
  /** `example`: in words, a record whose id has moved. */
  | { readonly kind: 'positional'; readonly example: string }
  | { readonly kind: 'one connection' }
  | { readonly kind: 'writing'; readonly resource: string; readonly seen: SeenWriting }
  | { readonly kind: 'volatile'; readonly resource: string; readonly fields: readonly string[] };

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

/** A profile with an observation put in; what the user has configured stands. */
export function withObservation(profile: Profile, observation: Observation): Profile {
  return withObserved(profile, observedAfter(undefined, profile, observation));
}

/** What is to be kept of a device when this was observed, too. */
export function observedAfter(
  held: Observed | undefined,
  profile: Profile,
  observation: Observation,
): Observed {
  switch (observation.kind) {
    case 'proven': {
      const { write, resource } = observation;
      const { method, path, encoding } = waysOf(profile, write, resource);
      return { ...held, proven: { ...held?.proven, [write]: { method, path, encoding } } };
    }
    case 'positional':
      return { ...held, ids: 'positional' };
    case 'one connection':
      return { ...held, connections: 'one' };
    case 'writing': {
      const { resource, seen } = observation;
      const known = held?.writing?.[resource];
      const hidden = [...new Set([...(known?.hidden ?? []), ...(seen.hidden ?? [])])];
      const all = { ...known, ...seen, ...(hidden.length > 0 && { hidden }) };
      return { ...held, writing: { ...held?.writing, [resource]: all } };
    }
    case 'volatile': {
      const { resource, fields } = observation;
      const known = held?.volatile?.[resource] ?? [];
      const all = [...new Set([...known, ...fields])];
      return { ...held, volatile: { ...held?.volatile, [resource]: all } };
    }
  }
}

/** A profile with all that was kept of observations put in; what the user has configured stands. */
export function withObserved(
  profile: Profile,
  { proven, ids, volatile, connections, writing }: Observed,
): Profile {
  const origins: Partial<Record<string, Origin>> = { ...profile.origins };
  for (const write of WRITES) {
    const way = proven?.[write];
    const { method, path, encoding } = profile[write];
    const isSame = way?.method === method && way.path === path && way.encoding === encoding;
    if (isSame && (origins[write] ?? 'assumed') === 'assumed') origins[write] = 'observed';
  }
  let known = profile;
  for (const [resource, fields] of Object.entries(volatile ?? {})) {
    const fact = `resources.${resource}.volatile`;
    if (origins[fact] === 'configured') continue;
    const all = [...new Set([...volatileFields(known, resource), ...fields])];
    known = withResource(known, resource, { volatile: all });
    origins[fact] = 'observed';
  }
  for (const [resource, seen] of Object.entries(writing ?? {})) {
    const { hidden = [] } = resourceOf(known, resource);
    const isSaid = origins[`resources.${resource}.hidden`] === 'configured';
    const all = isSaid ? hidden : [...new Set([...hidden, ...(seen.hidden ?? [])])];
    known = withResource(known, resource, { ...seen, ...(all.length > 0 && { hidden: all }) });
    for (const fact of Object.keys(seen)) origins[`resources.${resource}.${fact}`] ??= 'observed';
  }
  const isPositional = ids !== undefined && origins['ids'] !== 'configured';
  if (isPositional) origins['ids'] = 'observed';
  const isOne = connections !== undefined && origins['connections'] !== 'configured';
  if (isOne) origins['connections'] = 'observed';
  return { ...known, ...(isPositional && { ids }), ...(isOne && { connections }), origins };
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
