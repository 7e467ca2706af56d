/** So many at first: enough to keep the machine busy, and the first answers are there soon. */
const FIRST = 128;
const LEAST = 64;
/** Each one is an open socket, and a process may have about 1,000 of them. */
const MOST = 512;

/** Shares of its time in which this process had something to do. */
const BUSY = 0.95;
const WAITING = 0.75;

/** So often it is worth looking, in milliseconds. */
export const LOOK_MS = 100;

/**
 * How many are to be under way at once: more as long as this process only waits for them (a slow
 * network, slow devices), fewer when it is the one that they wait for (a handshake takes about 1 ms of
 * computing), because then each one more only makes all of them later.
 */
export class AdaptiveWidth {
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
