import { withResource, type Profile } from './profile.ts';

/**
 * Where the records of a resource may be when they are not where the profile says: without the slash
 * at the end or with it, and by the plural name. Empty where the user said where they are.
 */
export function otherPaths(profile: Profile, resource: string): readonly string[] {
  const { origins, resources, basePath, endsWithSlash, list } = profile;
  const isSaid = (fact: string): boolean => origins[fact] === 'configured';
  const own = resources[resource]?.path;
  const isObserved = origins[`resources.${resource}.path`] === 'observed';
  if ((own !== undefined && !isObserved) || list.path !== '{collection}') return [];
  const ends = isSaid('endsWithSlash') ? [endsWithSlash] : [endsWithSlash, !endsWithSlash];
  const names = resource.endsWith('s') ? [resource] : [resource, `${resource}s`];
  const paths = names.flatMap((name) => ends.map((end) => `${basePath}${name}${end ? '/' : ''}`));
  const tried = own ?? paths[0];
  return paths.filter((path) => path !== tried);
}

/** A profile with the path at which a resource was found. */
export function foundAt(profile: Profile, resource: string, path: string): Profile {
  const origins = { ...profile.origins, [`resources.${resource}.path`]: 'observed' as const };
  return { ...withResource(profile, resource, { path }), origins };
}
