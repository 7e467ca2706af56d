import type { DeviceRecord } from '../../device/record.ts';
import { createRandom } from '../random.ts';
import { type StoredRecord, Table, type User } from '../store.ts';
import type { Dialect, ProfileName } from './dialect.ts';
import { RESOURCES } from './resources.ts';

interface DeviceContents {
  readonly users: readonly User[];
  /** `sim1`, `sim2` ... */
  readonly name: string;
  readonly seed: string;
}

const FIRST_CHANGE_MS = Date.UTC(2024, 0, 1);
const HOUR_MS = 60 * 60 * 1000;
const PORTS = ['lo', 'mgmt', 'wan', ...Array.from({ length: 9 }, (_, port) => `eth${port}`)];

/** What a device of a profile holds at the start, by resource. */
export function createTables(
  { profile, quirks }: Dialect,
  { users, name, seed }: DeviceContents,
): Map<string, Table> {
  const random = createRandom(`${seed}:${name}:resources`);
  const identified = (fields: DeviceRecord): StoredRecord => ({ ...fields, uuid: random.uuid() });
  const contents: Readonly<Record<string, () => readonly StoredRecord[]>> = {
    user: () =>
      users.map((user, place) => ({
        ...user,
        ...extras(profile, user, place),
        ...(quirks.has('hidden-fields') && {
          email: `${user.username}@example.net`,
          password: `hash of ${user.username}`,
        }),
        ...(quirks.has('read-only-content') && { owner: 'root', groups: ['staff', 'ops'] }),
        ...(quirks.has('some-admins') && place % 3 === 0 && { is_admin: true }),
      })),
    interface: () =>
      PORTS.map((port, place) => identified(networkInterface(port, place, random.below(250)))),
    system: () => [identified(system(name))],
  };
  return new Map(
    RESOURCES[profile].map((resource) => [
      resource.name,
      new Table(contents[resource.name]?.() ?? []),
    ]),
  );
}

/** What a user has beyond the documented fields; `place` in the list, from 0. */
export function extras(
  profile: ProfileName,
  { username }: Pick<User, 'username'>,
  place: number,
): DeviceRecord {
  switch (profile) {
    case 'documented':
      return {};
    case 'drf':
    case 'generic-rest':
      return {
        // Some people have left; the two accounts, at the top, have not.
        is_active: place % 9 !== 8,
        modified: new Date(FIRST_CHANGE_MS + place * HOUR_MS).toISOString(),
      };
    case 'form-action':
      return { canBeDeleted: username !== 'admin' };
  }
}

/** The same for a user that is made or changed now. */
export function newExtras(
  profile: ProfileName,
  user: Pick<User, 'username'>,
): Partial<Pick<User, 'modified'>> {
  const stamp = { modified: new Date().toISOString() };
  const more = extras(profile, user, 0);
  return 'modified' in more ? { ...more, ...stamp } : more;
}

function networkInterface(name: string, place: number, host: number): DeviceRecord {
  const isUp = place < 8;
  const gateway = name === 'wan' ? '203.0.113.1' : '';
  return {
    name,
    description: name === 'wan' ? 'Uplink, Zürich' : '',
    mtu: name === 'lo' ? 9216 : 1500,
    enabled: isUp,
    addresses: isUp ? [`10.${place}.0.${host + 2}/24`, `2001:db8:${place}::2/64`] : [],
    ipv4: { mode: isUp ? 'static' : 'none', gateway, metric: place },
  };
}

function system(hostname: string): DeviceRecord {
  return {
    hostname,
    location: 'Rack 4',
    timezone: 'UTC',
    session_minutes: 30,
    ssh_enabled: true,
    ntp_servers: ['ntp1.example.net', 'ntp2.example.net'],
    version: '4.2.1',
  };
}
