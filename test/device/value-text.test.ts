import { expect, test } from 'vitest';
import { valueText } from '../../src/device/record.ts';

test.each([
  ['text', 'text'],
  ['1.5', 1.5],
  ['12345678901234567890', 12345678901234567890n],
  ['true', true],
  ['', null],
  ['', undefined],
  ['a, 1, ', ['a', 1, null]],
  ['["a"], {"b":1}', [['a'], { b: 1 }]],
  ['{"a":{"b":1}}', { a: { b: 1n } }],
])('reads as "%s"', (text, value) => {
  expect(valueText(value)).toBe(text);
});
