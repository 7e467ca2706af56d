import { expect, test } from 'vitest';
import { documentedProfile, genericRestProfile } from '../../src/device/built-in-profiles.ts';
import { DeviceFacts, type Facts, knownFacts, type NewFact } from '../../src/device/facts.ts';
import { ignoredFields, updateFacts } from '../../src/device/profile.ts';
import { parseProfile } from '../../src/device/profile-file.ts';

test('an observed fact wins over a documented or assumed one', () => {
  const facts = new DeviceFacts(documentedProfile);
  expect(facts.set('resources.user.path', '/api/user')).toBe(true);
  expect(facts.set('ids', 'positional')).toBe(true);
  expect(facts.profile).toMatchObject({
    resources: { user: { path: '/api/user' } },
    ids: 'positional',
    origins: { 'resources.user.path': 'observed', ids: 'observed' },
  });
});

test.each<[string, (facts: DeviceFacts) => boolean]>([
  ['ids: stable', (facts) => facts.set('ids', 'positional')],
  ['list: {hides: false}', (facts) => facts.set('resources.user.list.hides', true)],
  ['update: {left_out: kept}', (facts) => facts.set('resources.user.update.leftOut', 'erased')],
  ['resources: {user: {single: false}}', (facts) => facts.set('resources.user.single', true)],
])('a configured fact is never overridden: %s', (source, set) => {
  const base = parseProfile(source, 'p.yaml', 'p');
  const facts = new DeviceFacts(base);
  expect(set(facts)).toBe(false);
  expect(facts.profile).toMatchObject({ ...base });
});

test('what a profile says of a field wins over what was stored before, word by word', () => {
  const source = 'resources: {user: {fields: {password: not_hidden, hits: integer}}}';
  const { profile } = new DeviceFacts(parseProfile(source, 'p.yaml', 'p'), {
    'resources.user.fields.password': { hidden: true },
    'resources.user.fields.hits': { volatile: true, type: 'string' },
  });
  expect(profile.resources['user']?.fields).toMatchObject({
    password: { hidden: false },
    hits: { volatile: true, type: 'integer' },
  });
});

test('of a field each observation adds to the others; of other facts the last one wins', () => {
  const facts = new DeviceFacts(genericRestProfile);
  facts.setFields('user', ['hits', 'uptime'], { volatile: true });
  expect(facts.set('resources.user.fields.hits', { hidden: true })).toBe(true);
  expect(facts.set('resources.user.fields.hits', { volatile: true })).toBe(false);
  expect(ignoredFields(facts.profile, 'user')).toEqual(['hits', 'uptime']);
  facts.set('resources.user.update.leftOut', 'not seen');
  facts.set('resources.user.update.leftOut', 'kept');
  expect(updateFacts(facts.profile, 'user').leftOut).toBe('kept');
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
  facts.set('effects', 'late');
  await facts.notified;
  expect(heard).toHaveLength(1);
});

test('another base profile keeps the observed facts, and decides again which apply', () => {
  const facts = new DeviceFacts(documentedProfile);
  facts.set('resources.user.options', { of: 'records', record: ['PATCH', 'DELETE'] });
  expect(facts.profile.update).toMatchObject({ method: 'PATCH', encoding: 'json' });
  facts.load(parseProfile('update: {method: PUT}', 'p.yaml', 'p'), {});
  expect(facts.profile.update).toMatchObject({ method: 'PUT', record: 'whole' });
});

const KEPT: Facts = {
  offers: ['user', 'zone'],
  ids: 'positional',
  remove: { method: 'DELETE', path: '{item}', encoding: 'form' },
  'resources.user.fields.hits': { volatile: true },
  'resources.user.options': { of: 'records' },
  'resources.zone.list.paging': 'offset start limit',
};

test('of a file of another version the facts of this one are taken, and no other', () => {
  const others = {
    answers: { withSlash: 'answers' },
    endsWithSlash: false,
    offers: 'user',
    'resources.user.volatile': ['hits'],
    'resources.user.asked': 'records',
    'resources.user.fields.x': 'hidden',
    'resources.user.colour': 'red',
    'resources.user': {},
    constructor: 1,
  };
  expect(knownFacts({ ...others, ...KEPT })).toEqual(KEPT);
});

test.each([undefined, null, 7, 'x', [], {}, 'x', [1]])('%j has no facts', (data) => {
  expect(knownFacts(data)).toEqual({});
});
