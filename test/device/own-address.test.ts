import { expect, test } from 'vitest';
import { documentedProfile, drfProfile } from '../../src/device/built-in-profiles.ts';
import { deleteRequest, updateRequest } from '../../src/device/encode.ts';
import { parseProfile } from '../../src/device/profile-file.ts';
import { idOf, ownAddress } from '../../src/device/profile.ts';
import { RefusedError } from '../../src/errors.ts';

const bob = { url: 'http://inside.example/api/user/7/', username: 'bob', lang: 'en' };

test('a record without an id is named by its own address, on this device', () => {
  expect(idOf(drfProfile, bob)).toBe('7');
  expect(deleteRequest(drfProfile, 'user', bob).path).toBe('/api/user/7/');
  expect(updateRequest(drfProfile, 'user', bob, { lang: 'de' })).toEqual({
    method: 'PATCH',
    path: '/api/user/7/',
    json: { lang: 'de' },
  });
});

test.each([
  { url: 'http://inside.example/api/group/7/' },
  { url: 'https://www.example/about/bob' },
  { url: '/api/user/' },
  { url: '/api/user/%2e%2e/' },
  { url: '/api/user/null/' },
  { url: '/api/user/?id=7' },
  { url: '/api/user/7/#part' },
  { url: 'https://inside.example/api/user/1/../7' },
  { url: 7 },
])('%j is no address of a user', (address) => {
  const record = { ...address, username: 'bob' };
  expect(() => deleteRequest(drfProfile, 'user', record)).toThrow(RefusedError);
});

test('an id wins over an address, and a body never has an id that only the address has', () => {
  expect(deleteRequest(drfProfile, 'user', { ...bob, id: 9 }).path).toBe('/api/user/9/');
  expect(() => updateRequest(documentedProfile, 'user', bob, { lang: 'de' })).toThrow(RefusedError);
});

test('an address is decoded once', () => {
  expect(ownAddress({ '@odata.id': '/api/user/x%20y' }, '/api/')).toEqual({
    field: '@odata.id',
    collection: '/api/user',
    id: 'x y',
  });
});

test.each(['@id', 'id', '_id', 'uri'])(
  'an id in %s that is a path leads to the record there',
  (field) => {
    const profile = parseProfile(
      `extends: generic-rest\nid_fields: ["${field}"]\n`,
      'p.yaml',
      'mine',
    );
    const at = (path: string) =>
      deleteRequest(profile, 'user', { [field]: path, username: 'joe' }).path;
    expect(at('/api/user/7')).toBe('/api/user/7');
    expect(at('/api/user/a%2Fb/')).toBe('/api/user/a%2Fb');
    for (const other of [
      '/api/zone/7',
      '/api/user/',
      '/api/user/7/token',
      '/api/user/..',
      '/api/user/7?x=1',
      '/api/user/7#part',
      '/api/user/1/../7',
      '/api/user/1/%2E%2e/7',
      '/api/user/\\..\\7',
    ]) {
      expect(() => at(other)).toThrow(RefusedError);
    }
  },
);
