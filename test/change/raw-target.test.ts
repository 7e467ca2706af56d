import fc from 'fast-check';
import { expect, test } from 'vitest';
import { guardOf } from '../../src/change/guard.ts';
import { planDevice } from '../../src/change/plan-device.ts';
import { collectionIn, rawTarget } from '../../src/change/raw-target.ts';
import { documentedProfile } from '../../src/device/built-in-profiles.ts';
import { withResource } from '../../src/device/profile.ts';
import { Credential } from '../../src/device/credential.ts';
import type { WriteRequest } from '../../src/device/encode.ts';
import { rounds } from '../rounds.ts';

const device = { name: 'box', address: 'box.example' };
const profile = documentedProfile;
const ADMIN = { uuid: '6f1c2b1e-8a51-4b0e-9d6f-0c4b8f0a7d11', username: 'admin', lang: 'de' };
const RESCUE = { uuid: '0d9aeb5c-52a1-4a32-9f3e-aa11bb22cc33', username: 'rescue', lang: 'en' };
const BOB = { uuid: '11111111-2222-4333-8444-555555555555', username: 'bob', lang: 'en' };
const RECORDS = [BOB, ADMIN, RESCUE];

const session = {
  ref: device,
  entry: { ...device, groups: [], breakGlass: ['rescue*'] },
  credential: Credential.basic('admin', 'secret'),
  profile,
  tokenOwner: undefined,
  unlistedLogin: undefined,
};

function target(request: WriteRequest) {
  const collection = collectionIn(withResource(profile, 'group', {}), request);
  if (collection === undefined) throw new RangeError('there is no collection');
  return rawTarget(request, profile, collection, RECORDS);
}

/** Whether the guards refuse what the request means. */
function isRefused(request: WriteRequest): boolean {
  const steps = target(request).changes.flatMap(
    (change) => planDevice({ device, profile }, change, RECORDS).steps,
  );
  const mayWrite = guardOf(session, () => RECORDS, new Set());
  return steps.some((step) => mayWrite(step, RECORDS.length - 1) !== undefined);
}

type Spell = (text: string) => string;

function encodeSome(mask: number): Spell {
  return (text) =>
    Array.from(text, (letter, index) =>
      ((mask >> (index % 30)) & 1) === 1
        ? `%${letter.charCodeAt(0).toString(16).padStart(2, '0')}`
        : letter,
    ).join('');
}

const same: Spell = (text) => text;
const masks = fc.integer({ min: 0, max: 2 ** 30 - 1 });
const cases = masks.map(
  (mask): Spell =>
    (text) =>
      Array.from(text, (letter, index) =>
        ((mask >> (index % 30)) & 1) === 1 ? letter.toUpperCase() : letter,
      ).join(''),
);
const percent = fc.array(masks.map(encodeSome), { maxLength: 2 });
const ends = fc.constantFrom('', '/', '%2f', '%2F', '%252f', ' ');
const spelled = (shapes: readonly Spell[]) =>
  fc.record({ shape: fc.constantFrom(...shapes), fold: cases, percent, end: ends }).map(
    ({ shape, fold, percent: codes, end }): Spell =>
      (text) =>
        codes.reduce((done, encode) => encode(done), fold(shape(text))) + end,
  );
const someone = fc.constantFrom(ADMIN, RESCUE);
const words = fc.oneof(
  fc
    .tuple(
      someone,
      spelled([same, (id) => id.replaceAll('-', ''), (id) => `{${id}}`, (id) => `urn:uuid:${id}`]),
    )
    .map(([{ uuid }, spell]) => spell(uuid)),
  fc
    .tuple(someone, spelled([same, (name) => `CORP\\${name}`, (name) => `${name}\u200b`]))
    .map(([{ username }, spell]) => spell(username)),
);
const fields = fc.constantFrom('uuid', 'username', 'user', 'ids', 'usernames[]', 'data', 'owner');
const form = (field: string, text: string, more: WriteRequest['form'] = []): WriteRequest => ({
  method: 'POST',
  path: '/api/user/',
  form: [[field, text], ...more],
});
const inPath = (word: string): string => encodeURI(word).replace(/%25/g, '%').replace(/\\/g, '%5c');
const wraps: fc.Arbitrary<Spell> = fc.constantFrom<Spell>(
  same,
  (word) => `bob,${word}`,
  (word) => `bob ; ${word} x`,
  (word) => JSON.stringify([{ who: ['bob', { id: word }] }]),
  (word) => JSON.stringify({ [word]: true }),
  (word) => JSON.stringify({ deep: JSON.stringify([word]) }),
);

