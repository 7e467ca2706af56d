import { expect, test } from 'vitest';
import { plainLine, stressed } from '../../../src/tui/screen/theme.ts';

test('characters side by side are stressed as one piece', () => {
  expect(stressed(plainLine('user list'), 'match', [0, 1, 5])).toEqual([
    { tone: 'match', text: 'us' },
    { tone: 'plain', text: 'er ' },
    { tone: 'match', text: 'l' },
    { tone: 'plain', text: 'ist' },
  ]);
});
