import { expect, test } from 'vitest';
import { bookkeepingIn } from '../../src/device/record-path.ts';
import { documentedProfile, genericRestProfile } from '../../src/device/built-in-profiles.ts';
import { updateRequest } from '../../src/device/encode.ts';
import { DeviceFacts, noteListing } from '../../src/device/facts.ts';
import { type Profile, ignoredFields } from '../../src/device/profile.ts';
import { parseProfile } from '../../src/device/profile-file.ts';
import type { DeviceRecord } from '../../src/device/record.ts';

const basePath = '/api/';

test.each<[string, DeviceRecord]>([
  ['@odata.etag', { '@odata.etag': 'W/"1"' }],
  ['@odata.id', { '@odata.id': '/redfish/v1/Accounts/1' }],
  ['groups@odata.count', { 'groups@odata.count': 2 }],
  ['etag', { etag: 'x' }],
  ['_links', { _links: { self: { href: '/other/1' } } }],
  ['links', { links: { self: '/api/user/1' } }],
  ['links', { links: [{ rel: 'self', href: 'https://fw1/api/user/1' }] }],
  ['url', { url: 'https://fw1.example/api/user/1/' }],
  ['self', { self: '/api/user/1' }],
])('%s is bookkeeping', (field, record) => {
  expect(bookkeepingIn([{ username: 'bob', ...record }], basePath)).toEqual([field]);
});

test.each<DeviceRecord>([
  { url: 'https://example.org/feed' },
  { url: 'bob' },
  { url: null },
  { links: ['eth0', 'eth1'] },
  { links: 4 },
  { self: true },
  { mail: '/api/user/1' },
])('%j is an ordinary field', (record) => {
  expect(bookkeepingIn([record], basePath)).toEqual([]);
});

test('a field that is only sometimes an address is an ordinary field', () => {
  expect(bookkeepingIn([{ url: '/api/user/1' }, { url: 'x' }], basePath)).toEqual([]);
});

const bob = { id: '7', username: 'bob', lang: 'de', etag: 'v1', url: '/api/user/7' };

function knowing(base: Profile): Profile {
  const facts = new DeviceFacts(base);
  noteListing(facts, 'user', { records: [bob], envelope: 'array' });
  return facts.profile;
}

test('a managed field is neither compared nor sent back with the whole record', () => {
  const profile = knowing(documentedProfile);
  expect(profile.origins['resources.user.fields.url']).toBe('observed');
  expect(ignoredFields(profile, 'user')).toEqual(['etag', 'url']);
  const request = updateRequest(profile, 'user', bob, { lang: 'en' });
  expect(request.form?.map(([field]) => field)).toEqual(['id', 'username', 'lang']);
});

test('a managed field is sent if the user sets it', () => {
  const request = updateRequest(knowing(genericRestProfile), 'user', bob, { url: 'x' });
  expect(request.json).toEqual({ url: 'x' });
});

test('what is configured of a managed field wins', () => {
  const source = 'resources: {user: {fields: {seen: bookkeeping, url: not_bookkeeping}}}';
  const profile = knowing(parseProfile(source, 'p.yaml', 'p'));
  expect(ignoredFields(profile, 'user')).toEqual(['seen', 'etag']);
});
