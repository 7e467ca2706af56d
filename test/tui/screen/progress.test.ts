import fc from 'fast-check';
import { expect, test } from 'vitest';
import { paceTexts } from '../../../src/output/progress.ts';
import { barMeter } from '../../../src/tui/screen/progress.ts';

test('long work says how much of it is done, its rate, and when it ends', () => {
  const meter = barMeter();
  const at = (done: number, nowMs: number) =>
    meter({ text: 'reading users', done, total: 20 }, nowMs);
  expect(at(0, 1000)).toBe('────────── 0/20 reading users');
  expect(at(8, 3000)).toBe('━━━━────── 8/20 reading users · 4/s · about 3 s left');
  expect(at(20, 9000)).toBe('━━━━━━━━━━ 20/20 reading users');
});

test('other work has a rate of its own', () => {
  const meter = barMeter();
  meter({ text: 'reading', done: 0, total: 10 }, 0);
  meter({ text: 'reading', done: 9, total: 10 }, 90_000);
  expect(meter({ text: 'planning', done: 0, total: 10 }, 91_000)).toBe('────────── 0/10 planning');
  expect(meter({ text: 'planning', done: 5, total: 10 }, 101_000)).toContain(
    '30/min · about 10 s left',
  );
});

test('what has no end has no bar, and no rate is said of few parts, of a short time, or of the end', () => {
  expect(barMeter()({ text: 'asking', done: 0, total: 0 })).toBe('asking');
  const number = fc.integer({ min: 0, max: 100_000 });
  fc.assert(
    fc.property(number, number, number, (ended, left, elapsedMs) => {
      const isKnown = ended >= 3 && elapsedMs >= 2000 && left > 0;
      expect(paceTexts(ended, left, elapsedMs)).toHaveLength(isKnown ? 2 : 0);
    }),
  );
});
