import {
  collectionPath,
  idFieldOf,
  isNamedByKey,
  itemPath,
  keyFieldOf,
  type Profile,
} from '../device/profile.ts';
import { originOfWrite, waysOf } from '../device/observation.ts';
import type { Assumption, Step } from './plan.ts';
import { WRITE_OF } from './write-advice.ts';

/** Which of the steps go a way that nobody has told and no read-back has proved. */
export function assumptionsOf(profile: Profile, steps: readonly Step[]): readonly Assumption[] {
  const assumed = new Map<string, Assumption>();
  for (const step of steps) {
    const { action, resource } = step;
    const name = `${action} ${resource}`;
    if (assumed.has(name)) continue;
    if (originOfWrite(profile, WRITE_OF[action], resource) !== 'assumed') continue;
    assumed.set(name, { action, resource, way: wayOf(profile, step) });
  }
  return [...assumed.values()];
}

/** `DELETE /api/user/<uuid>/`, `POST /api/user/ with action=delete and its username`. */
function wayOf(profile: Profile, { action, resource, before, keyField }: Step): string {
  const { method, path, constants, selector } = waysOf(profile, WRITE_OF[action], resource);
  const key = before === undefined ? keyField : keyFieldOf(profile, resource, [before]);
  const own = (before && idFieldOf(profile, before)) ?? profile.idFields[0] ?? key;
  const id = isNamedByKey(profile, resource) ? key : own;
  const said: Readonly<Record<string, string>> = {
    collection: collectionPath(profile, resource),
    item: decodeURIComponent(itemPath(profile, resource, `<${id}>`)),
    resource,
    id: `<${id}>`,
    key: `<${key}>`,
  };
  const shown = path.replace(/\{([^{}]+)\}/g, (_, name: string) => said[name] ?? `<${name}>`);
  const named = { id, key, none: undefined }[action === 'add' ? 'none' : selector];
  const parts = [
    ...Object.entries(constants).map(([field, value]) => `${field}=${value}`),
    ...(named === undefined ? [] : [`its ${named}`]),
  ];
  return `${method} ${shown}${parts.length > 0 ? ` with ${parts.join(' and ')}` : ''}`;
}
