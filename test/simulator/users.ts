import { extras } from './dialects/tables.ts';
import type { Store } from '../../src/simulator/store.ts';
import type { DialectUser as User } from './dialects/dialect-store.ts';
import type { Site } from './dialects/site.ts';

/* The users of a device, changed without a request. */

export function createUser(store: Store, fields: Omit<User, 'uuid'>): User {
  return store.insert(fields);
}

export function replaceUser(store: Store, user: User): User {
  return store.put(user);
}

export function deleteUser(store: Store, uuid: string): boolean {
  return store.delete(uuid);
}

/** Changes or creates a user; a uuid may be one that was used before. */
export function putUser(
  { store, dialect }: Site,
  fields: Partial<User> & Pick<User, 'username'>,
): User {
  const existing = store.named(fields.username);
  const more = extras(dialect.profile, fields, 0);
  const stamp = 'modified' in more ? { modified: new Date().toISOString() } : {};
  if (existing !== undefined) return replaceUser(store, { ...existing, ...fields, ...stamp });
  const empty = { first_name: '', lastname: '', lang: 'en' };
  const { uuid, ...user } = { ...empty, ...more, ...stamp, ...fields };
  return uuid === undefined ? createUser(store, user) : replaceUser(store, { ...user, uuid });
}
