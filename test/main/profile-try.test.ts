import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serve, type TestServer } from '../device/server.ts';
import type { SimulatorOptions } from '../simulator/simulator.ts';
import { ADMIN, makeDevsh, type RunOptions, startFleet } from './devsh.ts';
import { startOwnDevice } from './own-device.ts';

interface Tried {
  readonly understood: readonly { about: string; finding: string; origin: string }[];
  readonly requests: readonly { action: string; sends: string | null; note: string | null }[];
  readonly suggestions?: readonly { fact: string; value: string; why: string }[];
}

/** Tries a profile file on a device, and asserts that the device got nothing but GET. */
async function tryFile(
  profile: string | undefined,
  options: SimulatorOptions = {},
  { words = '', ...run }: RunOptions & { readonly words?: string } = {},
) {
  const { devsh, device } = await startFleet({ profile: 'generic-rest', ...options });
  const file = join(devsh.folder, 'router.yaml');
  if (profile !== undefined) await writeFile(file, profile);
  const line = ['profile', 'try', 'sim1', ...words.split(' ').filter((word) => word !== '')];
  const argv = profile === undefined ? line : [...line, file];
  const result = await devsh([...argv, '--json'], run);
  expect(new Set(device(1).log.map(({ method }) => method))).toEqual(new Set(['GET']));
  const tried = JSON.parse(result.stdout) as Tried;
  const finding = (about: string): string | undefined =>
    tried.understood.find((one) => one.about === about)?.finding;
  return { ...result, tried, finding, devsh };
}

test('shows what a profile means for reads and writes, without writing', async () => {
  const { tried, finding, exitCode, devsh } = await tryFile(
    'extends: generic-rest\nresources:\n  user:\n    key_field: username\n    fields: [password]\n',
  );
  expect(exitCode).toBe(0);
  expect(finding('login')).toBe('Authorization: Basic ***');
  expect(finding('list')).toBe('GET /api/user');
  expect(finding('records')).toBe('8 records in array, on one page');
  expect(finding('one record')).toMatch(/^GET \/api\/user\/\d+ shows more than the list: nothing$/);
  expect(finding('id')).toBe('id, unique in all 8');
  expect(finding('key')).toBe('username, unique in all 8');
  expect(finding('field is_active')).toBe('boolean');
  expect(finding('field password')).toBe('type unknown needed, secret, in no record');
  expect(tried.understood).toContainEqual(
    expect.objectContaining({ about: 'key', origin: 'configured' }),
  );
  expect(tried.requests.map(({ sends }) => sends?.replace(/user\/\d+/, 'user/ID'))).toEqual([
    'POST /api/user {"password":"***","username":"example"}',
    'PATCH /api/user/ID {"first_name":"example"}',
    'DELETE /api/user/ID',
  ]);
  expect(tried.suggestions).toBeUndefined();
  // A profile that is only tried leaves no facts behind.
  expect(await readdir(join(devsh.folder, 'cache/devsh')).catch(() => [])).not.toContain('learned');
});

test.each<
  [what: string, profile: string, simulator: SimulatorOptions, fact: string, value: string]
>([
  ['the key', 'resources: {user: {key_field: login}}', {}, 'resources.user.key_field', 'username'],
  ['the id', 'id_fields: [ident]', {}, 'id_fields', '[id]'],
])('suggests %s', async (_, profile, simulator, fact, value) => {
  const { tried } = await tryFile(`extends: generic-rest\n${profile}\n`, simulator);
  expect(tried.suggestions).toContainEqual(expect.objectContaining({ fact, value }));
});

test.each<[what: string, profile: string, simulator: SimulatorOptions, code: number, text: RegExp]>(
  [
    ['404', 'resources: {user: {path: /rest/user}}', {}, 1, /no list was read.*GET \/rest\/user/s],
    [
      'a wrong place',
      'list: {items: results}',
      { envelope: 'rows' },
      1,
      /without list.items devsh looks for them/,
    ],
    ['an HTML page', '', { faults: ['sim1:html-page'] }, 1, /no list was read.*HTML/s],
  ],
)('says what is not known after %s', async (_, profile, simulator, code, text) => {
  const { stdout, stderr, exitCode, tried } = await tryFile(
    `extends: generic-rest\n${profile}\n`,
    simulator,
  );
  expect(stderr + stdout).toMatch(text);
  expect(stderr).toContain('Not known of a user: id, key and fields');
  expect(exitCode).toBe(code);
  expect(tried.requests.map(({ action }) => action)).toContain('add');
});

test('reads on after a 404, and says what was tried and which line to state', async () => {
  const { devsh } = await startFleet({ profile: 'generic-rest' });
  await devsh('profile set sim1 extends=generic-rest base_path=/rest/');
  const { stdout, stderr, exitCode } = await devsh('profile try sim1');
  expect(stdout).toMatch(/^not at\t\/rest\/user \(404\)\t/m);
  expect(stdout).toMatch(/^list\tGET \/api\/user\t/m);
  expect(stdout).toMatch(
    /^base_path\t\/api\/\t\/rest\/user \(404\); the records are at \/api\/user$/m,
  );
  expect(stdout).toMatch(/^delete\tDELETE \/api\/user\/\d+\t/m);
  expect(stderr).toContain('to state it: "profile set sim1 base_path=/api/"');
  expect(exitCode).toBe(0);
  await devsh('profile set sim1 base_path=/api/');
  const { stdout: users } = await devsh('user list --on sim1 --json');
  expect(users).toContain('username');
  const none = await devsh('profile try sim1 gadget');
  expect(none.stderr).toMatch(/tried .*\/gadgets.* and \d+ more \(404\)/);
  expect(none.stderr).toContain('"profile set sim1 resources.gadget.path=/PATH"');
  expect(none.exitCode).toBe(1);
});

