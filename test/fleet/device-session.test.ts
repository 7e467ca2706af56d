import { expect, onTestFinished, test, vi } from 'vitest';
import { drfProfile } from '../../src/device/built-in-profiles.ts';
import { Credential } from '../../src/device/credential.ts';
import type { WriteRequest } from '../../src/device/encode.ts';
import { DIRECT } from '../../src/device/route/route.ts';
import type { Access } from '../../src/fleet/access.ts';
import { DeviceSession } from '../../src/fleet/device-session.ts';
import { startSimulator } from '../simulator/simulator.ts';

async function open() {
  const simulator = await startSimulator({ users: 3, profile: 'drf' });
  const [device] = simulator.devices;
  if (device === undefined) throw new Error('no device');
  const { admin } = device.accounts;
  const login = Credential.basic(admin.username, admin.password);
  const access: Access = {
    trust: () =>
      Promise.resolve({
        kind: 'pinned',
        fingerprint: device.fingerprint,
        pinnedAt: '2026-01-02',
      }),
    route: () => DIRECT,
    acceptCertificate: () => Promise.resolve(undefined),
    profile: () => Promise.resolve({ base: drfProfile, stored: {} }),
    credential: () => Promise.resolve(login),
    // A user who types a login each time.
    anotherCredential: () => Promise.resolve(login),
    admit: () => Promise.resolve(),
    settle: () => undefined,
    timeoutMs: 1000,
  };
  const session = new DeviceSession({ name: device.name, address: device.address, groups: [] });
  onTestFinished(async () => {
    await session.close();
    await simulator.close();
  });
  const writes = (): number => device.log.filter(({ method }) => method === 'POST').length;
  const json = { username: 'zoe', first_name: 'Z', lastname: 'Z', lang: 'de' };
  const add: WriteRequest = { method: 'POST', path: '/api/user/', json };
  return { device, session, access, writes, add };
}

test('a write that is answered with 401 goes out once, whatever login is given then', async () => {
  const { device, session, access, writes, add } = await open();
  device.setFault('401-after-storing', 1, { method: 'POST' });
  await expect(session.write(access, add)).rejects.toMatchObject({ code: 'unauthorized' });
  expect(writes()).toBe(1);
  device.setFault('401', 1, { method: 'GET' });
  const names = (await session.list(access, 'user')).map(({ username }) => username);
  expect(names.filter((name) => name === 'zoe')).toHaveLength(1);
});

test('a write whose connection another caller closes goes out once', async () => {
  const { device, session, access, writes, add } = await open();
  device.setFault('silence', 1, { method: 'POST' });
  const writing = expect(session.write(access, add)).rejects.toThrow();
  await vi.waitUntil(() => writes() === 1, 10_000);
  const [, users] = await Promise.all([session.close(), session.list(access, 'user'), writing]);
  expect(users).toHaveLength(device.users.length);
  expect(writes()).toBe(1);
});

test('a list without any change is the same records, and one with a change is not', async () => {
  const { session, access, add } = await open();
  const first = await session.list(access, 'user');
  expect(await session.list(access, 'user')).toBe(first);
  await session.write(access, add);
  const changed = await session.list(access, 'user');
  expect(changed).not.toBe(first);
  expect(session.cached('user')).toBe(changed);
});
