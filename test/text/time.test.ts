import { expect, test } from 'vitest';
import { shortTime } from '../../src/text/time.ts';

const NOW = new Date(2026, 10, 21, 9, 30);

test.each([
  [new Date(2026, 10, 21, 7, 5), '07:05'],
  [new Date(2026, 10, 20, 17, 2), 'yesterday 17:02'],
  [new Date(2026, 10, 3, 17, 2), '3 Nov'],
  [new Date(2025, 10, 21, 9, 30), '21 Nov 2025'],
])('%s is shown as short as it is clear', (at, text) => {
  expect(shortTime(at, NOW)).toBe(text);
});
