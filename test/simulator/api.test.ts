import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimulator, type Simulator } from './simulator.ts';
import { ask, BOB, userNamed, type Question } from './ask.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

const device = () => {
  const [first] = simulator.devices;
  if (first === undefined) throw new Error('no device');
  return first;
};
const uuidOf = (username: string): string => userNamed(device(), username)?.uuid ?? '';
const post = (change: Readonly<Record<string, string>>, question: Question = {}) =>
  ask(device(), { method: 'POST', body: { ...BOB, ...change }, ...question });

describe('reading', () => {
  test('the list is a bare array of users with the five documented fields', async () => {
    const { status, headers, body } = await ask(device());

    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      allow: 'GET, POST, HEAD, OPTIONS',
    });
    const users = JSON.parse(body) as Record<string, unknown>[];
    expect(users).toHaveLength(25);
    expect(users).toEqual(device().users);
    for (const user of users) {
      expect(Object.keys(user)).toEqual(['uuid', 'first_name', 'lastname', 'username', 'lang']);
    }
    expect(users.map((user) => user.username)).toEqual(expect.arrayContaining(['admin', 'viewer']));
  });

  test('the root names the resources with absolute addresses', async () => {
    const { body } = await ask(device(), { path: '/api/' });

    expect(JSON.parse(body)).toEqual({ user: `${device().url}/api/user/` });
  });
});

describe('writing', () => {
  test('the uuid null creates, and the whole user comes back', async () => {
    const { status, body } = await post({ username: 'carol', first_name: ' Zoë 🦊 ' });

    expect(status).toBe(201);
    const user = JSON.parse(body) as unknown;
    expect(user).toEqual({
      ...BOB,
      username: 'carol',
      first_name: 'Zoë 🦊',
      uuid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4/) as string,
    });
    expect(device().users.at(-1)).toEqual(user);
  });

  test('a known uuid updates that user and no other', async () => {
    await post({ username: 'dora' });
    const before = device().users;
    const uuid = uuidOf('dora');

    const { status, body } = await post({ uuid, username: 'dora', lang: 'it', lastname: '' });

    const dora = { ...BOB, uuid, username: 'dora', lang: 'it', lastname: '' };
    expect(status).toBe(200);
    expect(JSON.parse(body)).toEqual(dora);
    expect(device().users).toEqual(before.map((user) => (user.uuid === uuid ? dora : user)));
  });

  test('an unknown uuid is 404', async () => {
    const { status, body } = await post({ uuid: '00000000-0000-4000-8000-000000000000' });

    expect(status).toBe(404);
    expect(JSON.parse(body)).toEqual({ detail: 'No User matches the given query.' });
  });

  test.each([
    ['lang', 'xx', '"xx" is not a valid choice.'],
    ['lang', '', '"" is not a valid choice.'],
    ['uuid', 'NULL', 'Must be a valid UUID.'],
    ['uuid', '', 'Must be a valid UUID.'],
    ['username', ' ', 'This field may not be blank.'],
    ['username', 'admin', 'A user with that username already exists.'],
    ['username', 'x'.repeat(151), 'Ensure this field has no more than 150 characters.'],
    [
      'username',
      'two words',
      'Enter a valid username. This value may contain only letters, numbers, and @/./+/-/_ characters.',
    ],
    ['first_name', 'x'.repeat(151), 'Ensure this field has no more than 150 characters.'],
    ['lastname', 'a\0b', 'Null characters are not allowed.'],
  ])('the field %s does not take %j', async (field, value, text) => {
    const before = device().users;

    const { status, body } = await post({ username: 'nobody', [field]: value });

    expect([status, JSON.parse(body)]).toEqual([400, { [field]: [text] }]);
    expect(device().users).toEqual(before);
  });

  test('150 characters are counted as characters, and letters of any script are a username', async () => {
    const { status } = await post({ username: '山田.é@+-_', first_name: '🦊'.repeat(150) });

    expect(status).toBe(201);
  });

  test('every missing field is named at once', async () => {
    const { status, body } = await ask(device(), { method: 'POST', body: { lang: 'xx' } });

    const required = ['This field is required.'];
    expect([status, JSON.parse(body)]).toEqual([
      400,
      {
        uuid: required,
        first_name: required,
        lastname: required,
        username: required,
        lang: ['"xx" is not a valid choice.'],
      },
    ]);
  });

  test('an empty POST misses every field', async () => {
    const { status, body } = await ask(device(), { method: 'POST' });

    expect(status).toBe(400);
    expect(Object.keys(JSON.parse(body) as object)).toHaveLength(5);
  });

  test.each(['application/json', 'multipart/form-data; boundary=x'])(
    'a body of the type %s is 415',
    async (type) => {
      const headers = { 'Content-Type': type };
      const { status, body } = await ask(device(), { method: 'POST', body: '{}', headers });

      expect([status, JSON.parse(body)]).toEqual([
        415,
        { detail: `Unsupported media type "${type}" in request.` },
      ]);
    },
  );

  test('a body over 2.5 MB is refused with a page', async () => {
    const { status, headers } = await post({ first_name: 'x'.repeat(2_700_000) });

    expect([status, headers['content-type']]).toEqual([400, 'text/html; charset=utf-8']);
  });

  test('deleting a user is 204, and 404 the second time', async () => {
    await post({ username: 'erin' });
    const path = `/api/user/${uuidOf('erin')}/`;

    const first = await ask(device(), { method: 'DELETE', path });
    const second = await ask(device(), { method: 'DELETE', path });

    expect([first.status, first.body, first.headers['content-length']]).toEqual([204, '', '0']);
    expect([second.status, JSON.parse(second.body)]).toEqual([
      404,
      { detail: 'No User matches the given query.' },
    ]);
    expect(uuidOf('erin')).toBe('');
  });

  test.each(['POST', 'DELETE'])('the viewer may not %s', async (method) => {
    const path = method === 'POST' ? '/api/user/' : `/api/user/${uuidOf('admin')}/`;
    const { status, body } = await ask(device(), { method, path, as: 'viewer', body: BOB });

    expect([status, JSON.parse(body)]).toEqual([
      403,
      { detail: 'You do not have permission to perform this action.' },
    ]);
  });
});

