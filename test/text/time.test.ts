import { expect, onTestFinished, test } from 'vitest';
import { shortTime, zonesText } from '../../src/text/time.ts';

const NOW = new Date(2026, 10, 21, 9, 30);

test.each([
  [new Date(2026, 10, 21, 7, 5), '07:05'],
  [new Date(2026, 10, 20, 17, 2), 'yesterday 17:02'],
  [new Date(2026, 10, 3, 17, 2), '3 Nov'],
  [new Date(2025, 10, 21, 9, 30), '21 Nov 2025'],
])('%s is shown as short as it is clear', (at, text) => {
  expect(shortTime(at, NOW)).toBe(text);
});

test('the zone of times on both sides of a change of the clock is named for both', () => {
  const zone = process.env['TZ'];
  process.env['TZ'] = 'Europe/Berlin';
  onTestFinished(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });
  const winter = new Date('2026-10-25T09:00:00Z');
  expect(zonesText(new Date('2026-10-24T09:00:00Z'), winter)).toBe(
    'UTC+01:00 (older ones UTC+02:00)',
  );
  expect(zonesText(winter, winter)).toBe('UTC+01:00');
});
