import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newRunId, runIdTime } from '../../src/settings/run-files.ts';

const time = fc.integer({ min: 0, max: Date.parse('2100-01-01') });

test('the id of a new run sorts after the last one, wherever the clock has gone', () => {
  fc.assert(
    fc.property(fc.array(time, { minLength: 2, maxLength: 20 }), (clock) => {
      const ids = clock.reduce<string[]>((all, now) => [...all, newRunId(now, all.at(-1))], []);
      expect(ids.toSorted()).toEqual(ids);
      expect(new Set(ids).size).toBe(ids.length);
      clock.forEach((now, index) => {
        expect(runIdTime(ids[index] ?? '')).toBeGreaterThanOrEqual(now);
      });
    }),
  );
});

test('an id tells its time to the millisecond', () => {
  const now = Date.parse('2026-11-21T09:30:41.987Z');
  expect(newRunId(now, undefined, () => 0)).toBe('20261121-093041-yv2222');
  expect(runIdTime(newRunId(now))).toBe(now);
  expect(newRunId(now - 5_400_000, newRunId(now), () => 0)).toBe('20261121-093041-yw2222');
  expect(['latest', '20261121-093041-abc', '20261399-093041-k3qd7m'].map(runIdTime)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