describe('addresses', () => {
  test.each([
    ['DELETE', '/api/user/', 'GET, POST, HEAD, OPTIONS'],
    ['PUT', '/api/user/', 'GET, POST, HEAD, OPTIONS'],
    ['PUT', '/api/user/ADMIN/', 'GET, DELETE, HEAD, OPTIONS'],
    ['PATCH', '/api/user/ADMIN/', 'GET, DELETE, HEAD, OPTIONS'],
    ['POST', '/api/', 'GET, HEAD, OPTIONS'],
  ])('%s %s is 405 and says what is allowed', async (method, path, allow) => {
    const before = device().users;

    const { status, headers, body } = await ask(device(), {
      method,
      path: path.replace('ADMIN', uuidOf('admin')),
    });

    expect([status, headers.allow]).toEqual([405, allow]);
    expect(JSON.parse(body)).toEqual({ detail: `Method "${method}" not allowed.` });
    expect(device().users).toEqual(before);
  });

  test.each([
    ['GET', '/api', '/api/'],
    ['GET', '/api/user?lang=de', '/api/user/?lang=de'],
    ['POST', '/api/user', '/api/user/'],
    ['DELETE', '/api/user/0b7e', '/api/user/0b7e/'],
  ])('%s %s is sent on to the slash before login', async (method, path, location) => {
    const { status, headers, body } = await ask(device(), { method, path, as: null });

    expect([status, headers.location, body]).toEqual([301, location, '']);
  });

  test.each([
    '/',
    '/api/group/',
    '/api/user/../',
    '/api/user/%2e%2e/',
    '/api/user//',
    '/api/user/a%2Fb/',
  ])('%s is a page that says 404, before login', async (path) => {
    const { status, headers, body } = await ask(device(), { method: 'DELETE', path, as: null });

    expect([status, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(body).toContain('<h1>Not Found</h1>');
  });

  test('OPTIONS says what is understood', async () => {
    const { status, body } = await ask(device(), { method: 'OPTIONS' });

    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject({
      name: 'User List',
      parses: ['application/x-www-form-urlencoded'],
    });
  });

  test('the log keeps what was asked and answered', async () => {
    await ask(device(), { path: '/api/user/?a=b' });
    await post({ lang: 'xx' });

    expect(device().log.slice(-2)).toEqual([
      {
        method: 'GET',
        path: '/api/user/?a=b',
        status: 200,
        body: '',
        authorization: 'token',
        at: expect.any(Number) as number,
      },
      {
        method: 'POST',
        path: '/api/user/',
        status: 400,
        body: 'uuid=null&first_name=Bob&lastname=Builder&username=bob&lang=xx',
        authorization: 'token',
        at: expect.any(Number) as number,
      },
    ]);
  });
});
