import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Credential } from '../../src/device/credential.ts';
import { decodeList, decodeWritten } from '../../src/device/decode.ts';
import { DeclinedFailure } from '../../src/device/errors.ts';
import {
  createRequest,
  deleteRequest,
  updateRequest,
  type WriteRequest,
} from '../../src/device/encode.ts';
import { parseProfile } from '../../src/device/profile-file.ts';
import { deviceAt, serve } from '../device/server.ts';
import { keyFieldOf, listPath, type Profile } from '../../src/device/profile.ts';
import { type DeviceRecord, valueText } from '../../src/device/record.ts';

const FOLDER = join(import.meta.dirname, '../../profiles');

function profileIn(name: string): Profile {
  const file = join(FOLDER, `${name}.yaml`);
  return parseProfile(readFileSync(file, 'utf8'), file, name);
}

/** A request in one line: `POST /api/user/ action=add&username=zoe`. */
function line({ method, path, form, json }: WriteRequest): string {
  const body =
    form === undefined
      ? json && JSON.stringify(json)
      : new URLSearchParams(
          form.map(([field, text]): [string, string] => [field, text]),
        ).toString();
  return [method, path, body].filter((part) => part !== undefined).join(' ');
}

/** The responses of one maker's device, and the requests that it expects. */
interface Dialect {
  readonly profile: string;
  readonly list: string;
  /** The response to `GET` of the list, as JSON or literal text. */
  readonly answer: unknown;
  readonly keys: readonly string[];
  readonly add?: readonly [fields: DeviceRecord, request: string];
  /** Changes of the first record, and their request. */
  readonly set?: readonly [changes: DeviceRecord, request: string];
  readonly remove?: string;
  /** Where the token `abc` goes. */
  readonly token?: string;
  /** A 2xx that means a failure, and its message. */
  readonly declined?: readonly [answer: unknown, text: RegExp];
}

const UUID = '9a1f6a6e-6f5b-4c11-8f4e-0a7d0f1b2c3d';

