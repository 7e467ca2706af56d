import { assertNoCollection } from '../../src/device/record-path.ts';
import { describe, expect, test } from 'vitest';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { createRequest, deleteRequest, updateRequest } from '../../src/device/encode.ts';
import { documentedProfile } from '../../src/device/built-in-profiles.ts';
import { parseProfile } from '../../src/device/profile-file.ts';
import { profileJsonSchema } from '../../src/device/profile-schema.ts';
import { DeviceFacts } from '../../src/device/facts.ts';
import type { Profile } from '../../src/device/profile.ts';
import type { DeviceRecord } from '../../src/device/record.ts';
import { RefusedError, SettingsError } from '../../src/errors.ts';

const parse = (source: string): Profile => parseProfile(source, 'p.yaml', 'mine');

test('a profile has what the file says, marked as configured, and the rest of what it extends', () => {
  const profile = parse(
    'extends: drf\nlist:\n  items: data.users\n  paging: page p per\nupdate:\n  method: PUT\n',
  );
  expect(profile.list).toEqual({
    path: '{collection}',
    items: 'data.users',
    paging: 'page p per',
  });
  expect(profile.update).toMatchObject({ method: 'PUT', path: '{item}', encoding: 'json' });
  expect(profile.origins).toMatchObject({
    'list.items': 'configured',
    'list.paging': 'configured',
    'update.method': 'configured',
    'update.path': 'assumed',
  });
  expect(profile.origins['list.path']).toBeUndefined();
});

describe('a violation of the fixed rules is refused with its place in the file', () => {
  test.each([
    ['remove:\n  path: "{collection}"', 'p.yaml:2', 'must go to the path of one record'],
    ['remove:\n  path: "{collection}{resource}"', 'p.yaml:2', 'must go to the path of one record'],
    ['remove:\n  method: POST\n  path: "{collection}"', 'p.yaml:2', 'must name one record'],
    ['update:\n  selector: none', 'p.yaml:2', 'must name one record'],
    ['list:\n  paging: pages', 'p.yaml:2', 'must be auto, none, next, page or offset'],
    ['list:\n  pagng: page', 'p.yaml:2', 'did you mean "paging"?'],
    ['list:\n  path: users', 'p.yaml:2', 'must begin with / or {collection}'],
    ['id_fields: [username]', 'p.yaml:1', 'is the natural key'],
    ['resources:\n  user:\n    path: users', 'p.yaml:3', 'must begin with /'],
  ])('%s', (source, place, why) => {
    expect(() => parse(source)).toThrow(SettingsError);
    expect(() => parse(source)).toThrow(place);
    expect(() => parse(source)).toThrow(why);
  });
});

test('a path by other fields of a record is refused if they are ambiguous', () => {
  const profile = parse(
    'extends: generic-rest\nremove:\n  path: "{collection}/{owner.uuid}/{name}"\n',
  );
  const remove = (record: Parameters<typeof deleteRequest>[2]): string =>
    deleteRequest(profile, 'user', record).path;
  expect(remove({ owner: { uuid: 'a b' }, name: "o'x" })).toBe('/api/user/a%20b/o%27x');
  for (const name of ['', '.', '..', '../x', 'null', null]) {
    expect(() => remove({ owner: { uuid: 'u' }, name })).toThrow(RefusedError);
  }
  expect(() => remove({ owner: {}, name: 'joe' })).toThrow(RefusedError);
  expect(() => remove({ name: 'joe' })).toThrow(RefusedError);
});

test('a DELETE by query is for profiles that say so, and must name a record', () => {
  const profile = parse('extends: generic-rest\nremove:\n  path: "{collection}?id={id}"\n');
  const { path } = deleteRequest(profile, 'user', { id: 0 });
  expect(path).toBe('/api/user?id=0');
  expect(() => {
    assertNoCollection(profile, path);
  }).not.toThrow();
  for (const other of [
    '/api/user',
    '/api/user?id=',
    '/api/user?id=..',
    '/api/user?ID=0',
    '/api/',
  ]) {
    expect(() => {
      assertNoCollection(profile, other);
    }).toThrow(RefusedError);
  }
  expect(() => {
    assertNoCollection(documentedProfile, path);
  }).toThrow(RefusedError);
});

