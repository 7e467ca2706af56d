import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createServer } from 'node:https';
import { expect, test } from 'vitest';
import { certificateFor, listen } from '../device/server.ts';
import { ADMIN, makeDevsh } from '../main/devsh.ts';

type Json = Readonly<Record<string, unknown>>;

interface Page {
  readonly name: string;
  readonly profile: string;
  readonly env: NodeJS.ProcessEnv;
  /** The status and the body for a request, as the vendor's page says. */
  readonly answer: (users: Json[], method: string, path: string, body: Json) => [number, unknown];
  readonly users: readonly Json[];
  readonly add: string;
  readonly key: string;
  readonly set: readonly [words: string, fields: Json];
  /** The requests of these lines and of the delete. */
  readonly writes: readonly string[];
  /** What the undo of the delete says, and sends. */
  readonly undo: RegExp;
  readonly sent: readonly string[];
}

const without = (users: Json[], index: number) => users.splice(index, 1);

/**
 * The profiles of these vendors were written by somebody who had only their pages and docs/profiles.md: Proxmox VE with
 * 2 wrong tries in 3 minutes, Gitea with 5 in 5, Grafana with 2 in 1.
 */

/** https://pve.proxmox.com/pve-docs/api-viewer/#/access/users */
const proxmox: Page = {
  name: 'proxmox',
  profile: `extends: generic-rest
base_path: /api2/json/access/
auth: {prefix: "PVEAPIToken="}
id_fields: []
list: {items: data}
update: {method: PUT, record: changes, left_out: kept}
resources:
  user:
    path: /api2/json/access/users
    key_field: userid
    hidden: [password]
    field_facts: {lastname: {type: string}}
`,
  env: { DEVSH_TOKEN: 'root@pam!ops=1f0c', DEVSH_USER: 'root@pam' },
  users: [
    { userid: 'root@pam', enable: 1, expire: 0, comment: 'Superuser', 'realm-type': 'pam' },
    { userid: 'ann@pve', enable: 1, expire: 0, firstname: 'Ann', 'realm-type': 'pve' },
  ],
  add: 'userid=bob@pve firstname=Bob password=s3cret-word',
  key: 'bob@pve',
  set: ['comment=new', { comment: 'new', firstname: 'Bob' }],
  writes: [
    'POST /api2/json/access/users {"userid":"bob@pve","firstname":"Bob","password":"s3cret-word"}',
    'PUT /api2/json/access/users/bob%40pve {"comment":"new"}',
    'DELETE /api2/json/access/users/bob%40pve',
  ],
  undo: /differs - .*; left to the device: realm-type/,
  sent: ['"realm-type":"pve",', ''].map(
    (refused) =>
      `POST /api2/json/access/users {"enable":0,"expire":0,${refused}"userid":"bob@pve","firstname":"Bob","comment":"new","groups":[]}`,
  ),
  answer(users, method, path, { password, ...body }) {
    const own = decodeURIComponent(/^\/api2\/json\/access\/users\/([^/]+)$/.exec(path)?.[1] ?? '');
    const index = users.findIndex(({ userid }) => userid === own);
    const allowed = ['comment', 'email', 'enable', 'expire', 'firstname', 'lastname', 'groups'];
    const unknown = Object.keys(body).filter(
      (name) => !allowed.includes(name) && !(method === 'POST' && name === 'userid'),
    );
    if (path === '/api2/json/access/users' && method === 'GET') return [200, { data: users }];
    if (unknown.length > 0 || (password !== undefined && method !== 'POST'))
      return [
        400,
        {
          errors: Object.fromEntries(
            unknown.map((name) => [
              name,
              'property is not defined in schema and the schema does not allow additional properties',
            ]),
          ),
        },
      ];
    if (path === '/api2/json/access/users' && method === 'POST') {
      users.push({ enable: 1, expire: 0, 'realm-type': 'pve', ...body });
      return [200, { data: null }];
    }
    const { userid, ...rest } = users[index] ?? {};
    if (userid === undefined) return [500, { data: null, message: 'no such user' }];
    if (method === 'GET') return [200, { data: { ...rest, groups: [], tokens: {} } }];
    if (method === 'PUT') users[index] = { ...users[index], ...body };
    else if (method === 'DELETE') without(users, index);
    else return [501, { message: 'not implemented' }];
    return [200, { data: null }];
  },
};

