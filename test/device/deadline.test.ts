import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { awakeMs, Deadline } from '../../src/device/fault.ts';
import { createRandom } from '../../src/simulator/random.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('each deadline expires once, at its own limit', () => {
  const startedAt = performance.now();
  const expired: [number, number][] = [];
  for (const limitMs of [500, 100, 300]) {
    new Deadline(limitMs, () => expired.push([limitMs, performance.now() - startedAt]));
  }
  vi.advanceTimersByTime(2000);
  expect(expired).toEqual([
    [100, 100],
    [300, 300],
    [500, 500],
  ]);
});

test('a stopped deadline does not expire, and an extended one expires later', () => {
  const [stopped, extended] = [vi.fn(), vi.fn()];
  const one = new Deadline(200, stopped);
  const other = new Deadline(200, extended);
  vi.advanceTimersByTime(150);
  one.stop();
  one.stop();
  other.extend(200);
  vi.advanceTimersByTime(150);
  expect(extended).not.toHaveBeenCalled();
  vi.advanceTimersByTime(100);
  expect(extended).toHaveBeenCalledTimes(1);
  expect(stopped).not.toHaveBeenCalled();
});

test('a deadline that expires may start and stop others, and without one no timer is left', () => {
  const late = vi.fn();
  const neighbour = new Deadline(100, late);
  const last = vi.fn();
  new Deadline(50, () => {
    neighbour.stop();
    new Deadline(100, last);
  });
  vi.advanceTimersByTime(1000);
  expect(late).not.toHaveBeenCalled();
  expect(last).toHaveBeenCalledTimes(1);
  expect(vi.getTimerCount()).toBe(0);
});

test('time in which the process was blocked does not count', () => {
  const expire = vi.fn();
  const deadline = new Deadline(300, expire);
  const before = awakeMs();
  vi.advanceTimersByTime(50);
  const now = performance.now();
  // The clock has moved on, but no tick came.
  vi.spyOn(performance, 'now').mockImplementation(() => now + 5000);
  expect(awakeMs() - before).toBeCloseTo(200, 6);
  vi.advanceTimersByTime(50);
  expect(expire).not.toHaveBeenCalled();
  deadline.stop();
  vi.restoreAllMocks();
});

test('a time without a deadline takes nothing from what begins after it', () => {
  new Deadline(100, vi.fn());
  vi.advanceTimersByTime(200);
  // As a screen that nobody looks at.
  vi.advanceTimersByTime(200_000);
  const endsAt = awakeMs() + 1000;
  const deadline = new Deadline(500, vi.fn());
  expect(endsAt - awakeMs()).toBeCloseTo(1000, 6);
  vi.advanceTimersByTime(300);
  expect(endsAt - awakeMs()).toBeCloseTo(700, 6);
  deadline.stop();
  expect(endsAt - awakeMs()).toBeCloseTo(700, 6);
});

test('the clock of limits never goes back, whatever the process is busy with', () => {
  const deadline = new Deadline(1e6, vi.fn());
  let [offset, last] = [0, awakeMs()];
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + offset);
  const random = createRandom('a busy process');
  for (let step = 0; step < 2000; step += 1) {
    // The clock moves on without a tick, or with one.
    if (random.below(10) < 7) offset += random.below(200);
    else vi.advanceTimersByTime(1 + random.below(60));
    const reading = awakeMs();
    expect(reading).toBeGreaterThanOrEqual(last);
    last = reading;
  }
  deadline.stop();
  expect(awakeMs()).toBeGreaterThanOrEqual(last);
  vi.restoreAllMocks();
});
