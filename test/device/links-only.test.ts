import { expect, test } from 'vitest';
import { areLinks } from '../../src/device/record-path.ts';
import { genericRestProfile } from '../../src/device/built-in-profiles.ts';
import { deleteRequest } from '../../src/device/encode.ts';
import { parseProfile } from '../../src/device/profile-file.ts';
import { deviceAt, serve } from './server.ts';

const path = '/redfish/v1/AccountService/Accounts';
const profile = parseProfile(
  `{extends: generic-rest, base_path: /redfish/v1/, resources: {user: {path: ${path}, key_field: UserName}}}`,
  'redfish.yaml',
  'redfish',
);

test('a list of addresses alone is read record by record, two at a time', async () => {
  let open = 0;
  let most = 0;
  const server = await serve((request, response) => {
    const [, id] = /Accounts\/(\d+)$/.exec(request.url ?? '') ?? [];
    const all = [1, 2, 3, 4, 5].map((number) => ({ '@odata.id': `${path}/${number}` }));
    const body =
      id === undefined ? { Members: all } : { '@odata.id': `${path}/${id}`, UserName: `u${id}` };
    most = Math.max(most, (open += 1));
    setImmediate(() => {
      open -= 1;
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    });
  });
  const { records } = await deviceAt(server, { profile }).list('user');
  expect(records.map((record) => record['UserName'])).toEqual(['u1', 'u2', 'u3', 'u4', 'u5']);
  expect(most).toBeLessThanOrEqual(2);
  const [first = {}] = records;
  expect(deleteRequest(profile, 'user', first).path).toBe(`${path}/1`);
});

test.each([
  ['is gone by then', ['u1', 'u3'], 2],
  ['is never there', undefined, 4],
])('a record that the list names and that %s', async (_, expected, most) => {
  let lists = 0;
  const server = await serve((request, response) => {
    const [, id] = /Accounts\/(\d+)$/.exec(request.url ?? '') ?? [];
    response.setHeader('content-type', 'application/json');
    if (id === undefined) {
      lists += 1;
      const ids = lists > 1 && expected !== undefined ? [1, 3] : [1, 2, 3];
      const all = ids.map((number) => ({ '@odata.id': `${path}/${number}` }));
      response.end(JSON.stringify({ Members: all }));
    } else if (id === '2') {
      response.writeHead(404).end('{"detail":"Not found."}');
    } else {
      response.end(JSON.stringify({ '@odata.id': `${path}/${id}`, UserName: `u${id}` }));
    }
  });
  const listed = deviceAt(server, { profile }).list('user');
  if (expected === undefined) {
    await expect(listed).rejects.toThrow('its list contains a user that does not exist (404)');
  } else {
    expect((await listed).records.map((record) => record['UserName'])).toEqual(expected);
  }
  expect(lists).toBeLessThanOrEqual(most);
});

test('an address that leads elsewhere is not followed', async () => {
  const server = await serve((_, response) => {
    const body = { Members: [{ '@odata.id': '/redfish/v1/Systems/1' }] };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  await expect(deviceAt(server, { profile }).list('user')).rejects.toThrow(
    /shows none of the fields that would name it/,
  );
  expect(server.requests.map((request) => request.path)).toEqual([path]);
});

test.each([
  [[], false],
  [[{ username: 'bob', url: '/api/user/1' }], false],
  [[{ url: '/api/user/1' }, { url: '/api/user/2' }], true],
  [[{ href: '/api/user/1', etag: 'x' }], true],
  [[{ url: 'https://example.org' }], false],
])('%j is a list of links: %s', (records, expected) => {
  expect(areLinks(records, genericRestProfile)).toBe(expected);
});