/** https://docs.gitea.com/api/#tag/admin */
const gitea: Page = {
  name: 'gitea',
  profile: `extends: generic-rest
base_path: /api/v1/
auth: {prefix: token}
update: {method: PATCH, record: whole}
resources:
  user:
    path: /api/v1/admin/users
    key_field: username
    named_by: key
    fields: [username, email, password, must_change_password]
    hidden: [password]
    field_facts:
      must_change_password: {type: boolean, write_only: true, secret: false}
`,
  env: { DEVSH_TOKEN: '1f0c2d', DEVSH_USER: 'root' },
  users: [
    { id: 1, login: 'root', username: 'root', email: 'r@x.org', source_id: 0, login_name: '' },
    { id: 2, login: 'ann', username: 'ann', email: 'a@x.org', source_id: 0, login_name: '' },
  ],
  add: 'username=bob email=b@x.org password=s3cret-word must_change_password=false',
  key: 'bob',
  set: ['email=bob@x.org', { email: 'bob@x.org' }],
  writes: [
    'POST /api/v1/admin/users {"username":"bob","email":"b@x.org","password":"s3cret-word","must_change_password":false}',
    'PATCH /api/v1/admin/users/bob {"email":"bob@x.org","id":3,"login":"bob","source_id":0,"login_name":""}',
    'DELETE /api/v1/admin/users/bob',
  ],
  undo: /bob must have password, must_change_password, which nobody knows; "(user .*)" gives it/,
  sent: [],
  answer(users, method, path, { password, must_change_password, ...body }) {
    const own = /^\/api\/v1\/admin\/users\/([^/]+)$/.exec(path)?.[1];
    const index = users.findIndex(({ username }) => username === own);
    if (path.startsWith('/api/v1/admin/users') && own === undefined) {
      if (method === 'GET') return [200, users];
      if (password === undefined || must_change_password !== false)
        return [422, { message: 'password' }];
      const made = { id: 3, login: body['username'], source_id: 0, login_name: '', ...body };
      users.push(made);
      return [201, made];
    }
    if (index < 0) return [404, { message: 'user not found' }];
    if (method === 'GET') return [405, {}];
    if (method === 'DELETE') without(users, index);
    else if (typeof body['source_id'] !== 'number' || body['login_name'] === undefined)
      return [422, { message: '[LoginName]: Required, [SourceID]: Required' }];
    else users[index] = { ...users[index], ...body };
    return method === 'DELETE' ? [204, undefined] : [200, users[index]];
  },
};

/** https://grafana.com/docs/grafana/latest/developers/http_api/admin/ and …/user/ */
const grafana: Page = {
  name: 'grafana',
  profile: `extends: generic-rest
create: {path: /api/admin/users}
update: {method: PUT, record: whole, left_out: kept}
remove: {path: "/api/admin/users/{id}"}
list: {paging: page, size_parameter: perpage}
resources:
  user:
    path: /api/users
    key_field: login
    hidden: [password]
    rotate: {method: PUT, path: "/api/admin/users/{id}/password"}
`,
  env: ADMIN,
  users: [
    { id: 1, name: '', login: 'admin', email: 'admin@x.org', isAdmin: true, isDisabled: false },
    { id: 2, name: 'Ann', login: 'ann', email: 'ann@x.org', isAdmin: false, isDisabled: false },
  ],
  add: 'login=bob name=Bob email=bob@x.org password=s3cret-word',
  key: 'bob',
  set: ['name=Robert', { name: 'Robert', email: 'bob@x.org' }],
  writes: [
    'POST /api/admin/users {"login":"bob","name":"Bob","email":"bob@x.org","password":"s3cret-word"}',
    'PUT /api/users/3 {"isAdmin":false,"isDisabled":false,"login":"bob","name":"Robert","email":"bob@x.org","theme":""}',
    'DELETE /api/admin/users/3',
  ],
  undo: /refused \(400\): Password is missing[^]*"(user .*)" gives what devsh does not know/,
  sent: [
    'POST /api/admin/users {"isAdmin":false,"isDisabled":true,"login":"bob","name":"Robert","email":"bob@x.org","theme":""}',
  ],
  answer(users, method, path, { password, ...body }) {
    const [, place = '', own] =
      /^\/api\/(admin\/users|users)(?:\/(\d+))?(?:\?.*)?$/.exec(path) ?? [];
    const index = users.findIndex(({ id }) => String(id) === own);
    if (own === undefined && method === 'GET' && place === 'users')
      return [200, path.includes('page=2') ? [] : users];
    if (own === undefined && method === 'POST' && place === 'admin/users') {
      if (password === undefined) return [400, { message: 'Password is missing or too short' }];
      users.push({ id: 3, isAdmin: false, isDisabled: false, ...body });
      return [200, { id: 3, message: 'User created' }];
    }
    if (index < 0) return [404, { message: 'user not found' }];
    if (method === 'GET' && place === 'users') return [200, { ...users[index], theme: '' }];
    if (method === 'PUT' && place === 'users') {
      const { name = '', login = '', email = '' } = body;
      users[index] = { ...users[index], name, login, email };
      return [200, { message: 'User updated' }];
    }
    if (method !== 'DELETE' || place !== 'admin/users') return [404, { message: 'Not found' }];
    without(users, index);
    return [200, { message: 'User deleted' }];
  },
};

