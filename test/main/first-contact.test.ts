import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serve, type TestServer } from '../device/server.ts';
import { ADMIN, makeDevsh, startFleet } from './devsh.ts';

const NAMES = ['ann', 'bob', 'cyd'];

interface Shape {
  readonly path: string;
  /** How the list is wrapped. */
  readonly wrap: (users: readonly object[]) => unknown;
  readonly user: (name: string, index: number) => object;
  /** What other paths answer. */
  readonly elsewhere?: { readonly status: number; readonly body?: string };
}

/** Products that devsh has never seen: their path, envelope, key and id are of their own. */
const SHAPES: readonly Shape[] = [
  { path: '/users', wrap: (users) => users, user: (username, id) => ({ id, username }) },
  {
    path: '/api/v1/users',
    wrap: (users) => ({ ok: true, payload: { accounts: { list: users }, count: 3 } }),
    user: (login, index) => ({ uid: `u-${index}`, login, mail: `${login}@x.org` }),
  },
  {
    path: '/api/v1/admin/users',
    wrap: (users) => ({ users, total: 3 }),
    user: (name) => ({ name, roles: ['reader'] }),
  },
  {
    path: '/rest/users',
    wrap: (users) => ({ results: users }),
    user: (username, index) => ({ objectId: `o${index}`, username }),
    elsewhere: { status: 200, body: '<html>App</html>' },
  },
];

async function startShape({ path, wrap, user, elsewhere }: Shape): Promise<TestServer> {
  const users = NAMES.map(user);
  return serve(({ url = '', headers }, response) => {
    if (headers.authorization === undefined) response.writeHead(401).end('{}');
    else if (url.split('?')[0] === path) response.end(JSON.stringify(wrap(users)));
    else response.writeHead(elsewhere?.status ?? 404).end(elsewhere?.body ?? '{}');
  });
}

test.each(SHAPES)('after one y the users at $path are listed', async (shape) => {
  const server = await startShape(shape);
  const devsh = await makeDevsh(ADMIN);
  await devsh(['device', 'add', 'box', `127.0.0.1:${server.port}`, '--insecure']);
  const met = await devsh('--plain', { tty: ['connect box', 'y', 'exit'] });
  expect(met.stdout + met.stderr).toContain(
    'box: with these facts devsh reads 3 users: ann, bob, cyd',
  );
  const { stdout } = await devsh('user list --on box');
  for (const name of NAMES) expect(stdout).toContain(name);
  expect(new Set(server.requests.map(({ method }) => method))).toEqual(new Set(['GET', 'OPTIONS']));
  expect(await readFile(join(devsh.folder, 'config/devsh/profiles/box.yaml'), 'utf8')).toMatch(
    /^extends: generic-rest$/m,
  );
});