/** A device that refuses these paths, has its users at `/api/v1/user/`, and knows no other path. */
function startRefusing(paths: RegExp, status: 401 | 403): Promise<TestServer> {
  return serve(({ url = '', headers }, response) => {
    if (headers.authorization === undefined) response.writeHead(401).end();
    else if (paths.test(url)) response.writeHead(status).end('{}');
    else if (url === '/api/v1/user/') response.end('[{"id":1,"username":"ann","lang":"de"}]');
    else response.writeHead(404).end('{}');
  });
}

test('reads on after a 403 at a path that is only tried', async () => {
  const server = await startRefusing(/^\/rest\/user\/$/, 403);
  const devsh = await makeDevsh(ADMIN);
  await devsh(['device', 'add', 'box', `127.0.0.1:${server.port}`, '--insecure']);
  const { stdout, stderr, exitCode } = await devsh('profile try box');
  expect(stdout).toContain('/rest/user/ (403)');
  expect(stderr).toContain(
    'to state it: "profile set box extends=generic-rest base_path=/api/v1/"',
  );
  expect(exitCode).toBe(0);
});

test('reads on without the login after a 401 at a path that is only tried', async () => {
  const server = await startRefusing(/^\/rest\//, 401);
  const devsh = await makeDevsh(ADMIN);
  await devsh(['device', 'add', 'box', `127.0.0.1:${server.port}`, '--insecure']);
  const { stderr, exitCode } = await devsh('profile try box', { tty: [] });
  expect(stderr).toMatch(/\/rest\/user\/ \(401\), \/rest\/user.* \(401 without a login\)/);
  expect(exitCode).toBe(1);
  const after = server.requests.slice(
    server.requests.findIndex(({ path }) => path === '/rest/user/') + 1,
  );
  expect(after.length).toBeGreaterThan(5);
  expect(after.every(({ headers }) => headers.authorization === undefined)).toBe(true);
});

test('says what is not known after an empty list', async () => {
  const { devsh, writes } = await startOwnDevice({ users: [] });
  const { stdout, stderr, exitCode } = await devsh('profile try oslo --json');
  expect(stderr).toContain('the list is empty. Not known of a user: id, key and fields');
  expect(stdout).toContain('"sends":"POST /api/user/');
  expect(exitCode).toBe(0);
  expect(writes()).toEqual([]);
});

test('a refused login is sent once, and is no reason to guess', async () => {
  const env = { DEVSH_PASSWORD: 'wrong' };
  const { stderr, exitCode, finding } = await tryFile(undefined, {}, { env });
  expect(stderr).toContain('no list was read');
  expect(exitCode).toBe(4);
  expect(finding('login')).toBe('Authorization: Basic ***');
});

test('records below others are shown and written by their place', async () => {
  const { tried, finding } = await tryFile(
    'extends: generic-rest\nid_fields: []\nresources:\n  domain: {key_field: name}\n' +
      '  entry: {parent: domain, path: "/api/domain/{parent}/entry", key_field: name}\n',
    { quirk: ['domains'] },
    { words: 'entry' },
  );
  expect(finding('key')).toBe('domain/name, unique in all 6');
  expect(finding('one record')).toBe(
    'GET /api/domain/example.org/entry/www shows more than the list: nothing',
  );
  expect(tried.requests.map(({ sends }) => sends)).toEqual([
    'POST /api/domain/example.org/entry {"name":"example"}',
    'PATCH /api/domain/example.org/entry/www {"content":"example"}',
    'DELETE /api/domain/example.org/entry/www',
  ]);
  expect(tried.suggestions).toBeUndefined();
});

test('a session is opened and ended where the profile says, and nothing else is sent but GET', async () => {
  const { devsh, device } = await startFleet({ quirk: ['session-token'] });
  const logout = '{method: DELETE, path: /api/login}';
  const stdin = `auth: {login: {path: /api/login, token_in: data.token, logout: ${logout}}}\n`;
  const { stdout, exitCode } = await devsh('profile try sim1 -', { stdin });
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^login\tPOST \/api\/login; then data.token\tconfigured$/m);
  expect(stdout).not.toContain('admin-secret');
  const writes = device(1).log.filter(({ method }) => method !== 'GET');
  expect(writes.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /api/login',
    'DELETE /api/login',
  ]);
});

test('a mistake in the file is reported with line and column, before the device is asked', async () => {
  const { devsh, device } = await startFleet();
  const stdin = 'extends: drf\nlist: {item: x}\n';
  const { stderr, exitCode } = await devsh('profile try sim1 user -', { stdin });
  expect(stderr).toContain('-:2:8: unknown fact "item", did you mean "items"?');
  expect(exitCode).not.toBe(0);
  expect(device(1).log).toEqual([]);
});

test.each([
  ['profile try sim1 user alias', 'name one resource and one file'],
  ['profile try sim1 a.yaml b.yaml', 'name one resource and one file'],
  ['profile try @lab', 'name one'],
])('%s is a mistake', async (line, text) => {
  const { devsh } = await startFleet({ devices: 2 });
  const { stderr, exitCode } = await devsh(line);
  expect(stderr).toContain(text);
  expect(exitCode).toBe(2);
});