const PAGES = [proxmox, gitea, grafana];

test.each(PAGES.flatMap((page) => [true, false].map((isChecked) => ({ ...page, isChecked }))))(
  'a profile written from the page of $name reads and writes (certificate checked: $isChecked)',
  async ({
    name,
    profile,
    env,
    answer,
    users: first,
    add,
    key,
    set: [words, fields],
    writes,
    undo,
    sent: undone,
    isChecked,
  }) => {
    const users = [...first];
    const { key: tlsKey, cert } = certificateFor(['127.0.0.1']);
    const sent: string[] = [];
    const server = createServer({ key: tlsKey, cert }, (request, response) => {
      void text(request).then((body) => {
        const { method = '', url = '' } = request;
        const [status, answered] = answer(users, method, url, JSON.parse(body || '{}') as Json);
        if (!['GET', 'OPTIONS'].includes(method)) sent.push(`${method} ${url} ${body}`.trim());
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(answered === undefined ? undefined : JSON.stringify(answered));
      });
    });
    const devsh = await makeDevsh(env);
    const file = join(devsh.folder, `${name}.yaml`);
    await writeFile(file, profile);
    expect(await devsh(['profile', 'check', file])).toMatchObject({ exitCode: 0 });
    const ca = join(devsh.folder, 'ca.pem');
    await writeFile(ca, cert);
    const trust = isChecked ? ['--ca', ca] : ['--insecure'];
    await devsh(['device', 'add', 'box', `127.0.0.1:${await listen(server)}`, ...trust]);
    const tried = await devsh(['profile', 'try', 'box', file]);
    expect(tried.stdout).toMatch(/^records\t2 records in /m);
    expect(tried.stdout).not.toMatch(/must_change_password.*secret/);
    await devsh(['profile', 'use', 'box', file]);
    const say = async (line: string, verdict = /^✓ /m) => {
      const { stdout, stderr } = await devsh(line);
      expect(stdout, stderr).toMatch(verdict);
      return stdout + stderr;
    };
    await say(`user add ${add} --on box --yes`);
    await say(`user set ${key} ${words} --on box --yes`);
    expect(users.at(-1), sent.join('\n')).toMatchObject(fields);
    const deleted = await say(`user delete ${key} --on box --yes`);
    expect(deleted).toMatch(/undo cannot restore .*password/);
    expect(deleted).not.toContain('lastname');
    expect(users).toEqual(first);
    expect(sent.splice(0)).toEqual(writes);
    if (!isChecked) {
      for (const past of ['changes', `user list --at 0s`, `user restore ${key} --at 0s --yes`]) {
        const said = await devsh(`${past} --on box`);
        expect(said.stdout + said.stderr, past).toContain(
          'certificate is not checked, so devsh keeps no reading',
        );
        expect(said.exitCode).toBe(3);
      }
    }
    const { stdout, stderr } = await devsh('undo --on box --yes');
    expect(stdout + stderr).toMatch(undo);
    expect(stdout).not.toContain('tokens');
    expect(sent.splice(0)).toEqual(undone);
    // The line that it names works: with what was read then, or with all fields where nothing is kept.
    const [, line] = undo.exec(stdout + stderr) ?? [];
    if (line === undefined) return;
    expect(line).toMatch(isChecked ? /^user restore bob .*--at \S+ --on box$/ : /^user add .*bob/);
    const given = { password: 'n3w-s3cret', must_change_password: 'false' };
    const filled = Object.entries(given).reduce(
      (before, [field, value]) => before.replace(`${field}=…`, `${field}=${value}`),
      line,
    );
    // A list of then did not show the theme.
    const said = await say(`${filled} --yes`, /^✓ |differs.*theme: devsh did not know it/m);
    expect(said).not.toMatch(/must_change_password=[•*]/);
    expect(users.at(-1)).toMatchObject(fields);
    const [body = ''] = sent;
    expect(body).toContain('"password":"n3w-s3cret"');
    if (name === 'gitea') expect(body).toContain('"must_change_password":false');
  },
);
