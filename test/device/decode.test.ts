import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { documentedProfile } from '../../src/device/built-in-profiles.ts';
import { decodeList, decodeWritten } from '../../src/device/decode.ts';
import { DeclinedFailure, DecodeFailure } from '../../src/device/errors.ts';
import { rounds } from '../rounds.ts';

const alice = { uuid: '6f1c', username: 'alice', lang: 'de' };
const bob = { uuid: '0b7e', username: 'bob', lang: 'en' };
const both = [alice, bob];

describe('a list', () => {
  test.each(['results', 'data', 'rows', 'records', 'users', 'user'])('in "%s"', (name) => {
    expect(decodeList(JSON.stringify({ status: 'OK', [name]: both }), 'user')).toEqual({
      records: both,
      envelope: name,
    });
  });

  test.each<[title: string, body: unknown, resource: string, records: unknown]>([
    ['bare', both, 'user', both],
    ['bare and empty', [], 'user', []],
    ['under the name of its resource', { zone: [{ name: 'lan' }] }, 'zone', [{ name: 'lan' }]],
    ['under the plural of its resource', { zones: [] }, 'zone', []],
    ['of one record by itself', alice, 'user', [alice]],
    ['of one record in an envelope', { user: alice }, 'user', [alice]],
    ['of one record beside a status', { status: 'OK', data: alice }, 'user', [alice]],
    [
      'of a record with a status of its own',
      { ...alice, status: 'failed' },
      'user',
      [{ ...alice, status: 'failed' }],
    ],
    ['keyed by uuid', { '6f1c': alice, '0b7e': bob }, 'user', both],
    ['keyed by name', { alice: { lang: 'de' } }, 'user', [{ username: 'alice', lang: 'de' }]],
    [
      'keyed by the uuid, under the name by which a write gives it back',
      { '6f1c9a52-0000-4000-8000-000000000001': { username: 'eve' } },
      'user',
      [{ uuid: '6f1c9a52-0000-4000-8000-000000000001', username: 'eve' }],
    ],
    ['keyed by number', { 7: { username: 'eve' } }, 'user', [{ id: '7', username: 'eve' }]],
    [
      'keyed by a name that is an envelope elsewhere',
      { user: { lang: 'de' }, admin: { lang: 'en' } },
      'user',
      [
        { username: 'user', lang: 'de' },
        { username: 'admin', lang: 'en' },
      ],
    ],
    ['keyed by id in an envelope', { data: { '6f1c': alice }, meta: {} }, 'user', [alice]],
    ['in two envelopes', { status: 'success', data: { users: both } }, 'user', both],
    [
      'with nested and unknown fields',
      [{ username: 'a', roles: ['x', 'y'], address: { city: 'B' } }],
      'user',
      [{ username: 'a', roles: ['x', 'y'], address: { city: 'B' } }],
    ],
  ])('%s', (_title, body, resource, records) => {
    expect(decodeList(JSON.stringify(body), resource).records).toEqual(records);
  });

  test.each([
    [
      'form text',
      'uuid=1&username=alice&first_name=J%C3%BCrgen+K\nuuid=2&username=bob&roles=a&roles=b',
      [
        { uuid: '1', username: 'alice', first_name: 'Jürgen K' },
        { uuid: '2', username: 'bob', roles: ['a', 'b'] },
      ],
    ],
    [
      'key=value lines',
      'uuid=1\nusername=alice\nnote="a = b"\n\nuuid=2\r\nusername=bob\r\n',
      [
        { uuid: '1', username: 'alice', note: 'a = b' },
        { uuid: '2', username: 'bob' },
      ],
    ],
    [
      'key=value lines',
      'username=alice\nlang=de\nusername=bob\nlang=',
      [
        { username: 'alice', lang: 'de' },
        { username: 'bob', lang: '' },
      ],
    ],
  ])('as %s', (envelope, text, records) => {
    expect(decodeList(text, 'user')).toEqual({ records, envelope });
  });

  test('with a next page and a count', () => {
    const body = { count: 3, next: 'https://fw1/api/user/?page=2', previous: null, results: both };
    expect(decodeList(JSON.stringify(body), 'user')).toEqual({
      records: both,
      envelope: 'results',
      next: 'https://fw1/api/user/?page=2',
      numbers: { count: 3 },
      total: 3,
    });
  });
});

