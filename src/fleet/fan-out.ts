import { setImmediate as nextTurn } from 'node:timers/promises';
/** The number of tasks at a time. `adaptive`: as many as the machine and the network can handle. */
export type Width = number | 'adaptive';

/** Runs `work`, which never throws, for all items, `width` at a time. After an abort no further item starts. */
export async function* fanOut<Item, Result>(
  items: readonly Item[],
  width: Width,
  work: (item: Item, emit: (result: Result) => void) => Promise<void>,
  signal?: AbortSignal,
): AsyncGenerator<Result> {
  const waiting = items[Symbol.iterator]();
  const ready: Result[] = [];
  let failure: { error: unknown } | undefined;
  let running = 0;
  let wake: () => void = () => undefined;
  // It takes 2 ms to prepare the measurement of the load, which one device does not need.
  const limit = width === 'adaptive' && items.length < 2 ? 1 : width;
  const isAdaptive = limit === 'adaptive';
  const adaptive = isAdaptive ? new AdaptiveWidth() : { width: limit, adapt: () => false };

  const emit = (result: Result): void => {
    ready.push(result);
    wake();
  };
  const start = (): void => {
    while (running < adaptive.width && failure === undefined && signal?.aborted !== true) {
      const next = waiting.next();
      if (next.done === true) return;
      running += 1;
      work(next.value, emit).then(ended, (error: unknown) => {
        failure ??= { error };
        ended();
      });
    }
  };
  const ended = (): void => {
    running -= 1;
    start();
    wake();
  };

  start();
  const timer =
    isAdaptive && items.length > adaptive.width
      ? setInterval(() => {
          if (adaptive.adapt(running)) start();
        }, ADAPT_MS)
      : undefined;
  try {
    for (;;) {
      const results = ready.splice(0);
      yield* results;
      if (ready.length > 0) continue;
      if (running === 0) {
        if (failure !== undefined) throw failure.error;
        return;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (ready.length > 0 || running === 0) resolve();
      });
    }
  } finally {
    clearInterval(timer);
  }
}

/** This width keeps the machine busy, and does not delay the first responses. */
const INITIAL_WIDTH = 64;
/** Keys wait while many devices answer. A larger minimum doubles the median of that wait, and saves no time in all. */
const MIN_WIDTH = 32;
/** Each task is an open socket, and a process may have about 1,000. */
const MAX_WIDTH = 512;

/** The share of time in which this process works: above BUSY the width shrinks, below IDLE it grows. */
const BUSY = 0.95;
const IDLE = 0.75;

const ADAPT_MS = 100;

/** Grows while this process waits for devices, and shrinks while it is busy itself (TLS takes 1 ms of CPU). */
class AdaptiveWidth {
  #width = INITIAL_WIDTH;
  #seen = performance.eventLoopUtilization();

  get width(): number {
    return this.#width;
  }

  /** Call every `ADAPT_MS`. Returns true if more may be started. */
  adapt(running: number): boolean {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.#seen);
    this.#seen = now;
    const before = this.#width;
    if (utilization > BUSY) {
      this.#width = Math.max(MIN_WIDTH, Math.floor(before * 0.8));
    } else if (utilization < IDLE && running >= before) {
      this.#width = Math.min(MAX_WIDTH, Math.floor(before * 1.5));
    }
    return this.#width > before;
  }
}

/** The longest time for which keys and signals wait. */
const TURN_MS = 10;

/** Handles the keys and signals that have arrived. One turn is not enough, because it may belong to a response. */
export async function keysFirst(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

/** Before a list of this length, other work has probably taken long, too, so keys come first. */
const MANY = 1_000;

/** Maps a long list, and handles the keys and signals that arrive meanwhile. */
export async function mapInTurns<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
): Promise<Result[]> {
  if (items.length > MANY) await keysFirst();
  const results: Result[] = [];
  let turn = performance.now();
  for (const item of items) {
    results.push(map(item));
    if (performance.now() - turn < TURN_MS) continue;
    await nextTurn();
    turn = performance.now();
  }
  return results;
}
