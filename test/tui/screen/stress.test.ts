import { expect, test } from 'vitest';
import { stressed } from '../../../src/tui/components/bars.tsx';
import type { Theme } from '../../../src/tui/screen/theme.ts';

const NAMED: Theme = (tone, text) => (tone === 'plain' || text === '' ? text : `<${tone} ${text}>`);

test('characters side by side are stressed as one piece', () => {
  expect(stressed(NAMED, 'match', 'user list', [0, 1, 5])).toBe('<match us>er <match l>ist');
});

test('matches are visible in a highlighted row, too', () => {
  expect(stressed(NAMED, 'current-match', ' user ', [1, 2], 'chosen')).toBe(
    '<chosen  ><current-match us><chosen er >',
  );
});
