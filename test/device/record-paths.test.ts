import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createRequest,
  deleteRequest,
  omittedFields,
  updateRequest,
} from '../../src/device/encode.ts';
import { parseProfile } from '../../src/device/profile-file.ts';
import { assertNoCollection } from '../../src/device/record-path.ts';
import type { Profile } from '../../src/device/profile.ts';
import type { DeviceRecord } from '../../src/device/record.ts';
import { RefusedError } from '../../src/errors.ts';
import { deviceAt, serve } from './server.ts';
import { rounds } from '../rounds.ts';

const parse = (source: string): Profile => parseProfile(source, 'p.yaml', 'mine');

const documents = parse(`
extends: generic-rest
id_fields: []
create: {method: PUT, path: "{item}"}
update: {method: PUT, record: whole}
revision: {field: _rev, in: query, parameter: rev}
`);

/** Keys that may leave their segment of a path, alone and beside other text. */
const hostile = fc.oneof(
  fc.constantFrom('/', '%2f', '%2F..', '..', '.', '?', '#', '', ' ', '\\', ';', '*', '%', 'null'),
  fc
    .array(
      fc.oneof(
        fc.constantFrom(
          '/',
          '%2f',
          '%5c',
          '..',
          '?',
          '#',
          ';',
          '&rev=',
          '%00',
          "'",
          'é',
          '漢',
          '\ud800',
        ),
        fc.string({ unit: 'binary', maxLength: 4 }),
      ),
      { maxLength: 5 },
    )
    .map((parts) => parts.join('')),
);

test('no key leads to another record, or to the collection', () => {
  const paths = new Map<string, string>();
  fc.assert(
    fc.property(hostile, (name) => {
      const record = { username: name, _rev: '1-a' };
      const requests = [
        () => createRequest(documents, 'user', { username: name }),
        () => updateRequest(documents, 'user', record, { lang: 'de' }),
        () => deleteRequest(documents, 'user', record),
      ];
      for (const request of requests) {
        let path: string;
        try {
          ({ path } = request());
        } catch (error) {
          expect(error).toBeInstanceOf(RefusedError);
          continue;
        }
        const { pathname, search, hash } = new URL(path, 'https://device.invalid');
        const [, api, resource, key = '', ...rest] = pathname.split('/');
        expect([api, resource, ...rest, hash]).toEqual(['api', 'user', '']);
        expect(['', '?rev=1-a']).toContain(search);
        expect(decodeURIComponent(key)).toBe(name);
        expect(paths.get(pathname) ?? name).toBe(name);
        paths.set(pathname, name);
      }
    }),
    { numRuns: rounds(2000) },
  );
});

test('a record without a revision is not written, and one of an entity tag is If-Match', () => {
  const update = (profile: Profile, rev: string | null) =>
    updateRequest(profile, 'user', { id: 1, username: 'joe', _rev: rev }, { lang: 'de' });
  expect(() => update(documents, null)).toThrow(RefusedError);
  expect(() => update(documents, '1\r\nx: y')).toThrow(RefusedError);
  const tagged = parse('extends: generic-rest\nrevision: {field: _rev, in: header}\n');
  expect(update(tagged, 'W/"1"')).toMatchObject({ ifMatch: 'W/"1"', json: { lang: 'de' } });
  expect(update(tagged, '7')).toMatchObject({ ifMatch: '"7"' });
  const inBody = parse('extends: generic-rest\nrevision: {field: _rev, in: body}\n');
  expect(update(inBody, '7').json).toEqual({ lang: 'de', _rev: '7' });
});

test('the key of a new record is in the body, unless its path alone names it', () => {
  const fields = { username: 'joe', lang: 'de' };
  expect(createRequest(documents, 'user', fields)).toEqual({
    method: 'PUT',
    path: '/api/user/joe',
    json: fields,
    ifAbsent: true,
  });
  const named = parse(
    'extends: generic-rest\nid_fields: []\ncreate: {method: PUT, path: "{item}", selector: none}\n',
  );
  expect(createRequest(named, 'user', fields).json).toEqual({ lang: 'de' });
});

test('a PUT creates nothing over a record that the list does not show', async () => {
  const held = new Set(['/api/user/joe']);
  const server = await serve((request, response) => {
    response.writeHead(request.method === 'GET' && !held.has(request.url ?? '') ? 404 : 200);
    response.end('{}');
  });
  const device = deviceAt(server, { profile: documents });
  const create = (username: string) => device.write(createRequest(documents, 'user', { username }));
  await expect(create('joe')).rejects.toThrow('exists already');
  await create('ann');
  expect(
    server.requests.map(({ method, path, headers }) => [method, path, headers['if-none-match']]),
  ).toEqual([
    ['GET', '/api/user/joe', undefined],
    ['GET', '/api/user/ann', undefined],
    ['PUT', '/api/user/ann', '*'],
  ]);
});

