/** News within this time come onto the screen together. */
const LEAST_MS = 16;
/** Later nobody believes that anything goes on. */
const MOST_MS = 2000;
/** What takes long is done so many times less often than it could be: the rest of the time is for others. */
const PAUSES = 9;

/**
 * Does the same work once for many news, a moment after the first of them. The longer it takes, with the
 * drawing that it causes, the longer the next ones are gathered: a thousand devices that answer one by one
 * are no thousand times the work of one.
 */
export class Gathering {
  readonly #work: () => void;
  #timer: NodeJS.Timeout | undefined;
  #tookMs = 0;
  #endedAt = -Infinity;
  #pauseMs = LEAST_MS;

  constructor(work: () => void) {
    this.#work = work;
  }

  /** There is something new. */
  soon(): void {
    const restMs = this.#endedAt + this.#pauseMs - performance.now();
    this.#timer ??= setTimeout(
      () => {
        this.now();
      },
      Math.max(LEAST_MS, restMs),
    );
  }

  now(): void {
    this.stop();
    const startedAt = performance.now();
    this.#work();
    // The screen is drawn in a microtask that the work has queued.
    queueMicrotask(() => {
      this.#endedAt = performance.now();
      const tookMs = this.#endedAt - startedAt;
      // Once is no rule: the first frame takes longer than others.
      const usualMs = Math.min(tookMs, this.#tookMs);
      this.#tookMs = tookMs;
      this.#pauseMs = Math.min(MOST_MS, PAUSES * usualMs);
    });
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