test('without ids, an item is named by its natural key, which then cannot change', () => {
  const profile = parse('extends: generic-rest\nid_fields: []\n');
  const before = { username: 'joe', id: 5 };
  expect(updateRequest(profile, 'user', before, { id: 6 })).toEqual({
    method: 'PATCH',
    path: '/api/user/joe',
    json: { id: 6 },
  });
  expect(() => updateRequest(profile, 'user', before, { username: 'jim' })).toThrow(RefusedError);
});

const isProfile = new Ajv2020({ strict: false }).compile(profileJsonSchema() as object);
const FOLDER = join(import.meta.dirname, '../../profiles');

test.each([
  'ends_with_slash: false\nlist: {summary: true}\nsuccess_if: {code: 0}\n',
  'resources: {user: {disabled_as: {enable: 0}, fields: {pin: [integer, {choices: [1, 2]}, not_nullable], x: hidden}}}',
  'create: {null_as: null, constants: {x: true, y: 5, z: null, t: "5"}}\nextends: generic-rest\n',
  'resources: {user: {single: true, rotate: {fields: {pw: "{new}"}}, rotate_token: {path: "{item}t/", constants: {n: 1}}}}',
  ...readdirSync(FOLDER).map((name) => readFileSync(join(FOLDER, name), 'utf8')),
])(
  'what the check of a profile accepts, its schema accepts as an editor reads it: %#',
  (source) => {
    parse(source);
    expect(isProfile(parseYaml(source)), JSON.stringify(isProfile.errors)).toBe(true);
  },
);

test('the schema refuses other words for a switch', () => {
  for (const source of ['ends_with_slash: 1', 'list: {summary: maybe}', 'list: {paging: true}']) {
    expect(isProfile(parseYaml(source)), source).toBe(false);
    expect(() => parse(source), source).toThrow(SettingsError);
  }
});

test('a constant has its type in JSON, and is text in a form and in a plan', () => {
  const facts = 'constants: {on: true, level: 5, none: null, text: "5", kind: "{resource}"}';
  const json = parse(`extends: generic-rest\ncreate: {${facts}}\n`);
  expect(createRequest(json, 'user', { name: 'joe' }).json).toEqual({
    ...{ on: true, level: 5, none: null, text: '5', kind: 'user' },
    name: 'joe',
  });
  const form = parse(`create: {${facts}}\n`);
  expect(createRequest(form, 'zone', { name: 'x' }).form?.slice(0, 5)).toEqual([
    ['on', 'true'],
    ['level', '5'],
    ['none', 'null'],
    ['text', '5'],
    ['kind', 'zone'],
  ]);
});

test('the schema for editors says what each fact means', () => {
  const text = JSON.stringify(profileJsonSchema());
  for (const fact of ['paging', 'fields', 'selector', 'id_fields']) {
    expect(text).toContain(`"${fact}":{`);
  }
  expect(text).toContain('Where the records are, of several lists');
});

describe('one resource is changed in a way of its own', () => {
  const source =
    'update: {method: PUT, path: "{item}"}\n' +
    'resources:\n  zone: {update: {method: PATCH}}\n  system: {single: true, update: {encoding: json}}\n';

  test('and the others as the profile says; a single object at its own path', () => {
    const profile = parse(source);
    const request = (resource: string, before: DeviceRecord): unknown =>
      updateRequest(profile, resource, before, { mtu: '2' });
    expect(request('user', { id: 7, mtu: '1' })).toMatchObject({ method: 'PUT' });
    expect(request('zone', { id: 7, mtu: '1' })).toMatchObject({
      method: 'PATCH',
      path: '/api/zone/7/',
    });
    expect(request('system', { mtu: '1' })).toMatchObject({
      method: 'PUT',
      path: '/api/system/',
      json: { mtu: '2' },
    });
    expect(profile.origins['resources.zone.update']).toBe('configured');
  });

  test('and what the device allows does not override it', () => {
    const base = parse(source.replace(/^update.*\n/, ''));
    const { profile } = new DeviceFacts(base, {
      'resources.zone.options': { of: 'records', record: ['PUT'] },
      'resources.system.options': { of: 'records', list: ['POST'] },
    });
    expect(profile.resources['zone']?.update?.method).toBe('PATCH');
    expect(profile.resources['system']?.update).toEqual(base.resources['system']?.update);
  });

  test.each([
    ['resources:\n  zone:\n    update: {path: "{collection}", selector: none}', 'p.yaml:3'],
    ['resources:\n  zone:\n    update: {metod: PUT}', 'did you mean "method"'],
  ])('but %j is refused', (bad, reason) => {
    expect(() => parse(bad)).toThrow(reason);
  });
});
