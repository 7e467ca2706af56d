import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseProfile } from '../../src/device/profile-file.ts';
import type { Profile } from '../../src/device/profile.ts';

/** Profiles as version 0.9 had them, which are spelled in another way today. */
const OLDER = join(import.meta.dirname, 'older');
const TODAY = join(import.meta.dirname, '../../profiles');

const parse = (source: string): Profile => parseProfile(source, 'p.yaml', 'p');

test.each(readdirSync(OLDER))('%s of an older version says what it says today', (file) => {
  const [before, today] = [OLDER, TODAY].map((folder) =>
    parse(readFileSync(join(folder, file), 'utf8')),
  );
  expect(before?.ignored ?? []).toEqual([]);
  // The password of RabbitMQ was stated as one to rotate, and is stated as a hidden one today.
  if (file === 'rabbitmq.yaml') return;
  expect({ ...before, origins: {} }).toEqual({ ...today, origins: {} });
});

test.each([
  ['accept: text/x', 'headers: {Accept: text/x}'],
  ['fields: {public: [a, b]}', 'public: [a, b]'],
  [
    'list: {paging: offset, parameter: start, size_parameter: limit}',
    'list: {paging: offset start limit}',
  ],
  ['list: {group_field: grp}', 'list: {items: "members:grp"}'],
  [
    'create: {encoding: json, wrapper: data, attributes: attrs}',
    'create: {encoding: json, wrapper: data.attrs}',
  ],
  [
    'auth: {login: {path: /in, user_field: u, constants: {n: 5}, token_in: t, cookie: sid, logout: {method: DELETE, path: /in}}}',
    'auth: {login: {path: /in, fields: {n: 5, u: "{user}", password: "{password}"}, token_in: t cookie:sid, logout: DELETE /in}}',
  ],
  [
    'resources: {user: {fields: [a, b], hidden: [b], volatile: [c], field_facts: {b: {type: integer, choices: [1], nullable: false, secret: true}}}}',
    'resources: {user: {fields: {a: needed, b: [needed, integer, {choices: [1]}, not_nullable, secret, hidden], c: volatile}}}',
  ],
  [
    'resources: {user: {rotate: {method: PUT, path: "{item}/p", field: n1, repeat: n2, old: was}}}',
    'resources: {user: {rotate: {path: "PUT {item}/p", fields: {n1: "{new}", n2: "{new}", was: "{old}"}}}}',
  ],
  [
    'resources: {user: {fields: {pin: integer, b: {choices: [x]}}, hidden: [pin], sent_back: [c]}}',
    'resources: {user: {fields: {pin: [integer, hidden], b: {choices: [x]}, c: sent_back}}}',
  ],
  [
    'revision: {field: _rev, in: query, parameter: rev}',
    'revision: {field: _rev, in: "query:rev"}',
  ],
])('%s means %s', (before, today) => {
  const old = parse(before);
  const now = parse(today.replaceAll('n: 5', 'n: "5"'));
  const plain = (profile: Profile): unknown =>
    JSON.parse(JSON.stringify({ ...profile, origins: {} }).replaceAll('"n":5', '"n":"5"'));
  expect(old.ignored).toBeUndefined();
  expect(plain(old)).toEqual(plain(now));
});

test('facts that have no effect any more are named, and the profile loads', () => {
  const source =
    'extends: drf\nconnections: one\nno_id: none\nresources:\n  user:\n    rotate: {field: pw, min: 8, classes: [digit]}\n';
  const profile = parse(source);
  expect(profile.ignored?.toSorted()).toEqual([
    'connections',
    'no_id',
    'resources.user.rotate.classes',
    'resources.user.rotate.min',
  ]);
  expect(profile.resources['user']?.rotate).toEqual({ fields: { pw: '{new}' } });
});
