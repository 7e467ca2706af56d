import { expect, test } from 'vitest';
import { quotedText } from '../../src/output/cells.ts';

test.each([
  ['', '""'],
  [null, 'null'],
  ['null', '"null"'],
  [undefined, 'absent'],
  ['absent', '"absent"'],
  [[], '[]'],
  [{}, '{}'],
  ['{}', '"{}"'],
  ['de', 'de'],
  ['New York', '"New York"'],
  ['x'.repeat(200), 'x'.repeat(200)],
  ['x'.repeat(65_536), `${'x'.repeat(99)}… (65536 characters)`],
  ['password', 'password'],
])('in a sentence a value is short, and can be seen: %.20j', (value, text) => {
  expect(quotedText('note', value)).toBe(text);
});
