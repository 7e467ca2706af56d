import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createRequest,
  deleteRequest,
  encodeForm,
  omittedFields,
  updateRequest,
} from '../../src/device/encode.ts';
import {
  documentedProfile as profile,
  genericRestProfile,
} from '../../src/device/built-in-profiles.ts';
import { DeviceFacts } from '../../src/device/facts.ts';
import { formText } from '../../src/device/record.ts';
import { idOf, keyFieldOf, type Profile } from '../../src/device/profile.ts';
import { RefusedError, UsageError } from '../../src/errors.ts';
import { rounds } from '../rounds.ts';

test('a new user is the form of the document: no id, every field, then the others', () => {
  expect(
    createRequest(profile, 'user', {
      is_active: true,
      username: 'bob',
      lang: 'de',
      roles: ['a', 'b'],
    }),
  ).toEqual({
    method: 'POST',
    path: '/api/user/',
    form: [
      ['uuid', 'null'],
      ['first_name', ''],
      ['lastname', ''],
      ['username', 'bob'],
      ['lang', 'de'],
      ['is_active', 'true'],
      ['roles', 'a'],
      ['roles', 'b'],
    ],
  });
});

test('a new record of an unknown resource has the fields that were given', () => {
  expect(createRequest(profile, 'zone', { name: 'lan', mtu: 1500 }).form).toEqual([
    ['name', 'lan'],
    ['mtu', '1500'],
  ]);
});

test.each([{ uuid: '6f1c' }, { id: 5 }])(
  'a new user with the id %o is refused: it might overwrite one',
  (id) => {
    expect(() => createRequest(profile, 'user', { ...id, username: 'bob' })).toThrow(RefusedError);
  },
);

test('a change sends the id and the whole record, except what a device may have masked', () => {
  const before = {
    uuid: '6f1c',
    first_name: 'Bob',
    lastname: null,
    username: 'bob',
    lang: 'de',
    is_active: false,
    note: null,
    address: { city: 'Berlin' },
    roles: ['a', 'b'],
    password: '$2b$12$hash',
    token: 'abc',
    limit: 12345678901234567890n,
  };
  expect(updateRequest(profile, 'user', before, { lang: 'en', password: 'new' })).toEqual({
    method: 'POST',
    path: '/api/user/',
    form: [
      ['uuid', '6f1c'],
      ['first_name', 'Bob'],
      ['lastname', ''],
      ['username', 'bob'],
      ['lang', 'en'],
      ['is_active', 'false'],
      ['password', 'new'],
      ['limit', '12345678901234567890'],
    ],
  });
  expect(omittedFields(profile, 'user', before, { lang: 'en', password: 'new' })).toEqual([
    'note',
    'address',
    'roles',
    'token',
  ]);
});

test('an unchanged list is sent as repeated pairs only if the device was seen to accept them', () => {
  const before = { uuid: '6f1c', username: 'bob', lang: 'de', roles: ['a', 'b'], groups: ['a'] };
  const roles = (known: Profile): string[] =>
    (updateRequest(known, 'user', before, { lang: 'en' }).form ?? [])
      .filter(([field]) => field === 'roles' || field === 'groups')
      .map((pair) => pair.join('='));
  expect(roles(profile)).toEqual(['groups=a']);
  const facts = new DeviceFacts(profile, { 'resources.user.update.lists': 'repeated' });
  expect(roles(facts.profile)).toEqual(['roles=a', 'roles=b', 'groups=a']);
});

test('a PUT of JSON sends nested values back without their secrets, and reports that', () => {
  const put: Profile = {
    ...genericRestProfile,
    update: { ...genericRestProfile.update, method: 'PUT', record: 'whole' },
  };
  const before = {
    id: 1,
    name: 'wan',
    tunnel: { peer: 'a', psk: 'x1' },
    peers: [{ name: 'b', psk: 'x2' }],
    api_token: 't1',
    policy: { nat: { enabled: true } },
  };
  const changes = { name: 'lan' };
  expect(updateRequest(put, 'interface', before, changes).json).toEqual({
    name: 'lan',
    tunnel: { peer: 'a' },
    policy: { nat: { enabled: true } },
  });
  expect(omittedFields(put, 'interface', before, changes)).toEqual([
    'tunnel.psk',
    'peers',
    'api_token',
  ]);
  const known = { keyField: 'name', fields: { api_token: { sentBack: true } } };
  const asHeld = { ...put, resources: { interface: known } };
  expect(updateRequest(asHeld, 'interface', before, changes).json).toMatchObject({
    api_token: 't1',
  });
});

test('the id itself cannot be changed', () => {
  expect(() => updateRequest(profile, 'user', { uuid: '1' }, { uuid: '2' })).toThrow(RefusedError);
});

const UNUSABLE = [
  '',
  ' ',
  '.',
  '..',
  'null',
  'NULL',
  'undefined',
  'a\u0000b',
  'a\nb',
  '\u009b',
  '%2e%2e',
  '%2E',
  'a/..',
  '../x',
  'a\\..',
  '/',
  'a/',
  'x/%2e%2e',
  ';x',
  'a/;x',
  '*',
  '\ud800',
];

