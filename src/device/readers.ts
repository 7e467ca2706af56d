import type Client from 'undici/lib/dispatcher/client.js';
import { CancelledError } from '../errors.ts';

interface Waiting {
  start(reader: Client): void;
  giveUp(error: Error): void;
}

/**
 * The connections that the reads of one device share, one request at a time each; who comes when all are
 * busy waits for the first that is free. A pool of undici's does the same with 16 KB for each device.
 */
export class Readers {
  readonly #make: () => Client;
  #most: number;
  #made: Client[] = [];
  #free: Client[] = [];
  #waiting: Waiting[] = [];

  constructor(make: () => Client, most: number) {
    this.#make = make;
    this.#most = most;
  }

  /** Throws CancelledError when `signal` comes before the turn, and what `end` was told. */
  async use<T>(work: (reader: Client) => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const reader = await this.#take(signal);
    try {
      return await work(reader);
    } finally {
      this.#giveBack(reader);
    }
  }

  /** Whether a connection is open, at work or not. */
  get isAnyOpen(): boolean {
    return this.#made.some((reader) => reader.stats.connected);
  }

  /** So many connections from now on; what is under way on one too many still ends. */
  limitTo(most: number): void {
    this.#most = most;
    while (this.#made.length > most && this.#free.length > 0) this.#drop(this.#free.pop());
  }

  /**
   * For a device that takes one connection at a time: lets `work` make its own while none of these is
   * open. What is under way is waited for, what comes meanwhile waits.
   */
  async alone<T>(
    work: () => Promise<T>,
    closed: Error,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    this.limitTo(1);
    const reader = await this.#take(signal);
    const next = this.#make();
    this.#made = this.#made.map((one) => (one === reader ? next : one));
    try {
      await reader.destroy(closed);
      return await work();
    } finally {
      this.#giveBack(next);
    }
  }

  /** Ends all connections, and the requests on them, with this error; the next read makes new ones. */
  async end(error: Error): Promise<void> {
    const ended = this.#made;
    [this.#made, this.#free] = [[], []];
    for (const waiting of this.#waiting.splice(0)) waiting.giveUp(error);
    await Promise.all(ended.map((reader) => reader.destroy(error)));
  }

  async #take(signal: AbortSignal | undefined): Promise<Client> {
    return this.#free.pop() ?? this.#another() ?? (await this.#turn(signal));
  }

  #drop(reader: Client | undefined): void {
    this.#made = this.#made.filter((one) => one !== reader);
    void reader?.destroy();
  }

  #another(): Client | undefined {
    if (this.#made.length >= this.#most) return undefined;
    const reader = this.#make();
    this.#made.push(reader);
    return reader;
  }

  async #turn(signal: AbortSignal | undefined): Promise<Client> {
    let cancel = (): void => undefined;
    const turn = new Promise<Client>((start, giveUp) => {
      const waiting = { start, giveUp };
      cancel = () => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
        giveUp(new CancelledError());
      };
      this.#waiting.push(waiting);
    });
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted) cancel();
    try {
      return await turn;
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  #giveBack(reader: Client): void {
    // One that was ended meanwhile is of no more use.
    if (!this.#made.includes(reader)) return;
    if (this.#made.length > this.#most) {
      this.#drop(reader);
      return;
    }
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(reader);
    else next.start(reader);
  }
}
