import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { createServer } from 'node:https';
import { certificateFor, listen } from '../device/server.ts';
import { ADMIN, makeDevsh } from './devsh.ts';

type Devsh = Awaited<ReturnType<typeof makeDevsh>>;

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly json: Readonly<Record<string, unknown>>;
}

/** A device that answers as told: a status, or the JSON of a 200. */
async function start(
  profile: string,
  answer: (asked: Asked) => number | object,
  name = 'box',
  devsh?: Devsh,
): Promise<Devsh> {
  const certificate = certificateFor(['127.0.0.1']);
  const server = createServer(
    { key: certificate.key, cert: certificate.cert },
    (request, response) => {
      let body = '';
      request.on('data', (part: Buffer) => (body += part.toString()));
      request.on('end', () => {
        const { method = '', url: path = '', headers } = request;
        const json = (/^\{/.test(body) ? JSON.parse(body) : {}) as Asked['json'];
        const said = answer({ method, path, headers, json });
        if (typeof said === 'number') response.writeHead(said).end('{}');
        else response.end(JSON.stringify(said));
      });
    },
  );
  const port = await listen(server);
  const own = devsh ?? (await makeDevsh(ADMIN));
  const file = join(own.folder, `${name}.yaml`);
  await writeFile(file, `extends: generic-rest\n${profile}`);
  await own(['device', 'add', name, `127.0.0.1:${port}`, '--insecure']);
  const used = await own(['profile', 'use', name, file]);
  expect(used.stderr).toContain(`${name} uses the profile`);
  return own;
}

test('a list that is read by POST is read like any other, and nothing is posted to the path of new records', async () => {
  const seen: string[] = [];
  let isBusy = true;
  const facts = 'list: {path: "{collection}/search", post: {limit: 500, all: true}}\n';
  const devsh = await start(facts, ({ method, path, json }) => {
    seen.push(`${method} ${path} ${JSON.stringify(json)}`);
    if (method !== 'POST' || path !== '/api/user/search') return 404;
    isBusy = !isBusy;
    return isBusy ? [{ id: 1, username: 'ann' }] : 503;
  });
  const { stdout, exitCode } = await devsh('user list --on box');
  expect(stdout).toContain('ann');
  expect(exitCode).toBe(0);
  expect(new Set(seen.filter((one) => one.startsWith('POST')))).toEqual(
    new Set(['POST /api/user/search {"limit":500,"all":true}']),
  );
  const refused = await devsh('profile set box list.path={collection}');
  expect(refused.stderr).toContain('a POST to the path of new records would add one');
});

test('the order of a set says nothing, in a read-back and between devices', async () => {
  const devices = new Map<string, string[]>([
    ['box', ['c', 'a']],
    ['bay', ['a', 'c']],
  ]);
  const fleet = (name: string) => (asked: Asked) => {
    const { tags } = asked.json as { tags?: string[] };
    if (tags !== undefined) devices.set(name, tags.toReversed());
    const user = { id: 1, username: 'ann', tags: devices.get(name) };
    return asked.path === '/api/user' ? [user] : user;
  };
  const facts = 'resources: {user: {key_field: username, fields: {tags: set}}}\n';
  const devsh = await start(facts, fleet('box'));
  await start(facts, fleet('bay'), 'bay', devsh);
  expect((await devsh('user list --drift --on box --on bay')).exitCode).toBe(0);
  const set = await devsh('user set ann tags=c,b,a --on box --yes --allow unlisted-login');
  expect(set.stdout).toContain('1 done');
  const again = await devsh('user set ann tags=b,a,c --on box --yes --allow unlisted-login');
  expect(again.stdout).toMatch(/already so|unchanged/);
  expect(devices.get('box')).toEqual(['c', 'b', 'a']);
});

test('a record that stays in the list as deleted is gone', async () => {
  const users = ['ann', 'bob'].map((username, id) => ({ id, username, state: 'active' }));
  const facts =
    'remove: {method: PATCH, path: "{item}", encoding: json, constants: {state: deleted}, selector: none}\n' +
    'resources: {user: {key_field: username, deleted_as: {state: deleted}}}\n';
  const devsh = await start(facts, ({ method, path, json }) => {
    const id = Number(/^\/api\/user\/(\d+)$/.exec(path)?.[1] ?? NaN);
    const user = users[id];
    if (path === '/api/user') return users;
    if (user === undefined) return 404;
    if (method === 'PATCH') Object.assign(user, json);
    return user;
  });
  const deleted = await devsh('user delete bob --on box --yes --allow unlisted-login');
  expect(deleted.stdout).toContain('1 done');
  expect(users[1]?.state).toBe('deleted');
  expect((await devsh('user list --on box')).stdout).not.toContain('bob');
  expect((await devsh('user show bob --on box')).exitCode).not.toBe(0);
});

test('headers of a profile go with each request, the media type with JSON bodies alone', async () => {
  const users = [{ id: 0, username: 'ann', lang: 'de' }];
  const types: (string | undefined)[] = [];
  const facts =
    'headers: {X-Tenant: lab, Content-Type: application/vnd.x+json}\nresources: {user: {key_field: username}}\n';
  const devsh = await start(facts, ({ method, path, headers, json }) => {
    if (headers['x-tenant'] !== 'lab') return 400;
    if (method !== 'OPTIONS') types.push(headers['content-type']);
    if (method === 'PATCH') Object.assign(users[0] ?? {}, json);
    return path === '/api/user' ? users : (users[0] ?? 404);
  });
  const set = await devsh('user set ann lang=fr --on box --yes --allow unlisted-login');
  expect(set.stdout).toContain('1 done');
  expect(new Set(types)).toEqual(new Set([undefined, 'application/vnd.x+json']));
  for (const header of ['Authorization', 'X-Api-Key', 'Cookie', 'Host']) {
    const refused = await devsh(['profile', 'set', 'box', `headers.${header}=x`]);
    expect(refused.exitCode, header).toBe(2);
  }
});