test.each(UNUSABLE)('the id %j is never sent', (uuid) => {
  expect(() => deleteRequest(profile, 'user', { uuid })).toThrow(RefusedError);
  expect(() => updateRequest(profile, 'user', { uuid }, { lang: 'de' })).toThrow(RefusedError);
});

test.each([{}, { uuid: null }, { uuid: true }, { username: 'bob' }])(
  '%o has no id to delete by',
  (record) => {
    expect(() => deleteRequest(profile, 'user', record)).toThrow(RefusedError);
  },
);

test.each(['../user', 'user/', 'user?x', '', '..', 'a b'])('%j is no resource', (resource) => {
  expect(() => deleteRequest(profile, resource, { uuid: '1' })).toThrow(UsageError);
  expect(() => createRequest(profile, resource, {})).toThrow(UsageError);
});

test('a delete names one record below its collection, whatever the id is', () => {
  const ids = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .array(fc.constantFrom('.', '/', '%2e', '%2f', '\\', 'a', '?', '#', ';', '$&', ' '))
      .map((parts) => parts.join('')),
    fc.bigInt(),
    fc.uuid(),
  );
  fc.assert(
    fc.property(ids, (uuid) => {
      let request;
      try {
        request = deleteRequest(profile, 'user', { uuid });
      } catch (error) {
        expect(error).toBeInstanceOf(RefusedError);
        return;
      }
      const [, segment] =
        /^\/api\/user\/([^/?#]+)\/$/.exec(new URL(request.path, 'https://h').pathname) ?? [];
      expect(decodeURIComponent(segment ?? '')).toBe(String(uuid));
    }),
    { numRuns: rounds(1000) },
  );
});

test('a form is decoded to the same pairs', () => {
  const pairs = fc.array(
    fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' })),
  );
  fc.assert(
    fc.property(pairs, (form) => {
      expect([...new URLSearchParams(encodeForm(form))]).toEqual(form);
    }),
  );
  expect(encodeForm([['a', '&=+%;\r\n\0 ü']])).toBe('a=%26%3D%2B%25%3B%0D%0A%00+%C3%BC');
  expect(() => encodeForm([['name', '\ud800']])).toThrow(UsageError);
});

test.each([
  ['text', 'text'],
  [5, '5'],
  [9007199254740993n, '9007199254740993'],
  [true, 'true'],
  [false, 'false'],
  [null, ''],
  [['a', 1], '["a",1]'],
  [{ a: 1n }, '{"a":1}'],
])('%o is spelled %j in a form', (value, text) => {
  expect(formText(value)).toBe(text);
});

test('the id and the natural key are found in the fields that devices use', () => {
  expect(idOf(profile, { id: 1, uuid: 'u' })).toBe('u');
  expect(idOf(profile, { uuid: null, id: 0 })).toBe('0');
  expect(idOf(profile, { '.id': '*9' })).toBe('*9');
  expect(idOf(profile, { name: 'x' })).toBeUndefined();
  expect(keyFieldOf(profile, 'user')).toBe('username');
  expect(keyFieldOf(profile, 'user', [{ username: 'x', name: 'y' }])).toBe('username');
  expect(keyFieldOf(profile, 'user', [{ name: 'y' }])).toBe('name');
  expect(keyFieldOf(profile, 'zone', [{ id: 1, name: 'lan' }])).toBe('name');
  expect(keyFieldOf(profile, 'zone', [{ id: 1 }])).toBe('id');
});

test('"no id" that a device stored literally is no id: another field is', () => {
  const record = { uuid: 'null', id: 7, username: 'bob' };
  expect(deleteRequest(profile, 'user', record).path).toBe('/api/user/7/');
});

test('a form repeats a list and uses dotted names for nested values; JSON has them unchanged', () => {
  const fields = { name: 'bob', address: { city: 'Ulm', tags: ['a', 'b'] }, note: null };
  expect(createRequest(profile, 'zone', fields).form).toEqual([
    ['name', 'bob'],
    ['address.city', 'Ulm'],
    ['address.tags', 'a'],
    ['address.tags', 'b'],
    ['note', ''],
  ]);
  expect(createRequest(genericRestProfile, 'zone', fields).json).toEqual(fields);
});

test('secrets inside a nested field are sent only if they were changed', () => {
  const auth = { user: 'bob', password: 'hash', keys: { token: 'shown', port: 1 } };
  const changed = { ...auth, user: 'eve', keys: { token: 'new', port: 1 } };
  const before = { id: 1, name: 'bob', auth };
  expect(updateRequest(genericRestProfile, 'zone', before, { auth: changed }).json).toMatchObject({
    auth: { user: 'eve', keys: { token: 'new', port: 1 } },
  });
  const { json } = updateRequest(genericRestProfile, 'zone', before, { auth: changed });
  expect(JSON.stringify(json)).not.toContain('hash');
});

test('JSON names a record by its id in the type that the device uses', () => {
  const byBody: Profile = {
    ...genericRestProfile,
    remove: {
      ...genericRestProfile.remove,
      method: 'POST',
      path: '{collection}',
      encoding: 'json',
      selector: 'id',
    },
  };
  expect(deleteRequest(byBody, 'zone', { id: 5, name: 'lan' }).json).toEqual({ id: 5 });
});