test('the account in use and break-glass accounts are recognized however path, query or body spell them', () => {
  const requests = fc.tuple(words, fields, wraps).chain(([word, field, wrap]) =>
    fc.constantFrom<WriteRequest>(
      { method: 'DELETE', path: `/api/user/${inPath(word)}/` },
      { method: 'DELETE', path: `/api//USERS/${inPath(word)}` },
      { method: 'POST', path: `/admin/user/bulk/${inPath(word)}/` },
      { method: 'POST', path: `/api/user/${inPath(word)}/deactivate/` },
      { method: 'DELETE', path: `/api/group/core/user/${inPath(word)}/` },
      { method: 'POST', path: `/api/user/${inPath(word)}/`, form: [['username', 'root2']] },
      {
        method: 'POST',
        path: `/api/user/0/?x=${encodeURIComponent(word)}`,
        form: [['lang', 'de']],
      },
      form(field, wrap(word), [['action', 'delete']]),
      form(field, wrap(word), [
        ['username', 'root2'],
        ['lang', 'de'],
      ]),
      { method: 'POST', path: '/api/user/bulk/', json: { all: [{ deep: wrap(word) }] } },
    ),
  );
  fc.assert(
    fc.property(requests, (request) => {
      expect([request, isRefused(request)]).toEqual([request, true]);
    }),
    { numRuns: rounds(1000) },
  );
});

test.each<[string, WriteRequest, unknown[]]>([
  [
    'a record in the path',
    { method: 'DELETE', path: `/api/user/${BOB.uuid.toUpperCase()}/` },
    ['delete', BOB.uuid],
  ],
  [
    'a rename by an id without dashes',
    form('uuid', BOB.uuid.replaceAll('-', ''), [['username', 'rob']]),
    ['set', BOB.uuid, { username: 'rob' }],
  ],
  [
    'its own path',
    { method: 'POST', path: `/api/user/${BOB.uuid}/`, form: [['lang', 'de']] },
    ['set', BOB.uuid, { lang: 'de' }],
  ],
  [
    'a new record, whatever its other fields are called',
    form('username', 'zoe', [
      ['uuid', 'null'],
      ['lastname', 'bob'],
    ]),
    ['add', undefined, { username: 'zoe', lastname: 'bob' }],
  ],
])('%s has one known target', (_title, request, expected) => {
  const { changes, unknown } = target(request);
  const shown = changes.map((change) => [
    change.action,
    change.action !== 'add' && change.target.kind === 'key' ? change.target.key : undefined,
    ...(change.action === 'delete' ? [] : [change.fields]),
  ]);
  expect(shown).toEqual([expected]);
  expect(unknown).toBeUndefined();
  expect(changes[0]?.typed).toBe(request);
});

test.each<[string, WriteRequest, number]>([
  ['several records', form('usernames', 'bob,rescue', [['action', 'delete']]), 2],
  ['a path below the collection', { method: 'POST', path: '/api/user/bulk/', form: [] }, 0],
  ['an action of a record', { method: 'POST', path: `/api/user/${BOB.uuid}/disable/` }, 1],
  ['a verb that nobody knows', form('uuid', BOB.uuid, [['action', 'disable']]), 1],
  ['no name at all', form('lang', 'de'), 0],
  ['a delete of what no list shows', form('username', 'eve', [['action', 'delete']]), 0],
  ['a name in a field that names nobody', form('username', 'zoe', [['copy_of', 'bob']]), 1],
  ['a name that another record has', form('uuid', BOB.uuid, [['username', 'rescue']]), 2],
])('%s: what it does is not known', (_title, request, count) => {
  const { changes, unknown } = target(request);
  expect(changes.map(({ action }) => action)).toEqual(Array(count).fill('delete'));
  expect(unknown).toMatchObject({ code: 'not-sent', is: 'unknown' });
});

test.each([
  ['DELETE', '/api/user/user/', 'user', true],
  ['DELETE', '/api/group/core/user/7/', 'user', false],
  ['POST', '/api/group/user/', 'group', true],
  ['DELETE', '/api/group/core/members/admin/', 'group', true],
  ['POST', '/api/group/core/admins/', 'group', true],
] as const)('%s %s is about the list of %s', (method, path, resource, isOwn) => {
  const found = collectionIn(withResource(profile, 'group', {}), { method, path });
  expect(found).toMatchObject({ resource, isOwn });
});

test('a path with no word of a known list is about none, whatever it sounds like', () => {
  expect(collectionIn(profile, { method: 'DELETE', path: '/v2/accounts/7' })).toBeUndefined();
});

test('a text of a record that is no name of it makes a request one of which nobody knows what it does', () => {
  const named = fc.constantFrom('bob', 'carol', 'ann');
  fc.assert(
    fc.property(named, named, named, (username, first_name, typed) => {
      const records = [{ uuid: BOB.uuid, username, first_name }];
      const request: WriteRequest = {
        method: 'POST',
        path: '/api/user/',
        form: [['username', typed]],
      };
      const collection = collectionIn(profile, request);
      if (collection === undefined) throw new RangeError('there is no collection');
      const { changes, unknown } = rawTarget(request, profile, collection, records);
      const actions = changes.map(({ action }) => action);
      if (typed === username) expect(actions).toEqual(['set']);
      else if (typed === first_name)
        expect([actions, unknown]).toEqual([['delete'], expect.any(Object)]);
      else expect(actions).toEqual(['add']);
    }),
  );
});
