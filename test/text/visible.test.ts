import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  cut,
  hasUnsafe,
  isWithin,
  normalized,
  replaceUnsafe,
  visible,
  visibleStart,
  visibleLines,
  widthOf,
} from '../../src/text/visible.ts';
import { countComputing } from '../contention.ts';
import { rounds } from '../rounds.ts';

const anyText = fc.string({ unit: 'binary' });

test.each([
  ['a plain name', 'alice', 'alice'],
  ['an escape sequence', '\u001B[31mred', '^[[31mred'],
  ['line breaks, tab, NUL and DEL', 'a\r\n\t\0\u007F', 'a^M^J^I^@^?'],
  ['C1, which is CSI to some terminals', '\u009B2J', '<U+009B>2J'],
  ['a bidi override', 'user\u202Egpj', 'user<U+202E>gpj'],
  ['zero-width characters', 'ad\u200Bmin\uFEFF\u00AD', 'ad<U+200B>min<U+FEFF><U+00AD>'],
  ['a joiner outside an emoji', 'a\u200Db', 'a<U+200D>b'],
  ['a variation selector on a letter', 'a\uFE0F', 'a<U+FE0F>'],
  ['tag characters', 'a\u{E0041}', 'a<U+E0041>'],
  ['half a surrogate pair', 'a\uD800b', 'a<U+D800>b'],
  ['line and paragraph separators', '\u2028\u2029', '<U+2028><U+2029>'],
])('%s is shown in visible form or left alone', (_, text, expected) => {
  expect(visible(text)).toBe(expected);
});

test.each(['José', 'e\u0301', '李雷', 'ألف', '👩‍🚀', '❤️', '🇩🇪', '👍🏽', '1️⃣', '🏴󠁧󠁢󠁥󠁮󠁧󠁿'])(
  'ordinary text stays as it is: %s',
  (text) => {
    expect(visible(text)).toBe(text);
  },
);

test('nothing that a terminal obeys survives', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(visible(text)).not.toMatch(
        /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200B\u200C\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF]/u,
      );
    }),
  );
});

test('making visible twice changes nothing, and it never narrows a text', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const once = visible(text);
      expect(visible(once)).toBe(once);
      expect(widthOf(once)).toBeGreaterThanOrEqual(widthOf(text));
    }),
  );
});

test('the start of a long text is no longer than it may be, and no character of it is half', () => {
  expect(visibleStart('😀😀😀', 4)).toBe('😀😀…');
  expect(visibleStart('😀😀😀', 3)).toBe('😀…');
  expect(visibleStart('😀\n', 4)).toBe('😀^J');
});

test('a message of several lines keeps its line breaks only', () => {
  expect(visibleLines('a\tb\n\u001B]0;x\u0007\nc')).toBe('a  b\n^[]0;x^G\nc');
});

test('exactly the unsafe code points are replaced, whatever is beside them', () => {
  const unsafe =
    /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\uFFF9-\uFFFB]/u;
  const wrong: string[] = [];
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const character = String.fromCodePoint(code);
    const expected = unsafe.test(character) ? `?${character}?` : character;
    if (hasUnsafe(character) !== unsafe.test(character)) wrong.push(code.toString(16));
    const replaced = replaceUnsafe(`é${character}💡`, (match) => `?${match}?`);
    if (replaced !== `é${expected}💡`) wrong.push(code.toString(16));
  }
  // A low half behind a high one would be a pair: these stand alone.
  expect(wrong).toEqual([]);
});

test('emoji sequences stay, and only those that are known as one sign', () => {
  const parts = [
    '👩',
    '🧑',
    '👨',
    '🏽',
    '\u200D',
    '\uFE0F',
    '💻',
    '⚕',
    '❤',
    '👧',
    '🦰',
    '🎄',
    '1',
    '\u20E3',
    'a',
  ];
  const known = new RegExp('\\p{RGI_Emoji}', 'gv');
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 8 }), (chosen) => {
      const text = chosen.join('');
      const expected = text
        .replace(known, (emoji) => ' '.repeat(emoji.length))
        .replace(/[\u200D\uFE0F]/g, '!');
      const isKept = !expected.includes('!');
      expect(visible(text) === text).toBe(isKept);
    }),
    { numRuns: rounds(5_000) },
  );
});

test.each([
  ['wide letters', '漢'.repeat(300_000)],
  ['Cyrillic letters', 'ж'.repeat(400_000)],
  ['joined emoji', '👩\u200d💻'.repeat(50_000)],
  ['combining marks', `a${'\u0301'.repeat(500_000)}`],
])('a value of very many %s is measured only as far as it is shown', (_, text) => {
  const computedMs = countComputing();
  const shown = Array.from({ length: 20 }, () => cut(text, 80));
  expect(widthOf(text)).toBeGreaterThan(80);
  // Twenty cells and a width of the whole text took minutes.
  expect(computedMs()).toBeLessThan(1_000);
  expect(Buffer.byteLength(shown[0] ?? '')).toBeLessThan(600);
  expect(widthOf(shown[0] ?? '')).toBeLessThanOrEqual(80);
});

test('a text is within a width that it does not exceed', () => {
  fc.assert(
    fc.property(anyText.map(visible), fc.nat(60), (text, width) => {
      expect(isWithin(text, width)).toBe(widthOf(text) <= width);
    }),
    { numRuns: rounds(2_000) },
  );
});

test('a normal form is that of Unicode, and takes no minutes for a character with 500,000 marks', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(normalized(text)).toBe(text.normalize('NFC'));
    }),
  );
  expect(normalized('e\u0301')).toBe('é');
  // Sorted by insertion these marks take about two minutes.
  const many = 'e' + '\u0301\u0316'.repeat(250_000);
  expect(normalized(many)).toBe(many);
  expect(normalized(many, 'NFKD')).toHaveLength(500_001 + Math.ceil(500_000 / 30) - 1);
  // A joiner between marks must not make two names one.
  const marks = '\u0304'.repeat(28);
  expect(normalized(`a\u0308${marks}\u0304\u0304`)).not.toBe(
    normalized(`\u01df${marks}\u034f\u0304`),
  );
});