const DIALECTS: readonly Dialect[] = [
  {
    profile: 'rfi-u-router',
    list: '/api/user/',
    answer: {
      user: [
        { username: 'admin', level: '3', canBeDeleted: false },
        { username: 'joe', level: '1', canBeDeleted: true },
      ],
      status: 'OK',
    },
    keys: ['admin', 'joe'],
    add: [{ username: 'zoe', level: '1' }, 'POST /api/user/ action=add&username=zoe&level=1'],
    set: [
      { level: '2' },
      'POST /api/user/ action=change&username=admin&level=2&canBeDeleted=false',
    ],
    remove: 'POST /api/user/ action=delete&username=admin',
    declined: [{ status: 'error', message: 'user cannot be deleted' }, /user cannot be deleted/],
  },
  {
    profile: 'mikrotik',
    list: '/rest/user',
    answer: [
      { '.id': '*9', name: 'joe', group: 'read', disabled: 'false' },
      { '.id': '*A', name: 'admin', group: 'full', disabled: 'false' },
    ],
    keys: ['joe', 'admin'],
    add: [
      { name: 'zoe', group: 'read', disabled: 'false' },
      'PUT /rest/user {"name":"zoe","group":"read","disabled":"false"}',
    ],
    set: [{ disabled: 'true' }, 'PATCH /rest/user/*9 {"disabled":"true"}'],
    remove: 'DELETE /rest/user/*9',
  },
  {
    profile: 'opnsense',
    list: '/api/auth/user/search',
    answer: {
      rows: [{ uuid: UUID, name: 'root', email: '', disabled: '0' }],
      rowCount: 1,
      total: 1,
      current: 1,
    },
    keys: ['root'],
    add: [
      { name: 'zoe', disabled: '0' },
      'POST /api/auth/user/add {"user":{"name":"zoe","disabled":"0"}}',
    ],
    set: [{ email: 'a@b.c' }, `POST /api/auth/user/set/${UUID} {"user":{"email":"a@b.c"}}`],
    remove: `POST /api/auth/user/del/${UUID}`,
    declined: [
      { result: 'failed', validations: { 'user.name': 'A user with this name exists.' } },
      /name: A user with this name exists/,
    ],
  },
  {
    profile: 'pfsense',
    token: 'X-API-Key: abc',
    list: '/api/v2/users',
    answer: {
      code: 200,
      status: 'ok',
      response_id: 'SUCCESS',
      message: '',
      data: [
        { id: 0, name: 'admin', scope: 'system' },
        { id: 1, name: 'joe', scope: 'user' },
      ],
    },
    keys: ['admin', 'joe'],
    add: [{ name: 'zoe' }, 'POST /api/v2/user {"name":"zoe"}'],
    set: [{ scope: 'user' }, 'PATCH /api/v2/user {"id":0,"scope":"user"}'],
    remove: 'DELETE /api/v2/user?id=0',
  },
  {
    profile: 'truenas',
    list: '/api/v2.0/user',
    answer: [
      { id: 36, uid: 1000, username: 'joe', locked: false, groups: [41] },
      { id: 1, uid: 0, username: 'root', locked: false, groups: [40] },
    ],
    keys: ['joe', 'root'],
    add: [
      { username: 'zoe', locked: false },
      'POST /api/v2.0/user {"username":"zoe","locked":false}',
    ],
    set: [{ locked: true }, 'PUT /api/v2.0/user/id/36 {"locked":true}'],
    remove: 'DELETE /api/v2.0/user/id/36',
  },
  {
    profile: 'netbox',
    list: '/api/users/users/',
    answer: {
      count: 2,
      next: null,
      previous: null,
      results: [
        { id: 4, username: 'joe', is_active: true, groups: [] },
        { id: 5, username: 'ann', is_active: true, groups: [] },
      ],
    },
    keys: ['joe', 'ann'],
    add: [
      { username: 'zoe', is_active: true },
      'POST /api/users/users/ {"username":"zoe","is_active":true}',
    ],
    set: [{ is_active: false }, 'PATCH /api/users/users/4/ {"is_active":false}'],
    remove: 'DELETE /api/users/users/4/',
  },
  {
    profile: 'ontap',
    list: '/api/security/accounts',
    answer: {
      records: [
        { owner: { uuid: UUID, name: 'svm1' }, name: 'joe', locked: false },
        { owner: { uuid: UUID, name: 'svm1' }, name: 'o neil', locked: false },
      ],
      num_records: 2,
      _links: { self: { href: '/api/security/accounts' } },
    },
    keys: ['joe', 'o neil'],
    add: [{ name: 'zoe' }, 'POST /api/security/accounts {"name":"zoe"}'],
    set: [{ locked: true }, `PATCH /api/security/accounts/${UUID}/joe {"locked":true}`],
    remove: `DELETE /api/security/accounts/${UUID}/joe`,
  },
  {
    profile: 'tag-mcm',
    list: '/api/v1/users',
    answer: { data: [{ uuid: UUID, username: 'joe' }], metadata: { total: 1 } },
    keys: ['joe'],
    add: [{ username: 'zoe' }, 'POST /api/v1/users {"username":"zoe"}'],
    remove: `DELETE /api/v1/users/${UUID}`,
  },
  {
    profile: 'fortios',
    token: 'authorization: Bearer abc',
    list: '/api/v2/cmdb/system/admin',
    answer: {
      http_method: 'GET',
      results: [{ name: 'net ops/eu', accprofile: 'prof_admin', vdom: [{ name: 'root' }] }],
      status: 'success',
      http_status: 200,
    },
    keys: ['net ops/eu'],
    add: [
      { name: 'zoe', accprofile: 'prof_admin' },
      'POST /api/v2/cmdb/system/admin {"name":"zoe","accprofile":"prof_admin"}',
    ],
    set: [
      { accprofile: 'super_admin' },
      'PUT /api/v2/cmdb/system/admin/net%20ops%2Feu {"accprofile":"super_admin"}',
    ],
    remove: 'DELETE /api/v2/cmdb/system/admin/net%20ops%2Feu',
    declined: [{ status: 'error', error: -5, message: 'entry exists' }, /entry exists/],
  },
  {
    profile: 'fortinac',
    list: '/api/v2/user',
    answer: { status: 'success', results: [{ id: 17, username: 'joe' }] },
    keys: ['joe'],
    remove: 'POST /api/v2/user/delete id=17',
    declined: [{ status: 'failed', errorMessage: 'no such user' }, /no such user/],
  },
  {
    profile: 'oracle-sd-wan',
    list: '/api/user',
    answer: { users: [{ name: 'joe', level: 'admin' }] },
    keys: ['joe'],
    remove: 'POST /api/deleteSelUser {"name":"joe"}',
  },
  {
    profile: 'rabbitmq',
    list: '/api/users',
    answer: [
      { name: 'net/ops', password_hash: 'kI3G', hashing_algorithm: 'x', tags: ['monitoring'] },
    ],
    keys: ['net/ops'],
    add: [
      { name: 'zoe', password: 'pw', tags: [] },
      'PUT /api/users/zoe {"name":"zoe","password":"pw","tags":[]}',
    ],
    set: [
      { tags: ['management'] },
      'PUT /api/users/net%2Fops {"password_hash":"kI3G","hashing_algorithm":"x","tags":["management"]}',
    ],
    remove: 'DELETE /api/users/net%2Fops',
  },
  {
    profile: 'icinga',
    list: '/v1/objects/apiusers',
    answer: {
      results: [
        { attrs: { name: 'ops', client_cn: '', version: 0 }, joins: {}, meta: {}, name: 'ops' },
      ],
    },
    keys: ['ops'],
    add: [
      { name: 'zoe', password: 'pw', permissions: ['*'] },
      'PUT /v1/objects/apiusers/zoe {"attrs":{"password":"pw","permissions":["*"]}}',
    ],
    set: [{ client_cn: 'x' }, 'POST /v1/objects/apiusers/ops {"attrs":{"client_cn":"x"}}'],
    remove: 'DELETE /v1/objects/apiusers/ops',
  },
  {
    profile: 'couchdb',
    list: '/_users/_all_docs?include_docs=true',
    answer: {
      total_rows: 1,
      offset: 0,
      rows: [
        {
          id: 'org.couchdb.user:joe',
          key: 'org.couchdb.user:joe',
          value: { rev: '1-a' },
          doc: {
            _id: 'org.couchdb.user:joe',
            _rev: '1-a',
            name: 'joe',
            type: 'user',
            roles: ['ops'],
            derived_key: 'ab',
            salt: 'cd',
          },
        },
      ],
    },
    keys: ['joe'],
    add: [
      { name: 'zoe', password: 'pw', roles: [] },
      'PUT /_users/org.couchdb.user:zoe {"type":"user","name":"zoe","password":"pw","roles":[]}',
    ],
    set: [
      { roles: [] },
      'PUT /_users/org.couchdb.user%3Ajoe?rev=1-a {"_id":"org.couchdb.user:joe","name":"joe","type":"user","roles":[],"derived_key":"ab","salt":"cd"}',
    ],
    remove: 'DELETE /_users/org.couchdb.user%3Ajoe?rev=1-a',
    declined: [{ ok: false, reason: 'conflict' }, /conflict/],
  },
  {
    profile: 'vyos',
    list: '/retrieve/system/login/user',
    answer: {
      success: true,
      data: { user: { vyos: { level: 'admin' }, joe: { level: 'operator' } } },
      error: null,
    },
    keys: ['vyos', 'joe'],
    declined: [{ success: false, error: 'path is empty', data: null }, /path is empty/],
  },
  {
    profile: 'axis-vapix',
    list: '/axis-cgi/pwdgrp.cgi?action=get',
    answer: 'admin="root,joe"\r\noperator="root"\r\nviewer=""\r\n',
    keys: ['root', 'joe'],
    add: [
      { user: 'zoe', pwd: 'secret', grp: 'viewer' },
      'POST /axis-cgi/pwdgrp.cgi action=add&user=zoe&pwd=secret&grp=viewer',
    ],
    set: [{ grp: 'viewer' }, 'POST /axis-cgi/pwdgrp.cgi action=update&user=root&grp=viewer'],
    remove: 'POST /axis-cgi/pwdgrp.cgi action=remove&user=root',
    declined: ['Error: account already exists.', /account already exists/],
  },
  {
    profile: 'json-api',
    list: '/api/user',
    answer: {
      jsonapi: { version: '1.0' },
      data: [
        {
          type: 'user',
          id: '7',
          attributes: { username: 'joe', lang: 'de' },
          links: { self: '/api/user/7' },
        },
      ],
      links: { self: '/api/user', next: '/api/user?page[number]=2' },
      meta: { total: 2 },
    },
    keys: ['joe'],
    add: [
      { username: 'zoe', lang: 'de' },
      'POST /api/user {"data":{"type":"user","attributes":{"username":"zoe","lang":"de"}}}',
    ],
    set: [
      { lang: 'en' },
      'PATCH /api/user/7 {"data":{"type":"user","id":"7","attributes":{"lang":"en"}}}',
    ],
    remove: 'DELETE /api/user/7',
  },
  {
    profile: 'fastapi',
    list: '/api/v1/users',
    answer: {
      items: [{ uuid: UUID, username: 'joe', lang: 'de', last_login: null }],
      total: 1,
      page: 1,
      size: 10,
      pages: 1,
    },
    keys: ['joe'],
    add: [{ username: 'zoe' }, 'POST /api/v1/users {"username":"zoe"}'],
    set: [
      { lang: 'en' },
      `PUT /api/v1/users/${UUID} {"username":"joe","lang":"en","last_login":null}`,
    ],
    remove: `DELETE /api/v1/users/${UUID}`,
  },
  {
    profile: 'odata',
    list: '/odata/v4/Users',
    answer: {
      '@odata.context': '$metadata#Users',
      '@odata.count': 2,
      value: [
        { id: '7', username: 'joe', '@odata.etag': 'W/"1"' },
        { id: '8', username: 'ann', '@odata.etag': 'W/"2"' },
      ],
    },
    keys: ['joe', 'ann'],
    add: [{ username: 'zoe' }, 'POST /odata/v4/Users {"username":"zoe"}'],
    set: [{ lang: 'en' }, 'PATCH /odata/v4/Users(\'7\') {"lang":"en"}'],
    remove: "DELETE /odata/v4/Users('7')",
  },
  {
    profile: 'postgrest',
    list: '/user',
    answer: [{ id: 7, username: 'joe' }],
    keys: ['joe'],
    add: [{ username: 'zoe' }, 'POST /user {"username":"zoe"}'],
    set: [{ lang: 'en' }, 'PATCH /user?id=eq.7 {"lang":"en"}'],
    remove: 'DELETE /user?id=eq.7',
  },
  {
    profile: 'redfish',
    token: 'X-Auth-Token: abc',
    list: '/redfish/v1/AccountService/Accounts',
    answer: {
      '@odata.id': '/redfish/v1/AccountService/Accounts',
      Name: 'Accounts Collection',
      'Members@odata.count': 1,
      Members: [
        {
          '@odata.id': '/redfish/v1/AccountService/Accounts/1',
          Id: '1',
          UserName: 'joe',
          Enabled: true,
        },
      ],
    },
    keys: ['joe'],
    add: [
      { UserName: 'zoe', RoleId: 'ReadOnly' },
      'POST /redfish/v1/AccountService/Accounts {"UserName":"zoe","RoleId":"ReadOnly"}',
    ],
    set: [{ Enabled: false }, 'PATCH /redfish/v1/AccountService/Accounts/1 {"Enabled":false}'],
    remove: 'DELETE /redfish/v1/AccountService/Accounts/1',
  },
  {
    profile: 'github',
    token: 'authorization: Bearer abc',
    list: '/api/v3/users',
    answer: [{ id: 7, login: 'joe', url: 'https://internal.example/api/v3/users/7' }],
    keys: ['joe'],
    add: [{ login: 'zoe' }, 'POST /api/v3/users {"login":"zoe"}'],
    set: [{ site_admin: true }, 'PATCH /api/v3/users/7 {"site_admin":true}'],
    remove: 'DELETE /api/v3/users/7',
  },
];

