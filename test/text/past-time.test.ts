import { expect, test } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { clockTime, parsePastTime, zoneText } from '../../src/text/time.ts';

const NOW = new Date(2026, 10, 22, 9, 30);
const local = (...parts: [number, number, number, number?, number?, number?]): number =>
  new Date(...parts).getTime();

test.each([
  ['2d', NOW.getTime() - 2 * 86_400_000],
  ['90m', NOW.getTime() - 90 * 60_000],
  ['1.5h', NOW.getTime() - 90 * 60_000],
  ['1w', NOW.getTime() - 7 * 86_400_000],
  ['03:00', local(2026, 10, 22, 3)],
  ['9:30', local(2026, 10, 22, 9, 30)],
  ['09:31', local(2026, 10, 21, 9, 31)],
  ['23:59:58', local(2026, 10, 21, 23, 59, 58)],
  ['yesterday 03:00', local(2026, 10, 21, 3)],
  ['2026-11-22', local(2026, 10, 22)],
  ['2026-11-22 03:00', local(2026, 10, 22, 3)],
  ['2026-11-22T03:00:05', local(2026, 10, 22, 3, 0, 5)],
  ['2026-11-20T23:00Z', Date.UTC(2026, 10, 20, 23)],
  ['2026-11-20T23:00:00.5+01:00', Date.UTC(2026, 10, 20, 22, 0, 0, 500)],
])('reads %s as a time in the past', (text, time) => {
  expect(parsePastTime(text, NOW)).toBe(time);
});

test.each(['', 'soon', '25:00', '2026-02-30', '2026-13-01', '2d3h', '-2d', '2', '2026-11-22T3:00'])(
  'refuses "%s", which is not a time',
  (text) => {
    expect(() => parsePastTime(text, NOW)).toThrow(UsageError);
  },
);

test('refuses a time in the future', () => {
  expect(() => parsePastTime('2026-11-23', NOW)).toThrow('2026-11-23 is in the future');
});

test('shows the clock on older days, and the zone', () => {
  const at = new Date(2026, 10, 3, 17, 2, 9);
  expect(clockTime(at, NOW)).toBe('3 Nov 17:02');
  expect(clockTime(at, NOW, true)).toBe('3 Nov 17:02:09');
  expect(clockTime(NOW, NOW)).toBe('09:30');
  expect(zoneText(NOW)).toMatch(/^UTC(?:[+-]\d\d:\d\d)?$/);
});