test.each([
  ['', 'empty'],
  ['  \n', 'empty'],
  ['\ufeff', 'empty'],
  ['{}', 'without a list'],
  ['"text"', 'single value'],
  ['[1, 2]', 'items that are not records'],
  ['{"a": 1}', 'without a list'],
  ['[{"username": "al', 'not valid JSON'],
  ['<!DOCTYPE html><title>Log &amp; in</title>', 'Log & in'],
  ['hello world', 'neither JSON'],
  ['message=denied', 'neither JSON'],
  ['['.repeat(70), 'nested'],
])('%j is no list, and the error has the reason', (text, why) => {
  expect(() => decodeList(text, 'user')).toThrow(DecodeFailure);
  expect(() => decodeList(text, 'user')).toThrow(why);
});

test.each([
  ['records', `[${'{},'.repeat(1_000_000)}{}]`],
  ['lines', 'username=a\n\n'.repeat(500_001)],
])('more than a million %s are refused', (what, text) => {
  expect(() => decodeList(text, 'user')).toThrow(`more than 1000000 ${what}`);
});

test.each([
  ['{"status":"error","message":"no such user"}', 'no such user'],
  ['{"status":"error","id":3,"message":"no such user"}', 'no such user'],
  ['{"success":false,"errors":{"lang":["bad"]}}', 'lang: bad'],
  ['{"result":"failed","validations":{"user.name":"taken"}}', 'user.name: taken'],
  ['{"status":"failed"}', 'no reason'],
  ['{"status":"error","data":[]}', 'no reason'],
  ['{"error":{"code":5,"message":"denied"}}', 'denied'],
  ['{"errors":["one","two"],"data":[]}', 'one, two'],
  ['Error: account exists', 'account exists'],
  ['# Error: Request failed', 'Request failed'],
])('%s is a refusal, whatever the status', (text, why) => {
  expect(() => decodeList(text, 'user')).toThrow(DeclinedFailure);
  expect(() => decodeWritten(text, 'user')).toThrow(why);
});

test('the response to a write may have no record', () => {
  expect(decodeWritten('', 'user')).toBeUndefined();
  expect(decodeWritten('OK', 'user')).toBeUndefined();
  expect(decodeWritten('<html>', 'user')).toBeUndefined();
  expect(decodeWritten('{"status":"OK"}', 'user')).toBeUndefined();
  expect(decodeWritten(JSON.stringify({ status: 'OK', user: alice }), 'user')).toEqual(alice);
});

test('any response ends in records or a clear failure', () => {
  const profiles = [
    documentedProfile,
    { ...documentedProfile, list: { ...documentedProfile.list, items: 'data.user' } },
    { ...documentedProfile, list: { ...documentedProfile.list, groupField: 'groups' } },
  ];
  const answers = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json({ maxDepth: 5 }),
    fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('latin1')),
    fc
      .dictionary(
        fc.constantFrom('data', 'user', 'status', 'next', 'id', '__proto__'),
        fc.jsonValue(),
      )
      .map((value) => JSON.stringify(value)),
  );
  fc.assert(
    fc.property(answers, fc.constantFrom(...profiles), (text, profile) => {
      try {
        const { records } = decodeList(text, 'user', profile);
        for (const record of records) expect(record).toBeTypeOf('object');
      } catch (error) {
        if (!(error instanceof DecodeFailure || error instanceof DeclinedFailure)) throw error;
        expect(error.message).not.toMatch(/[\p{Cc}\u2028]/u);
      }
    }),
    { numRuns: rounds(1000) },
  );
});

describe('one object', () => {
  const object = { hostname: 'fw1', ntp_servers: ['a', 'b'], dns: { first: '1.1.1.1' } };
  test.each<[title: string, body: unknown]>([
    ['by itself', object],
    ['under the name of its resource', { system: object, status: 'OK' }],
    ['in an envelope', { code: 200, status: 'ok', message: '', data: object }],
  ])('%s is distinguished from a list', (_title, body) => {
    expect(decodeList(JSON.stringify(body), 'system')).toEqual({
      records: [object],
      envelope: 'one object',
      single: true,
    });
  });

  test('with a name is no list of one record', () => {
    expect(decodeList('{"name": "fw1", "mode": "nat"}', 'settings').single).toBe(true);
    expect(decodeList('[{"name": "lan"}]', 'zone').single).toBeUndefined();
    expect(decodeList('{"name": "x", "results": [{"name": "lan"}]}', 'zone').records).toEqual([
      { name: 'lan' },
    ]);
  });
});
