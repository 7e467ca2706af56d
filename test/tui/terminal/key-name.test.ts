import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyLabel, matchesKey, parseKey } from '../../../src/tui/terminal/keys.ts';

test.each([
  ['ctrl-r', { name: 'r', ctrl: true, meta: false, shift: false }],
  ['alt-b', { name: 'b', ctrl: false, meta: true, shift: false }],
  ['shift-tab', { name: 'tab', ctrl: false, meta: false, shift: true }],
  ['G', { name: 'g', ctrl: false, meta: false, shift: true }],
  ['?', { name: '?', ctrl: false, meta: false, shift: false }],
  ['ctrl-_', { name: '_', ctrl: true, meta: false, shift: false }],
  ['ctrl--', { name: '-', ctrl: true, meta: false, shift: false }],
  ['-', { name: '-', ctrl: false, meta: false, shift: false }],
  [' ', { name: 'space', ctrl: false, meta: false, shift: false }],
])('reads %j', (text, key) => {
  expect(parseKey(text)).toEqual(key);
});

test('a key is named as it is read', () => {
  const name = fc.constantFrom('a', 'z', 'é', '表', '1', '?', '-', 'tab', 'up', 'f12', 'space');
  const key = fc.record({ name, ctrl: fc.boolean(), meta: fc.boolean(), shift: fc.boolean() });
  fc.assert(
    fc.property(key, (one) => {
      expect(parseKey(keyLabel(one))).toEqual(one);
    }),
  );
});

test('a key matches its name with the same modifiers, a paste matches nothing', () => {
  const event = {
    kind: 'key',
    name: 'r',
    ctrl: true,
    meta: false,
    shift: false,
    text: '',
  } as const;
  expect(matchesKey(event, 'ctrl-r')).toBe(true);
  expect(matchesKey(event, 'r')).toBe(false);
  expect(matchesKey({ kind: 'paste', text: 'r' }, 'r')).toBe(false);
});
