import { expect, test } from 'vitest';
import { pointedLine } from '../../src/output/streams.ts';

test.each([
  ['usr list', 0, '  usr list', '  ^'],
  ['user set bob', 13, '  user set bob', '               ^'],
  ['user set 大輔 x', 12, '  user set 大輔 x', '                ^'],
  ['user \u001b[31m x', 11, '  user ^[[31m x', '              ^'],
])('a mark stands below the place in %j', (text, column, line, mark) => {
  expect(pointedLine({ text, columns: 80 }, column)).toEqual([line, mark]);
});

test('of a long line what is around the place is shown', () => {
  const text = `user add username=${'x'.repeat(70_000)} lang`;
  const [line, mark] = pointedLine({ text, columns: 40 }, text.length - 4);
  expect(line.length).toBeLessThanOrEqual(40);
  expect(line).toContain(' lang');
  expect(mark.indexOf('^')).toBe(line.indexOf('lang'));
});
