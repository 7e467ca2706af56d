import { expect, test } from 'vitest';
import { usageHint, usageSpans } from '../../../src/tui/prompt/usage-hint.ts';
import { shownHints } from '../../../src/tui/screen/bar-lines.ts';
import { after, stateOf, user } from '../table/table-fixture.ts';

/** The usage with the present part in brackets. */
function usage(before: string): string | undefined {
  const hint = usageHint({ before, after: '' });
  return hint?.words.map((text, at) => (at === hint.present ? `<${text}>` : text)).join(' ');
}

test.each([
  ['user', undefined],
  ['user ', 'user <list | show | add | set | delete | changes | restore>'],
  ['user set ', 'user set <[KEY]> [FIELD=VALUE…]'],
  ['user set bo', 'user set <[KEY]> [FIELD=VALUE…]'],
  ['user set bob ', 'user set [KEY] <[FIELD=VALUE…]>'],
  ['user set bob lang=de la', 'user set [KEY] <[FIELD=VALUE…]>'],
  ['user set bob --on fw1 ', 'user set [KEY] <[FIELD=VALUE…]>'],
  ['user list --columns ', '--columns <FIELDS>'],
  ['user list --columns=la', '--columns <FIELDS>'],
  ['user list --fold', '<--fold>'],
  ['devices ', undefined],
  ['nothing ', undefined],
])('"%s" goes on as %s', (before, expected) => {
  expect(usage(before)).toBe(expected);
});

test('on a narrow screen what comes next stays, and nothing is longer than the screen', () => {
  const state = after(stateOf({ fw1: [user('alice')] }), {
    kind: 'edit',
    key: { kind: 'insert', text: 'user set bob ' },
  });
  const at = (columns: number): string =>
    usageSpans({ ...state, size: { columns, rows: 24 } })
      .map(({ text }) => text)
      .join('');
  expect(at(120)).toBe('user set [KEY] [FIELD=VALUE…]: a field and its new value, as in lang=de');
  expect(at(80)).toBe('[FIELD=VALUE…]: a field and it…');
  expect(at(40)).toBe('');
});

test.each(['user set ', 'user delete bob', 'user list --columns ', 'connect '])(
  'beside the usage of "%s" the keys for completion, the table and help stay; the summary gives way',
  (text) => {
    const typed = after(stateOf({ fw1: [user('alice')] }), {
      kind: 'edit',
      key: { kind: 'insert', text },
    });
    for (const columns of [60, 80, 100, 120]) {
      const state = { ...typed, size: { columns, rows: 24 } };
      const usage = usageSpans(state).reduce((sum, { text: part }) => sum + part.length, 0);
      const hints = shownHints(state, columns - 2 - (usage === 0 ? 0 : usage + 3));
      expect(hints.map(({ action }) => action)).toEqual(
        expect.arrayContaining(['run-line', 'complete', 'leave-prompt', 'help']),
      );
      const used = hints.reduce((sum, { text: hint }) => sum + hint.length + 3, usage);
      expect(used).toBeLessThanOrEqual(columns + 1);
    }
  },
);
