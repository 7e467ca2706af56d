import { expect, test } from 'vitest';
import { lastSeenText, whenText } from '../../../src/shell/records/last-seen.ts';

const NOW = new Date(2026, 10, 21, 9, 30);

test.each([
  [new Date(2026, 10, 21, 7, 5), 'today 07:05'],
  [new Date(2026, 10, 20, 17, 2), 'yesterday 17:02'],
  [new Date(2026, 10, 19, 17, 2), '2026-11-19'],
  [new Date(2025, 10, 21, 9, 30), '2025-11-21'],
])('%s is said as short as it is clear', (at, text) => {
  expect(whenText(at, NOW)).toBe(text);
});

test('what a device held is told with its time, and not without', () => {
  const seen = { keys: [], fields: [] };
  const at = new Date(2026, 10, 20, 17, 2).toISOString();
  expect(lastSeenText({ group: seen, user: { ...seen, count: 41, at } }, NOW)).toBe(
    '41 users yesterday 17:02',
  );
  expect(lastSeenText({ group: { ...seen, count: 1, at } }, NOW)).toBe('1 group yesterday 17:02');
  expect(lastSeenText({ user: seen }, NOW)).toBeUndefined();
  expect(lastSeenText({}, NOW)).toBeUndefined();
});
