import type { DeviceRecord } from '../../../src/device/record.ts';
import { createRandom } from '../../../src/simulator/random.ts';
import type { DeviceSetup } from '../../../src/simulator/device.ts';
import type { User } from '../../../src/simulator/store.ts';
import { NumberedTable, type StoredRecord } from './dialect-store.ts';
import type { Dialect, ProfileName } from './site.ts';

const FIRST_CHANGE_MS = Date.UTC(2024, 0, 1);
const HOUR_MS = 60 * 60 * 1000;
const PORTS = ['lo', 'mgmt', 'wan', ...Array.from({ length: 9 }, (_, port) => `eth${port}`)];

/** The initial tables of a device, by resource. */
export function createTables(
  dialect: Dialect,
  { users, name, seed }: Pick<DeviceSetup, 'users' | 'name' | 'seed'>,
): Map<string, NumberedTable> {
  const random = createRandom(`${seed}:resources`);
  const identified = (fields: DeviceRecord): StoredRecord => ({ ...fields, uuid: random.uuid() });
  const contents: Readonly<Record<string, () => readonly StoredRecord[]>> = {
    user: () => users.map((user, place) => ({ ...user, ...extras(dialect.profile, user, place) })),
    interface: () =>
      PORTS.map((port, place) => identified(networkInterface(port, place, random.below(250)))),
    system: () => [identified(system(name))],
  };
  return new Map(
    dialect.resources.map((resource) => [
      resource.name,
      new NumberedTable(contents[resource.name]?.() ?? []),
    ]),
  );
}

/** The fields of a user beyond the documented ones. `place` is the index in the list. */
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
        // The two accounts, at the top, stay active.
        is_active: place % 9 !== 8,
        modified: new Date(FIRST_CHANGE_MS + place * HOUR_MS).toISOString(),
      };
    case 'form-action':
      return { canBeDeleted: username !== 'admin' };
  }
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
