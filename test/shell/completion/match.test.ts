import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchOf } from '../../../src/shell/completion/complete.ts';

test.each([
  ['user', 'user', { tier: 0, letters: [0, 1, 2, 3] }],
  ['US', 'user', { tier: 1, letters: [0, 1] }],
  ['name', 'first_name=', { tier: 2, letters: [6, 7, 8, 9] }],
  ['fn', 'first_name=', { tier: 3, letters: [0, 6] }],
  ['ul', 'user-list', { tier: 3, letters: [0, 5] }],
  ['', 'user', { tier: 1, letters: [] }],
])('"%s" fits "%s"', (typed, text, match) => {
  expect(matchOf(typed, text)).toEqual(match);
});

test.each([
  ['xy', 'user'],
  ['sr', 'user'],
  ['userx', 'user'],
])('"%s" does not fit "%s"', (typed, text) => {
  expect(matchOf(typed, text)).toBeUndefined();
});

test('the letters that fit are those that were typed, from left to right', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 4 }), fc.string({ unit: 'grapheme' }), (typed, text) => {
      const letters = matchOf(typed, text)?.letters ?? [];
      expect(letters).toEqual([...letters].sort((a, b) => a - b));
      if (letters.length === 0) return;
      const found = letters.map((at) => text.charAt(at)).join('');
      expect(found.toLowerCase()).toBe(typed.toLowerCase());
    }),
  );
});
