import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { fanOut, mapInTurns } from '../../src/fleet/fan-out.ts';

async function collect<T>(results: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const result of results) all.push(result);
  return all;
}

/** Work that the test ends. */
function gates(count: number) {
  return Array.from({ length: count }, () => {
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    return { open, opened };
  });
}

test('yields each result as soon as it is emitted, in any order', async () => {
  const [first, second] = gates(2);
  const results = fanOut([0, 1], 2, async (item, emit: (item: number) => void) => {
    await (item === 0 ? first : second)?.opened;
    emit(item);
  });
  second?.open();
  expect(await results.next()).toEqual({ value: 1, done: false });
  first?.open();
  expect(await results.next()).toEqual({ value: 0, done: false });
  expect(await results.next()).toMatchObject({ done: true });
});

test('never runs more than the width, and runs everything once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(30), fc.integer({ min: 1, max: 8 }), async (count, width) => {
      let running = 0;
      let most = 0;
      const items = Array.from({ length: count }, (_, index) => index);
      const results = await collect(
        fanOut(items, width, async (item, emit: (item: number) => void) => {
          running += 1;
          most = Math.max(most, running);
          await Promise.resolve();
          running -= 1;
          emit(item);
        }),
      );
      expect([...results].sort((a, b) => a - b)).toEqual(items);
      expect(most).toBe(Math.min(count, width));
    }),
  );
});

test('after an abort nothing new is started, and what is under way is still yielded', async () => {
  const stop = new AbortController();
  const [gate] = gates(1);
  const started: number[] = [];
  const results = fanOut(
    [0, 1, 2],
    1,
    async (item, emit: (item: number) => void) => {
      started.push(item);
      await gate?.opened;
      emit(item);
    },
    stop.signal,
  );
  const all = collect(results);
  stop.abort();
  gate?.open();
  expect(await all).toEqual([0]);
  expect(started).toEqual([0]);
});

test('a bug in the work comes out as it is', async () => {
  const results = fanOut([1], 1, () => Promise.reject(new TypeError('bug')));
  await expect(collect(results)).rejects.toThrow(new TypeError('bug'));
});

test('widens while the process only waits', async () => {
  const gate = gates(1)[0];
  let running = 0;
  const results = fanOut(
    Array.from({ length: 1000 }, (_, index) => index),
    'adaptive',
    async (item, emit: (item: number) => void) => {
      running += 1;
      await gate?.opened;
      emit(item);
    },
  );
  const all = collect(results);
  expect(running).toBe(64);
  await vi.waitUntil(() => running === 512, 10_000);
  gate?.open();
  expect(await all).toHaveLength(1000);
});

test('narrows while this process is the bottleneck', async () => {
  let running = 0;
  const seen: number[] = [];
  const results = fanOut(
    Array.from({ length: 600 }, (_, index) => index),
    'adaptive',
    async (item, emit: (item: number) => void) => {
      running += 1;
      seen.push(running);
      for (let turn = 0; turn < 4; turn += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        const until = performance.now() + 0.5;
        while (performance.now() < until);
      }
      running -= 1;
      emit(item);
    },
  );
  expect(await collect(results)).toHaveLength(600);
  expect(Math.max(...seen)).toBeLessThanOrEqual(64);
  expect(seen.at(-1)).toBeLessThan(50);
});

test('a long list is mapped after what waits: it was long in coming, too', async () => {
  const order: string[] = [];
  const waiting = new Promise<void>((resolve) => {
    setImmediate(() => {
      order.push('key');
      resolve();
    });
  });
  const items = Array.from({ length: 1_001 }, (_, index) => index);
  const results = await mapInTurns(items, (item) => {
    if (item === 0) order.push('first item');
    return item * 2;
  });
  await waiting;
  expect(order).toEqual(['key', 'first item']);
  expect(results.at(-1)).toBe(2_000);
});
