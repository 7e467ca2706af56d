import { expect, test } from 'vitest';
import { stressed } from '../../../src/tui/components/line.tsx';

test('characters side by side are stressed as one piece', () => {
  expect(stressed('user list', [0, 1, 5])).toEqual([
    { tone: 'match', text: 'us' },
    { tone: 'plain', text: 'er ' },
    { tone: 'match', text: 'l' },
    { tone: 'plain', text: 'ist' },
  ]);
});
