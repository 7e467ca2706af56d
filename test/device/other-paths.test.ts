import { expect, test } from 'vitest';
import { documentedProfile, genericRestProfile } from '../../src/device/built-in-profiles.ts';
import { deleteRequest } from '../../src/device/encode.ts';
import { DeviceFacts, noteListing } from '../../src/device/facts.ts';
import { parseProfile } from '../../src/device/profile-file.ts';
import { deviceAt, serve, type TestServer } from './server.ts';

const bob = { id: 7, username: 'bob' };

function serveAt(path: string): Promise<TestServer> {
  return serve((request, response) => {
    const isHere = request.url === path;
    response.writeHead(isHere ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isHere ? [bob] : { detail: 'Not found.' }));
  });
}

test.each([
  [documentedProfile, '/api/user', '/api/user/7'],
  [documentedProfile, '/api/users/', '/api/users/7/'],
  [documentedProfile, '/api/users', '/api/users/7'],
  [genericRestProfile, '/api/user/', '/api/user/7/'],
])('with %j, users are found at %s, and so are single ones', async (profile, path, item) => {
  const server = await serveAt(path);
  const device = deviceAt(server, { profile });
  const listing = await device.list('user');
  expect(listing).toMatchObject({ records: [bob], path });
  const facts = new DeviceFacts(profile);
  noteListing(facts, 'user', listing);
  for (const found of [device.profile, facts.profile]) {
    expect(deleteRequest(found, 'user', bob).path).toBe(item);
  }
  await device.list('user');
  expect(server.requests.at(-1)?.path).toBe(path);
  expect(server.requests.filter((request) => request.path === path)).toHaveLength(2);
});

test('a configured path is the only one that is tried', async () => {
  const server = await serveAt('/api/users/');
  const profile = parseProfile('resources: {user: {path: /api/account/}}', 'p.yaml', 'p');
  await expect(deviceAt(server, { profile }).list('user')).rejects.toThrow('/api/account/');
  expect(server.requests.map(({ path }) => path)).toEqual(['/api/account/']);
});

test('a resource that is nowhere gets the error of the path in the profile', async () => {
  const server = await serveAt('/api/elsewhere/');
  await expect(deviceAt(server).list('zone')).rejects.toThrow('GET /api/zone/ was refused (404');
});
