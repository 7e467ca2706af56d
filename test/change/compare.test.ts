import { expect, test } from 'vitest';
import {
  differencesOf,
  differencesOfNew,
  isSameValue,
  isRespelled,
} from '../../src/change/compare.ts';
import type { Value } from '../../src/device/record.ts';

test.each<[Value, Value | undefined, boolean]>([
  ['de', 'de', true],
  ['de', 'DE', false],
  ['de', ' de', false],
  ['', null, true],
  ['', undefined, true],
  [null, '', true],
  ['5', 5, true],
  [5, '5', true],
  ['5', 50, false],
  ['true', true, true],
  ['True', true, true],
  ['1', true, true],
  ['no', false, true],
  ['maybe', true, false],
  [true, false, false],
  ['9007199254740993', 9007199254740993n, true],
  [['a', 'b'], ['a', 'b'], true],
  [['a', 'b'], ['b', 'a'], false],
  [{ a: 1, b: { c: [1], d: 2 } }, { b: { d: 2, c: [1] }, a: 1 }, true],
  [{ a: 1 }, { a: 2 }, false],
  [{ a: 1 }, { a: 1, b: '', c: null }, true],
  [{ a: 1, b: '' }, { a: 1, b: 2 }, false],
  [{ a: 1, password: '***' }, { a: 1, password: 'hash' }, true],
  [{ a: 1, password: 'old' }, { a: 1, password: 'new' }, false],
])('sent %s and stored %s are equal: %s', (sent, held, expected) => {
  expect(isSameValue(sent, held)).toBe(expected);
});

test('differences name each field once, with the sent and the stored value', () => {
  expect(differencesOf({ a: '1', b: 'x', c: 'y' }, { a: 1, b: 'z' })).toEqual([
    { field: 'b', sent: 'x', held: 'z' },
    { field: 'c', sent: 'y', held: null },
  ]);
});

test.each([
  [' Bob ', 'Bob', true],
  ['BOB', 'bob', true],
  ['e\u0301', '\u00e9', true],
  ['Bob', 'Rob', false],
])('%j stored as %j differs only in spelling: %s', (sent, held, isSame) => {
  expect(isRespelled([{ field: 'first_name', sent, held }])).toBe(isSame);
  expect(isRespelled([])).toBe(false);
});

test('only the requested parts of a nested value of a new record are compared', () => {
  const held = { profile: { lang: 'en', first_name: '', quota: 5 } };
  expect(differencesOfNew({ profile: { lang: 'en' } }, held)).toEqual([]);
  expect(differencesOfNew({ profile: { lang: 'de' } }, held)).toEqual([
    { field: 'profile', sent: { lang: 'de' }, held: { lang: 'en' } },
  ]);
});
