import { expect, test } from 'vitest';
import { drfProfile } from '../../src/device/built-in-profiles.ts';
import { deleteRequest, updateRequest } from '../../src/device/encode.ts';
import { learn } from '../../src/device/learn.ts';
import { DeviceFacts } from '../../src/device/facts.ts';
import { parseProfile } from '../../src/device/profile-file.ts';
import type { Profile } from '../../src/device/profile.ts';
import { deviceAt, serve, type TestServer } from './server.ts';

const users = [
  { id: 1, username: 'a/b', lang: 'de' },
  { id: 2, username: 'bob', lang: 'de' },
];

/** Users are found at `/api/user/NAME/`, where NAME is what they hold in this field. */
function serveBy(field: 'id' | 'username'): Promise<TestServer> {
  return serve((request, response) => {
    const [, name] = /^\/api\/user\/(?:([^/]+)\/)?$/.exec(request.url ?? '') ?? [];
    const user = users.find((record) => encodeURIComponent(String(record[field])) === name);
    const found = name === undefined && request.url === '/api/user/' ? users : user;
    const allow = name === undefined ? 'GET, POST, OPTIONS' : 'GET, PATCH, DELETE, OPTIONS';
    response.writeHead(found === undefined ? 404 : 200, {
      allow,
      'content-type': 'application/json',
    });
    response.end(JSON.stringify(found ?? { detail: 'Not found.' }));
  });
}

async function learnFrom(server: TestServer, profile: Profile): Promise<DeviceFacts> {
  const device = deviceAt(server, { profile });
  const { records } = await device.list('user');
  const facts = new DeviceFacts(profile);
  await learn({ device, facts, resource: 'user' }, records);
  return facts;
}

test('a device that finds records by their natural key is addressed that way from then on', async () => {
  const server = await serveBy('username');
  const learned = await learnFrom(server, drfProfile);
  expect(learned.get('resources.user.namedBy')).toBe('key');
  expect(learned.get('resources.user.options')?.record).toContain('PATCH');
  const { profile } = learned;
  expect(profile.origins['resources.user.namedBy']).toBe('observed');
  const [, bob = {}] = users;
  expect(deleteRequest(profile, 'user', bob).path).toBe('/api/user/bob/');
  expect(updateRequest(profile, 'user', bob, { lang: 'en' }).path).toBe('/api/user/bob/');
  expect(server.requests.every(({ method }) => method === 'GET' || method === 'OPTIONS')).toBe(
    true,
  );
});

test('if ids lead to records, natural keys are not tried', async () => {
  const server = await serveBy('id');
  const learned = await learnFrom(server, drfProfile);
  expect(learned.get('resources.user.namedBy')).toBeUndefined();
  expect(server.requests.map(({ path }) => path)).not.toContain('/api/user/bob/');
});

test('a configured fact wins', async () => {
  const source = 'extends: drf\nresources: {user: {named_by: id}}';
  const profile = parseProfile(source, 'p.yaml', 'p');
  const learned = await learnFrom(await serveBy('username'), profile);
  expect(learned.profile.resources['user']?.namedBy).toBe('id');
});

test('records without any id are also found by their natural key', async () => {
  const server = await serve((request, response) => {
    const body = request.url === '/api/user/' ? [{ username: 'bob' }] : { username: 'bob' };
    const isHere = /^\/api\/user\/(?:bob\/)?$/.test(request.url ?? '');
    response.writeHead(isHere ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isHere ? body : {}));
  });
  const learned = await learnFrom(server, drfProfile);
  const { profile } = learned;
  expect(deleteRequest(profile, 'user', { username: 'bob' }).path).toBe('/api/user/bob/');
});