test('without a person the line is printed, --yes keeps it, and no keeps nothing', async () => {
  const [shape] = SHAPES;
  const server = await startShape(shape as Shape);
  const devsh = await makeDevsh(ADMIN);
  await devsh(['device', 'add', 'box', `127.0.0.1:${server.port}`, '--insecure']);
  const scripted = await devsh('run -', { stdin: 'connect box\n' });
  const typed = await devsh('--plain', { tty: ['connect box', 'n', 'exit'] });
  for (const met of [scripted, typed]) {
    expect(met.stdout + met.stderr).toMatch(/"profile set box extends=generic-rest \S+=\S+/);
    expect(met.stdout + met.stderr).toMatch(/tried \/api\/user\/.* \(404/);
    expect((await devsh('user list --on box')).exitCode).not.toBe(0);
  }
  expect(scripted.exitCode).not.toBe(0);
  expect((await devsh('connect box --yes')).exitCode).toBe(0);
  expect((await devsh('user list --on box')).stdout).toContain('ann');
});

test('a device that is not in the inventory is added to it with its profile', async () => {
  const [, shape] = SHAPES;
  const server = await startShape(shape as Shape);
  const devsh = await makeDevsh(ADMIN);
  const address = `127.0.0.1:${server.port}`;
  await devsh('--plain', { tty: [`connect ${address} --insecure`, 'y', 'exit'] });
  expect(await readFile(join(devsh.folder, 'config/devsh/devices.yaml'), 'utf8')).toContain(
    address,
  );
  expect((await devsh('user list --on @all')).stdout).toContain('bob');
});

test('a stated profile and a right path are no first contact', async () => {
  const missing = await serve((_request, response) => response.writeHead(404).end('{}'));
  const devsh = await makeDevsh(ADMIN);
  const address = `127.0.0.1:${missing.port}`;
  await devsh(['device', 'add', 'stated', address, '--insecure', '--profile', 'drf']);
  await devsh('run -', { stdin: 'connect stated\n' });
  expect(new Set(missing.requests.map(({ path }) => path.split('/')[1]))).toEqual(new Set(['api']));
});

/** What devices answer below each path, after the login at the documented path was refused. */
const REFUSING: readonly (readonly [
  what: string,
  answer: (path: string) => number,
  told: RegExp | undefined,
])[] = [
  [
    'everything needs a login',
    () => 401,
    /tried \/api\/user\/ \(401\), \/user\/, .* more \(401 without a login\)\n.*auth\.login\.path=\/PATH/,
  ],
  [
    'only the documented path exists',
    (path) => (/^\/api\/users?\/?$/.test(path) ? 401 : 404),
    undefined,
  ],
  [
    'a list elsewhere is forbidden',
    (path) => (path === '/v1/users' ? 403 : path.startsWith('/api/') ? 401 : 404),
    /\/v1\/users \(403 without a login\)/,
  ],
  [
    'a list elsewhere is open',
    (path) => (path === '/v1/users' ? 200 : path.startsWith('/api/') ? 401 : 404),
    /devsh reads 3 users: ann, bob, cyd/,
  ],
];

test.each(REFUSING)('a refused login goes to no other place: %s', async (_, answer, told) => {
  const users = NAMES.map((username, id) => ({ id, username }));
  const server = await serve(({ url = '' }, response) => {
    const status = answer(url.split('?')[0] ?? '');
    response.writeHead(status).end(status === 200 ? JSON.stringify(users) : '{}');
  });
  const devsh = await makeDevsh(ADMIN);
  await devsh(['device', 'add', 'box', `127.0.0.1:${server.port}`, '--insecure']);
  const { stdout, stderr, exitCode } = await devsh('run -', { stdin: 'connect box\n' });
  const [first, ...others] = server.requests;
  expect(first?.headers.authorization).toBeDefined();
  expect(others.length).toBeGreaterThan(0);
  expect(others.every(({ headers }) => headers.authorization === undefined)).toBe(true);
  expect(new Set(server.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
  // A base path that wants a login is asked once.
  const refused = others.filter(({ path }) => answer(path) === 401).map(({ path }) => path);
  const bases = refused.map((path) => path.replace(/[^/]+\/?$/, ''));
  expect(new Set(bases).size).toBeGreaterThanOrEqual(bases.length - 1);
  if (told === undefined) expect(stdout + stderr).not.toContain('tried');
  else expect(stdout + stderr).toMatch(told);
  expect(exitCode).not.toBe(0);
});

test('a wrong password of a device that devsh knows, or of several devices, is looked for nowhere else', async () => {
  const { devsh, devices } = await startFleet({ devices: 2, profile: 'generic-rest' });
  await devsh('connect sim1');
  const env = { DEVSH_USER: 'admin', DEVSH_PASSWORD: 'wrong' };
  for (const names of ['sim1', 'sim1 sim2']) {
    const before = devices.map(({ log }) => log.length);
    expect((await devsh(`connect ${names}`, { env })).exitCode).not.toBe(0);
    const sent = devices.flatMap(({ log }, index) => log.slice(before[index]));
    const paths = sent.map(({ path }) => path.replace(/\/$/, ''));
    expect([...new Set(paths)], names).toEqual(['/api/user']);
  }
});
