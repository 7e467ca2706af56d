import { expect, test } from 'vitest';
import { documentedProfile } from '../../src/device/built-in-profiles.ts';
import { createRequest, deleteRequest } from '../../src/device/encode.ts';
import { DeviceFacts, noteListing } from '../../src/device/facts.ts';
import { parseProfile } from '../../src/device/profile-file.ts';
import { deviceAt, serve, type TestServer } from './server.ts';

const bob = { id: 7, username: 'bob' };

/** The list is at `path`; with another slash at its end it is answered with `status`. */
function serveList(
  path: string,
  status: number,
  body = JSON.stringify([bob]),
): Promise<TestServer> {
  const name = path.replace(/\/$/, '');
  return serve((request, response) => {
    if (request.method !== 'GET' || request.url?.replace(/\/$/, '') !== name) {
      response.writeHead(404).end();
    } else if (request.url === path) {
      const isAsked = request.headers.accept?.includes('json') === true;
      response.end(isAsked ? JSON.stringify([bob]) : body);
    } else {
      response.writeHead(status, { location: path }).end();
    }
  });
}

test('if a list redirects only in its slash, writes go to the right path at once', async () => {
  const server = await serveList('/api/user', 301);
  const device = deviceAt(server);
  const listing = await device.list('user');
  expect(listing).toMatchObject({ records: [bob], path: '/api/user' });
  const facts = new DeviceFacts(documentedProfile);
  noteListing(facts, 'user', listing);
  const { profile } = facts;
  expect(createRequest(profile, 'user', { username: 'zoe' }).path).toBe('/api/user');
  expect(deleteRequest(profile, 'user', bob).path).toBe('/api/user/7');
  await device.list('user');
  expect(server.requests.map(({ path }) => path)).toEqual(['/api/user/', '/api/user', '/api/user']);
});

test('a write redirected only in its slash is not sent again, and the error says where to', async () => {
  const server = await serveList('/api/user', 301);
  const profile = parseProfile('ends_with_slash: true', 'p.yaml', 'p');
  const device = deviceAt(
    await serve((request, response) => {
      response.writeHead(308, { location: (request.url ?? '').replace(/\/$/, '') }).end();
    }),
    { profile },
  );
  const write = device.write(createRequest(profile, 'user', { username: 'zoe' }));
  await expect(write).rejects.toThrow('a redirect (308) to /api/user: devsh redirects no writes');
  expect(server.requests).toEqual([]);
});

test('a device that requires another media type is asked for that of its profile', async () => {
  const server = await serve((request, response) => {
    const isRight = request.headers.accept === 'application/yang-data+json';
    response.writeHead(isRight ? 200 : 406).end(isRight ? JSON.stringify([bob]) : '');
  });
  await expect(deviceAt(server).list('user')).rejects.toThrow(
    'profile set fw1 headers.Accept=TYPE',
  );
  const profile = parseProfile('accept: application/yang-data+json', 'p.yaml', 'p');
  const device = deviceAt(server, { profile });
  const { records } = await device.list('user');
  expect(records).toEqual([bob]);
});
