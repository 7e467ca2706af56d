import { describe, expect, test } from 'vitest';
import { helpLines } from '../../src/tui/help-lines.ts';
import { KEYMAP, type Context } from '../../src/tui/key-bindings.ts';
import { actionFor, footerHints } from '../../src/tui/keymap.ts';
import { parseKey } from '../../src/tui/terminal/key-name.ts';

function pressed(key: string, context: Context) {
  return actionFor({ kind: 'key', text: '', ...parseKey(key) }, context);
}

test('no key means two things in one place', () => {
  const seen = new Set<string>();
  for (const { context, keys } of KEYMAP) {
    for (const key of keys) {
      expect(seen).not.toContain(`${context} ${key}`);
      seen.add(`${context} ${key}`);
    }
  }
});

describe('a key means what its place says', () => {
  test.each<[string, Context, string | undefined]>([
    ['d', 'table', 'delete'],
    ['d', 'prompt', undefined],
    ['tab', 'prompt', 'complete'],
    ['tab', 'table', 'next-device'],
    ['tab', 'menu', 'menu-next'],
    ['ctrl-c', 'table', 'interrupt'],
    ['ctrl-c', 'search', 'search-cancel'],
    ['ctrl-r', 'menu', 'search'],
    ['escape', 'question', 'decline'],
    ['G', 'table', 'last'],
    ['g', 'table', 'first'],
    ['a', 'table', 'add-form'],
    ['A', 'table', 'add'],
    ['a', 'form', undefined],
    ['space', 'form', undefined],
    ['space', 'form-switch', 'switch'],
    ['enter', 'form', 'next-field'],
    ['enter', 'form-run', 'run-form'],
    ['down', 'form-pick', 'choice-next'],
    ['ctrl-s', 'form-pick', 'run-form'],
    ['escape', 'form-choice', 'close-form'],
  ])('%s in %s: %s', (key, context, action) => {
    expect(pressed(key, context)).toBe(action);
  });
});

test('footer and help are made from the keymap', () => {
  expect(footerHints('prompt').slice(0, 4)).toEqual([
    'enter run',
    '↹ complete',
    'esc table',
    'f1 help',
  ]);
  expect(footerHints('form-run').slice(0, 3)).toEqual(['enter run', 'ctrl-s run', 'esc close']);
  expect(footerHints('form-choice').slice(0, 2)).toEqual(['space choices', 'enter next']);
  const help = helpLines(100).join('\n');
  for (const { label } of KEYMAP) expect(help).toContain(label);
  for (const line of helpLines(40)) expect(line.length).toBeLessThanOrEqual(40);
});
