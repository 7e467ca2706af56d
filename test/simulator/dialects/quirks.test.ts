import { describe, expect, test } from 'vitest';
import { QUIRKS } from './dialect.ts';
import { startSimulator, type SimulatorOptions } from '../simulator.ts';
import { ask, BOB } from '../ask.ts';
import { askJson, startDevice } from '../dialect-device.ts';

const ZOE = { username: 'zoe', lang: 'de', first_name: ' Zoë ' };

test('each quirk has one sentence of its own', () => {
  for (const { summary } of QUIRKS) expect(summary).toMatch(/^[A-Z].*\.$/);
  expect(new Set(QUIRKS.map(({ name }) => name)).size).toBe(QUIRKS.length);
});

test('strings leaves nothing else in a record, in lists and in answers to writes', async () => {
  const device = await startDevice({ profile: 'generic-rest', quirk: ['strings'] });

  const { value } = await askJson(device, 'GET', '/api/interface/3');
  const created = await askJson(device, 'POST', '/api/user', ZOE);

  expect(value).toMatchObject({
    id: '3',
    mtu: '1500',
    enabled: 'true',
    ipv4: { mode: 'static', metric: '2' },
  });
  expect(created.value).toMatchObject({ id: '26', is_active: 'true' });
});

test('http-next names a proxy, page-loop the same page', async () => {
  const options = { profile: 'drf', paging: 'next' } as const;
  const proxied = await startDevice({ ...options, quirk: ['http-next'] });
  const looping = await startDevice({ ...options, quirk: ['page-loop'] });

  expect((await askJson(proxied, 'GET', '/api/user/')).value).toMatchObject({
    next: 'http://proxy.invalid/api/user/?page=2',
  });
  expect((await askJson(looping, 'GET', '/api/user/?page=2')).value).toMatchObject({
    next: `${looping.url}/api/user/?page=2`,
  });
});

test('trims stores text without the spaces around it', async () => {
  const device = await startDevice({ profile: 'generic-rest', quirk: ['trims'] });

  await askJson(device, 'POST', '/api/user', ZOE);

  expect(device.users.at(-1)?.first_name).toBe('Zoë');
});

test.each(['documented', 'drf'] as const)('no-options: %s refuses OPTIONS', async (profile) => {
  const device = await startDevice({ profile, quirk: ['no-options'] });

  expect(await askJson(device, 'OPTIONS', '/api/user/')).toMatchObject({
    status: 405,
    allow: 'GET, POST, HEAD',
  });
});

describe('update-creates', () => {
  test('a documented update makes a second user of the same name', async () => {
    const device = await startDevice({ quirk: ['update-creates'] });
    const [, viewer] = device.users;

    const body = { ...BOB, username: 'viewer', uuid: viewer?.uuid ?? '' };
    const { status } = await ask(device, { method: 'POST', body });

    expect(status).toBe(201);
    expect(device.users[1]).toEqual(viewer);
    expect(device.users.at(-1)).toMatchObject({ username: 'viewer', first_name: 'Bob' });
    expect(device.users.at(-1)?.uuid).not.toBe(viewer?.uuid);
  });

  test('so does a POST with an id, and without one the name is still taken', async () => {
    const device = await startDevice({ profile: 'generic-rest', quirk: ['update-creates'] });
    const viewer = { username: 'viewer', lang: 'de' };

    const answers = [
      await askJson(device, 'POST', '/api/user', { ...viewer, id: 2 }),
      await askJson(device, 'POST', '/api/user', viewer),
    ];

    expect(answers.map(({ status }) => status)).toEqual([201, 400]);
    expect(device.users.filter(({ username }) => username === 'viewer')).toHaveLength(2);
  });
});

test('html-errors answers 400 with a page in which markup is text', async () => {
  const device = await startDevice({ quirk: ['html-errors'] });

  const body = { ...BOB, lang: '<i>' };
  const { status, headers, body: page } = await ask(device, { method: 'POST', body });

  expect([status, headers['content-type']]).toEqual([400, 'text/html; charset=utf-8']);
  expect(page).toContain('lang: "&lt;i&gt;" is not a valid choice.');
});

test('status-200-errors rejects in a 200, but not a stranger', async () => {
  const device = await startDevice({ profile: 'drf', quirk: ['status-200-errors'] });

  expect(await askJson(device, 'POST', '/api/user/', { lang: 'de' })).toMatchObject({
    status: 200,
    value: { success: false, message: 'username: This field is required.' },
  });
  expect(await askJson(device, 'DELETE', '/api/user/none/')).toMatchObject({
    status: 200,
    value: { success: false, message: 'No User matches the given query.' },
  });
  expect((await ask(device, { as: null })).status).toBe(401);
});

test.each([
  { profile: 'drf', item: '/api/user/4/' },
  { profile: 'generic-rest', item: '/api/user/4' },
] as const)('positional-ids of $profile shift after a delete', async ({ profile, item }) => {
  const device = await startDevice({ profile, quirk: ['positional-ids'] });
  const [, , , , fourth, fifth] = device.users;

  const before = (await askJson(device, 'GET', item)).value;
  await askJson(device, 'DELETE', item);
  const after = (await askJson(device, 'GET', item)).value;

  expect(before).toMatchObject({ id: 4, username: fourth?.username });
  expect(after).toMatchObject({ id: 4, username: fifth?.username });
  expect(device.records('user').map(({ id }) => id)).toEqual([...Array(24).keys()]);
});

test.each<[SimulatorOptions, string]>([
  [{ quirk: ['http-next'] }, 'The quirk http-next needs the paging next, not none.'],
  [
    { quirk: ['page-loop'], paging: 'offset' },
    'The quirk page-loop needs the paging next, not offset.',
  ],
  [
    { quirk: ['positional-ids'] },
    'The quirk positional-ids makes no sense with the profile documented.',
  ],
  [
    { quirk: ['html-errors'], profile: 'form-action' },
    'The quirk html-errors makes no sense with the profile form-action.',
  ],
  [
    { quirk: ['status-200-errors', 'html-errors'] },
    'The quirk html-errors cannot go together with status-200-errors.',
  ],
  [
    { quirk: ['update-creates'], envelope: 'keyed' },
    'The quirk update-creates cannot go together with keyed.',
  ],
])('%j is refused', async (options, message) => {
  await expect(startSimulator(options)).rejects.toThrow(new RangeError(message));
});

test('hidden-fields are stored and shown by no answer', async () => {
  const device = await startDevice({ profile: 'drf', quirk: ['hidden-fields'] });
  const created = await askJson(device, 'POST', '/api/user/', { ...ZOE, email: 'z@x' });
  expect(created.value).not.toHaveProperty('email');
  expect(device.users.at(-1)).toMatchObject({ username: 'zoe', email: 'z@x', password: '' });
});

test('put-replaces empties what a PUT leaves out, and takes no PATCH', async () => {
  const device = await startDevice({
    profile: 'generic-rest',
    quirk: ['hidden-fields', 'put-replaces', 'read-only-content'],
  });
  const [admin] = device.users;
  expect(admin).toMatchObject({ password: 'hash of admin', groups: ['staff', 'ops'] });
  const sent = { username: 'admin', lang: 'de' };
  expect((await askJson(device, 'PATCH', '/api/user/1', sent)).status).toBe(405);
  expect((await askJson(device, 'PUT', '/api/user/1', sent)).status).toBe(200);
  expect(device.users[0]).toMatchObject({ password: '', first_name: '', groups: ['staff', 'ops'] });
});
