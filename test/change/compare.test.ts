import { expect, test } from 'vitest';
import { differencesOf, differencesOfNew, isRespelled } from '../../src/change/compare.ts';

test('differences name each field once, with the sent and the stored value', () => {
  expect(differencesOf({ a: 1, b: 'x', c: 'y' }, { a: 1, b: 'z' })).toEqual([
    { field: 'b', sent: 'x', held: 'z' },
    { field: 'c', sent: 'y', held: undefined },
  ]);
});

test('a secret that a journal has masked in a nested value is no difference', () => {
  const held = { user: { a: 1, password: 'hash' } };
  expect(differencesOf({ user: { a: 1, password: '***' } }, held)).toEqual([]);
  expect(differencesOf({ user: { a: 2, password: '***' } }, held)).toHaveLength(1);
  expect(differencesOf({ user: { a: 1, password: 'old' } }, held)).toHaveLength(1);
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