test.each([403, 429, 500, 301])(
  'a PUT creates nothing if the device says %i, not that nothing is there',
  async (status) => {
    const server = await serve((_request, response) => {
      response.writeHead(status, status === 301 ? { location: '/api/user/other' } : {}).end('{}');
    });
    const device = deviceAt(server, { profile: documents });
    const create = device.write(createRequest(documents, 'user', { username: 'joe' }));
    await expect(create).rejects.toThrow('GET /api/user/joe');
    expect(server.requests.map(({ method }) => method)).not.toContain('PUT');
  },
);

test('a PUT that creates takes no entity tag of a record that came meanwhile', async () => {
  const server = await serve(({ method }, response, count) => {
    response.writeHead(method === 'PUT' ? 428 : count === 1 ? 404 : 200, { etag: '"1"' }).end('{}');
  });
  const device = deviceAt(server, { profile: documents });
  const create = device.write(createRequest(documents, 'user', { username: 'joe' }));
  await expect(create).rejects.toThrow('428');
  expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'PUT']);
});

test('the hash of a password is sent back, unless the password itself changes', () => {
  const rabbit = parse(`
extends: generic-rest
update: {method: PUT, record: whole, left_out: erased}
resources: {user: {sent_back: [password_hash]}}
`);
  const joe = { id: 1, username: 'joe', password_hash: 'kI3G' };
  const sent = (changes: DeviceRecord) => updateRequest(rabbit, 'user', joe, changes).json;
  expect(sent({ lang: 'de' })).toMatchObject({ password_hash: 'kI3G', lang: 'de' });
  expect(sent({ password: 'pw' })).toEqual({ username: 'joe', password: 'pw' });
  expect(omittedFields(rabbit, 'user', joe, { password: 'pw' })).toEqual([]);
});

const below = parse(`
extends: generic-rest
id_fields: []
create: {method: PUT, path: "{item}"}
resources:
  domain: {key_field: name}
  record: {parent: domain, path: "/api/domain/{parent}/record", key_field: name}
`);

test('neither the name of a parent nor that of a record below it leads elsewhere', () => {
  fc.assert(
    fc.property(hostile, hostile, (domain, name) => {
      const record = { 'domain/name': `${domain}/${name}`, name, content: 'x' };
      const requests = [
        () => createRequest(below, 'record', record),
        () => updateRequest(below, 'record', record, { content: 'y' }),
        () => deleteRequest(below, 'record', record),
      ];
      for (const request of requests) {
        let sent: ReturnType<typeof createRequest>;
        try {
          sent = request();
        } catch (error) {
          expect(error).toBeInstanceOf(RefusedError);
          continue;
        }
        const { pathname, search, hash } = new URL(sent.path, 'https://device.invalid');
        const [, api, parent, above = '', list, key = '', ...rest] = pathname.split('/');
        expect([api, parent, list, ...rest, search, hash]).toEqual([
          'api',
          'domain',
          'record',
          '',
          '',
        ]);
        expect([above, key].map(decodeURIComponent)).toEqual([domain, name]);
        expect(sent.json ?? {}).not.toHaveProperty('domain/name');
      }
    }),
    { numRuns: rounds(2000) },
  );
});

test('no field of the device replaces the place of a record', async () => {
  const server = await serve(({ url }, response) => {
    const own = { name: 'www', 'domain/name': 'other.org/www' };
    const answer = url === '/api/domain' ? [{ name: 'a.org' }, { name: 'other.org' }] : [own];
    response.end(JSON.stringify(url?.endsWith('/www') === true ? own : answer));
  });
  const device = deviceAt(server, { profile: below });
  const { records } = await device.list('record');
  const details = await device.details('record', records);
  for (const read of [records, details]) {
    expect(read.map((record) => record['domain/name'])).toEqual(['a.org/www', 'other.org/www']);
  }
});

test('a DELETE of a list below a record is refused in any spelling', () => {
  for (const path of [
    '/api/domain/example.org/record',
    '/api/domain/example.org/record/',
    '/api/domain/example.org/Record//',
    '/api/domain/x/%72ecord?all=1',
  ]) {
    expect(() => {
      assertNoCollection(below, path);
    }).toThrow('more than one record');
  }
  expect(() => {
    assertNoCollection(below, '/api/domain/example.org/record/www');
  }).not.toThrow();
});

test.each([
  ['  record: {parent: domain}', 'belong together'],
  ['  record: {path: "/api/domain/{parent}/record"}', 'belong together'],
  ['  record: {parent: domain, path: "/api/record?of={parent}"}', 'belong together'],
  [
    '  domain: {parent: record, path: "/a/{parent}/b"}\n  record: {parent: domain, path: "/b/{parent}/a"}',
    'has a list of its own',
  ],
])('a parent that cannot be is refused: %s', (source, why) => {
  expect(() => parse(`extends: generic-rest\nresources:\n${source}\n`)).toThrow(why);
});
