import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  firstGrapheme,
  graphemes,
  graphemesBack,
  lastGrapheme,
} from '../../../src/tui/editor/graphemes.ts';
import { rounds } from '../../rounds.ts';

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const segmented = (text: string): string[] =>
  Array.from(segmenter.segment(text), ({ segment }) => segment);

const PIECES = [
  'a',
  ' ',
  '\r',
  '\n',
  'é',
  'e\u0301',
  '漢',
  'あ',
  '한',
  '𝒳',
  '😀',
  '🇩',
  '🇫',
  '👨🏻‍👩🏻‍👧🏻‍👦🏻',
  '\u200d',
  'क',
  '्',
  'ष',
  '\ud83d',
];
const texts = (maxLength: number) => fc.string({ unit: fc.constantFrom(...PIECES), maxLength });

test('a text falls into the same characters from either end, and one by one', () => {
  fc.assert(
    fc.property(texts(60), (text) => {
      const characters = segmented(text);
      expect([...graphemes(text)]).toEqual(characters);
      expect([...graphemesBack(text)].reverse()).toEqual(characters);
      expect(firstGrapheme(text)).toBe(characters[0] ?? '');
      expect(lastGrapheme(text)).toBe(characters.at(-1) ?? '');
    }),
  );
});

test('a long text is looked at in blocks, and no character is cut at their borders', () => {
  fc.assert(
    fc.property(texts(10), texts(10), (begin, end) => {
      const text = `${begin}${'👨🏻‍👩🏻‍👧🏻‍👦🏻e\u0301😀'.repeat(100)}${end}`;
      expect([...graphemes(text)]).toEqual(segmented(text));
      expect([...graphemesBack(text)].reverse()).toEqual(segmented(text));
    }),
    { numRuns: rounds(20) },
  );
});

test('a character without end is taken in parts, and all of it', () => {
  const text = `a${'\u0301'.repeat(5_000)}b`;
  expect([...graphemes(text)].join('')).toBe(text);
  expect([...graphemesBack(text)].reverse().join('')).toBe(text);
});
