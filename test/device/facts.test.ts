import { expect, test } from 'vitest';
import { documentedProfile, genericRestProfile } from '../../src/device/built-in-profiles.ts';
import { DeviceFacts, type NewFact } from '../../src/device/facts.ts';
import { type Facts, parseFacts } from '../../src/device/facts-schema.ts';
import { ignoredFields } from '../../src/device/profile.ts';
import { parseProfile } from '../../src/device/profile-file.ts';

test('an observed fact wins over a documented or assumed one', () => {
  const facts = new DeviceFacts(documentedProfile);
  expect(facts.set('answers', { withSlash: 'not found', withoutSlash: 'answers' })).toBe(true);
  expect(facts.set('ids', 'positional')).toBe(true);
  expect(facts.profile).toMatchObject({
    endsWithSlash: false,
    ids: 'positional',
    origins: { endsWithSlash: 'observed', ids: 'observed' },
  });
});

test.each<[string, (facts: DeviceFacts) => boolean]>([
  ['ids: stable', (facts) => facts.set('ids', 'positional')],
  ['connections: several', (facts) => facts.set('connections', 'one')],
  ['resources: {user: {volatile: []}}', (facts) => facts.set('resources.user.volatile', ['hits'])],
  ['resources: {user: {hidden: []}}', (facts) => facts.set('resources.user.hidden', ['password'])],
  ['resources: {user: {single: false}}', (facts) => facts.set('resources.user.single', true)],
])('a configured fact is never overridden: %s', (source, set) => {
  const base = parseProfile(source, 'p.yaml', 'p');
  const facts = new DeviceFacts(base);
  expect(set(facts)).toBe(false);
  expect(facts.profile).toMatchObject({ ...base });
});

test('hidden: [] of a profile wins over facts that were stored before', () => {
  const base = parseProfile('resources: {user: {hidden: []}}', 'p.yaml', 'p');
  const { profile } = new DeviceFacts(base, { 'resources.user.hidden': ['password'] });
  expect(profile.resources['user']?.hidden).toEqual([]);
});

test('lists of fields grow; of other facts the last one wins', () => {
  const facts = new DeviceFacts(genericRestProfile);
  facts.set('resources.user.volatile', ['hits']);
  expect(facts.set('resources.user.volatile', ['uptime'])).toBe(true);
  expect(facts.set('resources.user.volatile', ['hits'])).toBe(false);
  expect(ignoredFields(facts.profile, 'user')).toEqual(['hits', 'uptime']);
  facts.set('resources.user.leftOut', 'not seen');
  facts.set('resources.user.leftOut', 'kept');
  expect(facts.profile.resources['user']?.leftOut).toBe('kept');
});

test('the profile is the same object until a fact is new', () => {
  const facts = new DeviceFacts(documentedProfile);
  const { profile } = facts;
  facts.set('resources.user.path', undefined);
  expect(facts.profile).toBe(profile);
  facts.set('offers', ['user']);
  expect(facts.profile).not.toBe(profile);
});

test('a listener gets new facts of one turn together, and can be awaited', async () => {
  const facts = new DeviceFacts(documentedProfile);
  const heard: (readonly NewFact[])[] = [];
  const stop = facts.onNew(async (news) => {
    await Promise.resolve();
    heard.push(news);
  });
  facts.set('ids', 'positional', 'run 1', 'bob has moved');
  facts.set('offers', ['user']);
  facts.set('ids', 'positional');
  await facts.notified;
  expect(heard).toEqual([
    [
      { fact: 'ids', value: 'positional', source: 'run 1', why: 'bob has moved' },
      { fact: 'offers', value: ['user'], why: undefined },
    ],
  ]);
  stop();
  facts.set('connections', 'one');
  await facts.notified;
  expect(heard).toHaveLength(1);
});

test('another base profile keeps the observed facts, and decides again which apply', () => {
  const facts = new DeviceFacts(documentedProfile);
  facts.set('resources.user.asked', 'records');
  facts.set('resources.user.itemAllows', ['PATCH', 'DELETE']);
  expect(facts.profile.update).toMatchObject({ method: 'PATCH', encoding: 'json' });
  facts.load(parseProfile('update: {method: PUT}', 'p.yaml', 'p'), {});
  expect(facts.profile.update).toMatchObject({ method: 'PUT', record: 'whole' });
});

const KEPT: Facts = {
  offers: ['user', 'zone'],
  answers: { withSlash: 'answers' },
  ids: 'positional',
  'proven.remove': { method: 'DELETE', path: '{item}', encoding: 'form' },
  'resources.user.volatile': ['hits'],
  'resources.user.asked': 'records',
  'resources.user.details': { lang: { type: 'choice', required: true, readOnly: false } },
  'resources.zone.pageStep': { kind: 'offset', parameter: 'start', size: 'limit' },
};

test('a stored file is read as written; invalid facts are dropped', () => {
  const facts = JSON.parse(JSON.stringify(KEPT)) as Record<string, unknown>;
  expect(parseFacts({ at: 'now', facts })).toEqual(KEPT);
  const rubbish = {
    ids: 'moving',
    'resources.user.volatile': 'hits',
    'resources.user.colour': 'red',
    'resources.user': {},
    constructor: 1,
    '__proto__.x': 1,
  };
  expect(parseFacts({ facts: { ...facts, ...rubbish } })).toEqual({
    ...KEPT,
    ids: undefined,
    'resources.user.volatile': undefined,
  });
});

test.each([undefined, null, 7, 'x', [], {}, { facts: 'x' }, { byResource: [1], writing: 'x' }])(
  'a file with %j is no file of facts',
  (data) => {
    expect(parseFacts(data)).toEqual({});
  },
);
