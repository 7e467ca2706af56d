import { describe, expect, test } from 'vitest';
import { ask } from '../ask.ts';
import { askJson, startDevice } from '../dialect-device.ts';

const CAROL = { username: 'carol', lang: 'de', first_name: ' Carol ' };
const ANY_TEXT = expect.any(String) as string;

describe.each([
  {
    profile: 'drf',
    list: '/api/user/',
    item: (id: unknown) => `/api/user/${String(id)}/`,
    id: 'uuid',
  },
  {
    profile: 'generic-rest',
    list: '/api/user',
    item: (id: unknown) => `/api/user/${String(id)}`,
    id: 'id',
  },
] as const)('$profile', ({ profile, list, item, id }) => {
  test('a user is created, read, changed, replaced and deleted', async () => {
    const device = await startDevice({ profile });
    const count = device.users.length;
    const created = await askJson(device, 'POST', list, { ...CAROL, mail: 'unknown' });
    const carol = created.value as Record<string, unknown>;
    const path = item(carol[id]);

    expect(created.status).toBe(201);
    expect(Object.keys(carol)).toEqual([
      id,
      'first_name',
      'lastname',
      'username',
      'lang',
      'is_active',
      'modified',
    ]);
    expect(carol).toMatchObject({ username: 'carol', lastname: '', is_active: true });
    expect(await askJson(device, 'GET', path)).toMatchObject({ status: 200, value: carol });

    const patched = await askJson(device, 'PATCH', path, { lang: 'it', modified: 'never' });
    expect(patched).toMatchObject({
      status: 200,
      value: { ...carol, lang: 'it', modified: ANY_TEXT },
    });
    expect(device.records('user').at(-1)).toEqual(patched.value);

    expect(await askJson(device, 'PUT', path, { lang: 'fr' })).toMatchObject({
      status: 400,
      value: { username: ['This field is required.'] },
    });
    expect(
      await askJson(device, 'PUT', path, { lang: 'fr', username: 'carol', is_active: false }),
    ).toMatchObject({ status: 200, value: { first_name: carol.first_name, is_active: false } });

    expect(await askJson(device, 'DELETE', path)).toMatchObject({ status: 204, value: undefined });
    expect((await askJson(device, 'DELETE', path)).status).toBe(404);
    expect(device.users).toHaveLength(count);
  });

  test('a POST with a known id does not update', async () => {
    const device = await startDevice({ profile });
    const before = device.records('user');
    const admin = before[0] ?? {};

    const answer = await askJson(device, 'POST', list, { ...admin, lang: 'ja' });

    expect(answer).toMatchObject({
      status: 400,
      value: { username: ['A user with that username already exists.'] },
    });
    expect(device.records('user')).toEqual(before);
  });

  test('a list takes no PATCH and no DELETE', async () => {
    const device = await startDevice({ profile });

    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      expect(await askJson(device, method, list, {})).toMatchObject({
        status: 405,
        allow: expect.stringMatching(/^GET, POST, HEAD/) as string,
      });
    }
    expect(device.users).toHaveLength(25);
  });

  test('the viewer reads and changes nothing', async () => {
    const device = await startDevice({ profile });
    const path = item(device.records('user')[3]?.[id]);

    const as = { as: 'viewer' } as const;
    expect((await askJson(device, 'GET', path, undefined, as)).status).toBe(200);
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      expect((await askJson(device, method, path, { lang: 'de' }, as)).status).toBe(403);
    }
  });

  test('interfaces have numbers, lists and nested objects, and their problems too', async () => {
    const device = await startDevice({ profile });
    const path = item(device.records('interface')[3]?.[id]).replace('user', 'interface');

    const changed = await askJson(device, 'PATCH', path, {
      mtu: '9000',
      addresses: ['192.0.2.1/24'],
      ipv4: { gateway: '192.0.2.254' },
    });
    const refused = await askJson(device, 'PATCH', path, {
      mtu: 12,
      enabled: 'perhaps',
      addresses: 'none',
      ipv4: { mode: 'pppoe' },
    });

    expect(changed).toMatchObject({
      status: 200,
      value: {
        name: 'eth0',
        mtu: 9000,
        enabled: true,
        addresses: ['192.0.2.1/24'],
        ipv4: { mode: 'static', gateway: '192.0.2.254', metric: 3 },
      },
    });
    expect(device.records('interface')[3]).toEqual(changed.value);
    expect(refused).toMatchObject({
      status: 400,
      value: {
        mtu: ['Ensure this value is greater than or equal to 68.'],
        enabled: ['Must be a valid boolean.'],
        addresses: ['Expected a list of items but got type "str".'],
        ipv4: { mode: ['"pppoe" is not a valid choice.'] },
      },
    });
  });

  test('the system is one object', async () => {
    const device = await startDevice({ profile });
    const path = list.replace('user', 'system');

    const posted = await askJson(device, 'POST', path, { location: 'Rack 5' });
    const patched = await askJson(device, 'PATCH', path, { ssh_enabled: false, version: '9' });

    expect(posted.status).toBe(200);
    expect(patched.value).toMatchObject({
      hostname: 'sim1',
      location: 'Rack 5',
      ssh_enabled: false,
      version: '4.2.1',
    });
    expect((await askJson(device, 'GET', path)).value).toEqual(patched.value);
    expect(device.records('system')).toEqual([patched.value]);
    expect((await askJson(device, 'DELETE', path)).status).toBe(405);
  });

  test('the root lists every resource with an address that answers', async () => {
    const device = await startDevice({ profile });

    const { value } = await askJson(device, 'GET', '/api/');

    expect(Object.keys(value as object)).toEqual(['user', 'interface', 'system']);
    for (const address of Object.values(value as Record<string, string>)) {
      expect((await askJson(device, 'GET', new URL(address).pathname)).status).toBe(200);
    }
  });

  test('what is no JSON, or no object, is 400', async () => {
    const device = await startDevice({ profile });

    const headers = { 'Content-Type': 'application/json' };
    const broken = await ask(device, { method: 'POST', path: list, body: '{', headers });

    expect(broken.status).toBe(400);
    expect(await askJson(device, 'POST', list, [])).toMatchObject({
      status: 400,
      value: { non_field_errors: ['Invalid data. Expected a dictionary, but got list.'] },
    });
  });

  test.each(['PATCH', 'PUT', 'POST'])('accept-and-forget strikes %s too', async (method) => {
    const device = await startDevice({ profile, faults: ['accept-and-forget'] });
    const before = device.records('user');
    const path = method === 'POST' ? list : item(before[4]?.[id]);

    const { status } = await askJson(device, method, path, { username: 'zoe', lang: 'en' });

    expect(status).toBe(method === 'POST' ? 201 : 200);
    expect(device.records('user')).toEqual(before);
  });
});

