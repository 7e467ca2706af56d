import { expect, test } from 'vitest';
import { ask, userNamed } from '../ask.ts';
import { startDevice } from '../dialect-device.ts';

const start = () => startDevice({ profile: 'form-action' });
type Device = Awaited<ReturnType<typeof start>>;

async function act(device: Device, body: Record<string, string>, path = '/api/user/') {
  const answer = await ask(device, { method: 'POST', path, body });
  expect(answer.status).toBe(200);
  return JSON.parse(answer.body) as unknown;
}

test('a user is added, changed and deleted by name', async () => {
  const device = await start();

  const added = await act(device, { action: 'add', username: 'carol', lang: 'de' });
  const changed = await act(device, { action: 'change', username: 'carol', lastname: 'Ode' });

  expect([added, changed]).toEqual([{ status: 'OK' }, { status: 'OK' }]);
  expect(device.records('user').at(-1)).toEqual({
    first_name: '',
    lastname: 'Ode',
    username: 'carol',
    lang: 'de',
    canBeDeleted: true,
  });

  expect(await act(device, { action: 'delete', username: 'carol' })).toEqual({ status: 'OK' });
  expect(userNamed(device, 'carol')).toBeUndefined();
});

test.each([
  [{ action: 'add', username: 'admin', lang: 'de' }, /already exists/],
  [{ action: 'add', username: 'zoe', lang: 'xx' }, /^lang: "xx" is not a valid choice\.$/],
  [{ action: 'add', lang: 'de' }, /^username is missing$/],
  [{ action: 'change', username: 'nobody', lang: 'de' }, /^there is no user "nobody"$/],
  [{ action: 'delete', username: 'nobody' }, /^there is no user "nobody"$/],
  [{ action: 'delete', username: 'admin' }, /cannot be deleted/],
  [{ action: 'rename', username: 'admin' }, /^unknown action "rename"$/],
  [{ username: 'admin' }, /^unknown action ""$/],
])('%j is refused in a 200', async (body, message) => {
  const device = await start();
  const before = device.records('user');

  expect(await act(device, body)).toEqual({
    status: 'error',
    message: expect.stringMatching(message) as string,
  });
  expect(device.records('user')).toEqual(before);
});

test('interfaces are told apart by name', async () => {
  const device = await start();

  await act(device, { action: 'change', name: 'eth0', mtu: '9000' }, '/api/interface/');

  expect(device.records('interface')[3]).toMatchObject({ name: 'eth0', mtu: 9000, enabled: true });
});

test('a viewer is refused in a 200, a stranger by 401', async () => {
  const device = await start();
  const body = { action: 'delete', username: 'viewer' };

  const viewer = await ask(device, { method: 'POST', body, as: 'viewer' });
  const stranger = await ask(device, { method: 'POST', body, as: null });

  expect(viewer.status).toBe(200);
  expect(JSON.parse(viewer.body)).toMatchObject({ status: 'error' });
  expect(stranger.status).toBe(401);
  expect(userNamed(device, 'viewer')).toBeDefined();
});

test.each(['PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s is 405', async (method) => {
  const { status, headers } = await ask(await start(), { method });

  expect([status, headers.allow]).toEqual([405, 'GET, POST, HEAD']);
});

test.each(['/api/', '/api/user/admin/'])('there is nothing at %s', async (path) => {
  expect((await ask(await start(), { path })).status).toBe(404);
});
