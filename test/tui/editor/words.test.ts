import { expect, test } from 'vitest';
import { partEnd, partStart, wordStart } from '../../../src/tui/editor/line.ts';
import { countComputing } from '../../contention.ts';

test.each(['𝒳', '🇩🇪', 'あ', 'x'])('a long word of %s is passed at once', (character) => {
  const word = character.repeat(200_000 / character.length);
  const computedMs = countComputing();
  const isWord = /^\p{L}/u.test(character);
  expect(wordStart(`ab ${word}`)).toBe(3);
  expect(partStart(`ab ${word}`)).toBe(isWord ? 3 : 0);
  expect(partEnd(`${word} ab`)).toBe(isWord ? word.length : word.length + 3);
  // With a look at the last 256 units for each character, it was half a minute.
  expect(computedMs()).toBeLessThan(5_000);
});
