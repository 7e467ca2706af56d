import { expect, test } from 'vitest';
import { lastSeenText } from '../../../src/shell/records/last-seen.ts';

const NOW = new Date(2026, 10, 21, 9, 30);

test('what a device held is shown with its time, or not at all', () => {
  const seen = { keys: [], fields: [] };
  const at = new Date(2026, 10, 20, 17, 2).toISOString();
  expect(lastSeenText({ group: seen, user: { ...seen, count: 41, at } }, NOW)).toBe(
    '41 users, yesterday 17:02',
  );
  expect(lastSeenText({ group: { ...seen, count: 1, at } }, NOW)).toBe('1 group, yesterday 17:02');
  expect(lastSeenText({ user: seen }, NOW)).toBeUndefined();
  expect(lastSeenText({}, NOW)).toBeUndefined();
});