test('each profile here is tested', () => {
  const files = readdirSync(FOLDER).flatMap((file) => /^(.*)\.yaml$/.exec(file)?.[1] ?? []);
  expect(DIALECTS.map(({ profile }) => profile).toSorted()).toEqual(files.toSorted());
});

describe.each(DIALECTS)('$profile', (dialect) => {
  const profile = profileIn(dialect.profile);
  const text = (answer: unknown): string =>
    typeof answer === 'string' ? answer : JSON.stringify(answer);
  const { records } = decodeList(text(dialect.answer), 'user', profile);
  const [first = {}] = records;

  test('is listed by its natural keys', () => {
    expect(listPath(profile, 'user')).toBe(dialect.list);
    const keyField = keyFieldOf(profile, 'user', records);
    expect(records.map((record) => valueText(record[keyField]))).toEqual(dialect.keys);
  });

  test('gets a token where it wants it', () => {
    const { token = 'authorization: Token abc' } = dialect;
    const login = Credential.token('abc');
    expect(`${login.headerName(profile.auth)}: ${login.header(profile.auth)}`).toBe(token);
  });

  if (dialect.add !== undefined) {
    test('gets new records as it wants them', () => {
      const [fields = {}, expected = ''] = dialect.add ?? [];
      expect(line(createRequest(profile, 'user', fields))).toBe(expected);
    });
  }

  if (dialect.set !== undefined) {
    test('gets changes as it wants them', () => {
      const [changes = {}, expected = ''] = dialect.set ?? [];
      expect(line(updateRequest(profile, 'user', first, changes))).toBe(expected);
    });
  }

  if (dialect.remove !== undefined) {
    test('is told which record to delete', () => {
      expect(line(deleteRequest(profile, 'user', first))).toBe(dialect.remove);
    });
  }

  if (dialect.declined !== undefined) {
    test('says no with a status that says yes', () => {
      const [answer, reason = /./] = dialect.declined ?? [];
      expect(() => decodeWritten(text(answer), 'user', profile)).toThrow(DeclinedFailure);
      expect(() => decodeWritten(text(answer), 'user', profile)).toThrow(reason);
    });
  }
});

test('several groups with one record each are a list', () => {
  const { records } = decodeList('admin="root,joe"\nviewer=joe', 'user', profileIn('axis-vapix'));
  expect(records).toEqual([
    { user: 'root', grp: 'admin' },
    { user: 'joe', grp: ['admin', 'viewer'] },
  ]);
});

test('Redfish: a session by the documented login, ended at its own address', async () => {
  const sessions = '/redfish/v1/SessionService/Sessions';
  const server = await serve((request, response) => {
    if (request.method === 'POST') {
      const location = `${sessions}/admin1`;
      response.writeHead(201, { 'X-Auth-Token': 's3ss10n', location }).end('{"Id":"admin1"}');
    } else if (request.method === 'DELETE') response.writeHead(204).end();
    else response.end('{"Members":[]}');
  });
  const device = deviceAt(server, { profile: profileIn('redfish') });
  await device.list('user');
  await device.close();
  expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    `POST ${sessions}`,
    'GET /redfish/v1/AccountService/Accounts',
    `DELETE ${sessions}/admin1`,
  ]);
  const tokens = server.requests.map(({ headers }) => headers['x-auth-token']);
  expect(tokens).toEqual([undefined, 's3ss10n', 's3ss10n']);
});
