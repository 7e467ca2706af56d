import { expect, test } from 'vitest';
import { wrapText } from '../../src/text/wrap.ts';
import { countComputing } from '../contention.ts';

test.each([
  ['words at blanks', 'one two three four', ['one two', '  three', '  four']],
  ['a long word anywhere', 'abcdefghijklmnop', ['abcdefghij', '  klmnop']],
  ['an address behind a sign', 'aa:bb:cc:dd:ee', ['aa:bb:cc:', '  dd:ee']],
  ['wide characters whole', '漢字漢字漢字', ['漢字漢字漢', '  字']],
  ['line ends where they are', 'a\nb', ['a', 'b']],
])('breaks %s', (_what, text, lines) => {
  expect(wrapText(text, 10, '  ')).toEqual(lines);
});

test('breaks a word of a megabyte within a second', () => {
  const computedMs = countComputing();
  const lines = wrapText('x'.repeat(1_000_000), 80, '  ');
  expect(computedMs()).toBeLessThan(1000);
  expect(lines.map((line) => line.trim()).join('')).toHaveLength(1_000_000);
});
