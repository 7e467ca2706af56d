import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lookOf, replaceForged } from '../src/look-alike.ts';
import { visible } from '../src/visible.ts';

test.each([
  ['a Cyrillic letter in a Latin name', 'аdmin', '<U+0430>dmin'],
  ['a Greek letter in a Latin name', 'rοοt', 'r<U+03BF><U+03BF>t'],
  ['only the word that is forged', 'сервер rооt', 'сервер r<U+043E><U+043E>t'],
])('%s is shown', (_, text, expected) => {
  expect(visible(text)).toBe(expected);
});

test.each(['сервер', 'VPN-сервер', 'Ελένη', 'Łukasz', 'Müller', '10 µm', 'Բարև', '日本 admin'])(
  'a name in the letters of one script stays as it is: %s',
  (name) => {
    expect(replaceForged(name, () => '?')).toBe(name);
  },
);

test.each([
  ['admin', 'аdmin'],
  ['bob', 'Bob'],
  ['bill', 'biII'],
  ['root', 'r00t'],
  ['modern', 'modem'],
  ['José', 'Jose\u0301'],
  ['admin', 'ad\u200Bmin'],
  ['admin', 'ａｄｍｉｎ'],
  ['сор', 'cop'],
])('%s looks like %s', (one, other) => {
  expect(lookOf(one)).toBe(lookOf(other));
});

test.each([
  ['bob', 'rob'],
  ['anna', 'ana'],
  ['alice', 'alicia'],
  ['fw1', 'fw2'],
])('%s does not look like %s', (one, other) => {
  expect(lookOf(one)).not.toBe(lookOf(other));
});

test('showing forged letters twice changes nothing', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', 'b', 'о', 'а', 'ο', 'x', ' ', '<', '-') }),
      (text) => {
        expect(visible(visible(text))).toBe(visible(text));
      },
    ),
  );
});
