import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quotedKey } from '../../src/change/plan.ts';
import { lookOf, replaceForged, visible } from '../../src/text/visible.ts';

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

test.each([
  ['admin ', "'admin '"],
  ['ad\u00a0min', 'ad<U+00A0>min'],
  ['Jose\u0301', 'Jose<U+0301>'],
  ['\u212aelvin', '<U+212A>elvin'],
  ['José', 'José'],
  ['山田\u3000太郎', '山田\u3000太郎'],
  ['สมชาย', 'สมชาย'],
])('as a name %j is shown as %s', (name, shown) => {
  expect(visible(quotedKey(name))).toBe(shown);
});

test('names that are drawn the same are shown in different ways', () => {
  const letter = fc.constantFrom(
    'e',
    '\u00e9',
    '\u0301',
    ' ',
    '\u00a0',
    '\u2009',
    'K',
    '\u212a',
    'Å',
    '\u212b',
  );
  const name = fc.string({ unit: letter, maxLength: 5 });
  fc.assert(
    fc.property(name, name, (one, other) => {
      fc.pre(one !== other);
      const isSame =
        visible(quotedKey(one)).normalize('NFC') === visible(quotedKey(other)).normalize('NFC');
      expect(isSame).toBe(false);
    }),
  );
});
