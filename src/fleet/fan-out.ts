/** How many at a time; `adaptive`: as many as machine and network bear. */
export type Width = number | 'adaptive';

/**
 * Runs `work` for every item, at most `width` at a time, and yields what it emits as soon as it does.
 * `work` must not throw: what can go wrong is a result, too. After an abort no further item is
 * started; those under way are still waited for and their results yielded.
 */
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
  // To measure how busy the process is takes 2 ms to prepare, and one device needs none of it.
  const asked = width === 'adaptive' && items.length < 2 ? 1 : width;
  const isAdaptive = asked === 'adaptive';
  const adaptive = isAdaptive ? new AdaptiveWidth() : { width: asked, look: () => false };

  const emit = (result: Result): void => {
    ready.push(result);
    wake();
  };
  const start = (): void => {
    while (running < adaptive.width && failure === undefined && signal?.aborted !== true) {
      const next = waiting.next();
      if (next.done === true) return;
      running += 1;
      work(next.value, emit)
        .catch((error: unknown) => {
          failure ??= { error };
        })
        .finally(() => {
          running -= 1;
          start();
          wake();
        });
    }
  };

  start();
  const looking =
    isAdaptive && items.length > adaptive.width
      ? setInterval(() => {
          if (adaptive.look(running)) start();
        }, LOOK_MS)
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
    clearInterval(looking);
  }
}

/** So many at first: enough to keep the machine busy, and the first answers are there soon. */
const FIRST = 128;
const LEAST = 64;
/** Each one is an open socket, and a process may have about 1,000 of them. */
const MOST = 512;

/** Shares of its time in which this process had something to do. */
const BUSY = 0.95;
const WAITING = 0.75;

/** So often it is worth looking, in milliseconds. */
const LOOK_MS = 100;

/**
 * How many are to be under way at once: more as long as this process only waits for them (a slow
 * network, slow devices), fewer when it is the one that they wait for (a handshake takes about 1 ms of
 * computing), because then each one more only makes all of them later.
 */
class AdaptiveWidth {
  #width = FIRST;
  #seen = performance.eventLoopUtilization();

  get width(): number {
    return this.#width;
  }

  /** To be called every `LOOK_MS`. True when more may be started than before. */
  look(running: number): boolean {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.#seen);
    this.#seen = now;
    const before = this.#width;
    if (utilization > BUSY) {
      this.#width = Math.max(LEAST, Math.floor(before * 0.8));
    } else if (utilization < WAITING && running >= before) {
      this.#width = Math.min(MOST, Math.floor(before * 1.5));
    }
    return this.#width > before;
  }
}
