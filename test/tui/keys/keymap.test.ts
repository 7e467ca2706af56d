import { describe, expect, test } from 'vitest';
import { helpLines } from '../../../src/tui/views/help.ts';
import { KEYMAP } from '../../../src/tui/keys/default-keymap.ts';
import type { Context, Keymap, State } from '../../../src/tui/state.ts';
import { footerHints } from '../../../src/tui/keys/keymap.ts';
import { keyLabel, parseKey } from '../../../src/tui/terminal/keys.ts';
import { actionFor, after, stateOf, user } from '../table/table-fixture.ts';

test('no key means two things in one place', () => {
  const seen = new Set<string>();
  for (const { context, keys } of KEYMAP) {
    for (const key of keys) {
      expect(seen).not.toContain(`${context} ${key}`);
      seen.add(`${context} ${key}`);
    }
  }
});

test('each key is spelled as the terminal names it', () => {
  const presses = KEYMAP.flatMap(({ keys }) => keys.flatMap((key) => key.split(' ')));
  expect(presses.map((one) => keyLabel(parseKey(one)))).toEqual(presses);
});

describe('a key means what its place says', () => {
  test.each<[string, Context, string | undefined]>([
    ['d', 'table', 'delete'],
    ['d', 'prompt', undefined],
    ['tab', 'prompt', 'complete'],
    ['tab', 'table', 'next-device'],
    ['tab', 'menu', 'menu-next'],
    ['ctrl-c', 'table', 'interrupt'],
    ['ctrl-c', 'search', 'interrupt'],
    ['ctrl-r', 'menu', 'search'],
    ['escape', 'question', 'decline'],
    ['G', 'table', 'last'],
    ['g', 'table', 'first'],
    ['a', 'table', 'add-form'],
    ['A', 'table', undefined],
    ['1', 'table', undefined],
    ['a', 'form', undefined],
    ['space', 'form', undefined],
    ['enter', 'form', 'next-field'],
    ['enter', 'form-run', 'run-form'],
    ['down', 'form-pick', 'choice-next'],
    ['ctrl-s', 'form-pick', 'run-form'],
    ['escape', 'form-choice', 'close-form'],
  ])('%s in %s: %s', (key, context, action) => {
    expect(actionFor(key, context)).toBe(action);
  });
});

const texts = (state: State, context?: Context) =>
  footerHints(state, context).map(({ text }) => text);

test('at most 60 keys act in the table, and 200 in all', () => {
  const count = (bindings: Keymap): number =>
    bindings.reduce((sum, { keys }) => sum + keys.length, 0);
  expect(count(KEYMAP.filter(({ context }) => context === 'table'))).toBeLessThanOrEqual(60);
  expect(count(KEYMAP)).toBeLessThanOrEqual(200);
});

test('footer and help are made from the keymap, and the help is one screen', () => {
  const state = stateOf({ fw1: [user('alice')], fw2: [] });
  expect(texts(state, 'prompt').slice(0, 4)).toEqual([
    'enter run',
    '↹ complete',
    'esc table',
    'f1 help',
  ]);
  expect(texts(state, 'form-run').slice(0, 3)).toEqual(['enter run', 'ctrl-s run', 'esc close']);
  expect(texts(state, 'form-choice').slice(0, 2)).toEqual(['space choices', 'enter next']);
  const help = helpLines({ ...state, focus: 'table' });
  expect(help).toHaveLength(1 + 15 + 2);
  for (const [key, label] of [
    [':', 'to the prompt'],
    ['d', 'delete the marked'],
    ['?', 'the keys'],
  ]) {
    expect(help).toContainEqual(expect.stringMatching(new RegExp(`^ +[${key}] +${label}`)));
  }
  const narrow = { ...state, size: { columns: 42, rows: 30 } };
  for (const line of helpLines(narrow)) expect(line.length).toBeLessThanOrEqual(40);
});

describe('a key that does nothing now says why', () => {
  const empty = stateOf({});
  const readOnly = after(stateOf({ fw1: [user('alice')] }), {
    kind: 'fleet',
    fleet: { ...stateOf({ fw1: [] }).fleet, isReadOnly: true },
  });
  const denied = after(stateOf({ fw1: [user('alice')] }), {
    kind: 'fleet',
    fleet: {
      ...stateOf({ fw1: [] }).fleet,
      denied: new Map([['user', { delete: 'the device does not offer DELETE here' }]]),
    },
  });

  test.each<[string, State, string, RegExp | undefined]>([
    ['without a device', empty, 'delete', /^no device is connected/],
    ['read-only', readOnly, 'add-form', /^read-only/],
    ['read-only', readOnly, 'details', undefined],
    ['without a record', stateOf({ fw1: [] }), 'delete', /^no marked record, and no record/],
    ['without a record', stateOf({ fw1: [] }), 'add-form', undefined],
    ['with a method that is not offered', denied, 'delete', /does not offer DELETE/],
    ['with a method that is not offered', denied, 'edit-form', undefined],
    ['with one device', stateOf({ fw1: [user('a')] }), 'next-device', /^only one device/],
    ['with records', stateOf({ fw1: [user('a')] }), 'delete', undefined],
  ])('%s', (_title, state, action, reason) => {
    const why = KEYMAP.find((binding) => binding.action === action)?.disabled?.(state);
    if (reason === undefined) expect(why).toBeUndefined();
    else expect(why).toMatch(reason);
  });

  test('in the footer in brackets, in the help with the reason', () => {
    expect(texts(readOnly, 'table')).toContain('(d delete)');
    expect(texts(readOnly, 'table')).toContain('enter details');
    const wide = { ...readOnly, focus: 'table', size: { columns: 112, rows: 30 } } as const;
    expect(helpLines(wide).join('\n')).toMatch(/d +delete the marked .*; not now: read-only/);
  });
});