describe('only drf', () => {
  test('OPTIONS tells those who may write the fields, and what is allowed', async () => {
    const device = await startDevice({ profile: 'drf' });
    const item = `/api/user/${device.users[0]?.uuid ?? ''}/`;

    const list = await askJson(device, 'OPTIONS', '/api/user/');

    expect(list).toMatchObject({
      status: 200,
      allow: 'GET, POST, HEAD, OPTIONS',
      value: {
        name: 'User List',
        parses: ['application/json', 'application/x-www-form-urlencoded'],
        actions: {
          POST: {
            uuid: { type: 'string', required: false, read_only: true, label: 'Uuid' },
            first_name: { type: 'string', required: false, label: 'First name', max_length: 150 },
            username: { type: 'string', required: true, read_only: false },
            lang: { type: 'choice', required: true },
            is_active: { type: 'boolean', required: false },
            modified: { type: 'datetime', read_only: true },
          },
        },
      },
    });
    expect(JSON.stringify(list.value)).toContain('{"value":"de","display_name":"German"}');
    expect(await askJson(device, 'OPTIONS', item)).toMatchObject({
      allow: 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS',
      value: { name: 'User Instance', actions: { PUT: { lang: { type: 'choice' } } } },
    });
    const forViewer = await askJson(device, 'OPTIONS', item, undefined, { as: 'viewer' });
    expect(forViewer.value).not.toHaveProperty('actions');
    expect(await askJson(device, 'OPTIONS', '/api/interface/')).toMatchObject({
      value: {
        actions: {
          POST: {
            mtu: { type: 'integer', min_value: 68, max_value: 9216 },
            addresses: { type: 'list', child: { type: 'string' } },
            ipv4: { type: 'nested object', children: { mode: { type: 'choice' } } },
          },
        },
      },
    });
  });

  test('a boolean left out of a form is stored as false, but not by PATCH', async () => {
    const device = await startDevice({ profile: 'drf' });
    const body = { username: 'carol', lang: 'de' };
    const path = `/api/user/${device.users[3]?.uuid ?? ''}/`;

    await ask(device, { method: 'POST', body });
    await ask(device, { method: 'PATCH', path, body: { lang: 'ja' } });

    expect(device.records('user').at(-1)).toMatchObject({ username: 'carol', is_active: false });
    expect(device.records('user')[3]).toMatchObject({ lang: 'ja', is_active: true });
  });

  test('a form repeats the name for a list, and what is left out is empty', async () => {
    const device = await startDevice({ profile: 'drf' });
    const path = `/api/interface/${device.records('interface')[3]?.uuid as string}/`;
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const put = (body: string) => ask(device, { method: 'PUT', path, body, headers });

    await put('name=eth0&enabled=on&addresses=a&addresses=b&ipv4.mode=dhcp');
    expect(device.records('interface')[3]).toMatchObject({
      enabled: true,
      addresses: ['a', 'b'],
      ipv4: { mode: 'dhcp', metric: 3 },
    });

    await put('name=eth0');
    expect(device.records('interface')[3]).toMatchObject({ enabled: false, addresses: [] });
  });

  test('who is not active cannot log in', async () => {
    const device = await startDevice({ profile: 'drf' });
    device.putUser({ username: 'viewer', is_active: false });

    expect((await ask(device, { as: 'viewer' })).status).toBe(401);
  });

  test('text is trimmed, and no slash is sent on', async () => {
    const device = await startDevice({ profile: 'drf' });

    await askJson(device, 'POST', '/api/user/', CAROL);

    expect(device.records('user').at(-1)).toMatchObject({ first_name: 'Carol' });
    expect((await ask(device, { path: '/api/interface' })).status).toBe(301);
  });
});

describe('only generic-rest', () => {
  test('ids are numbers that no later record gets again', async () => {
    const device = await startDevice({ profile: 'generic-rest' });

    await askJson(device, 'POST', '/api/user', CAROL);
    await askJson(device, 'DELETE', '/api/user/26');
    const { value } = await askJson(device, 'POST', '/api/user', CAROL);

    expect(value).toMatchObject({ id: 27, first_name: ' Carol ' });
    expect(value).not.toHaveProperty('uuid');
  });

  test('a slash at the end is 404, and OPTIONS and forms are refused', async () => {
    const device = await startDevice({ profile: 'generic-rest' });
    const path = '/api/user';

    expect((await ask(device, { path: '/api/user/' })).status).toBe(404);
    expect((await ask(device, { path: '/api/user/1/' })).status).toBe(404);
    expect((await ask(device, { path, method: 'POST', body: CAROL })).status).toBe(415);
    expect(await askJson(device, 'OPTIONS', path)).toMatchObject({
      status: 405,
      allow: 'GET, POST, HEAD',
    });
  });
});
