import { expect, test } from 'vitest';
import { nameText, quotedText } from '../../src/output/cells.ts';

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

test.each(['漢'.repeat(200), 'e\u0301'.repeat(200), '😀'.repeat(200)])(
  'the start of a long name is that of its whole text: %#',
  (name) => {
    const whole = nameText('username', name);
    expect(nameText('username', name, 20)).toMatch(/…$/);
    expect(whole.startsWith(nameText('username', name, 20).slice(0, -1))).toBe(true);
  },
);
