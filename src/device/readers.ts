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
  readonly #most: number;
  #made: Client[] = [];
  #free: Client[] = [];
  #waiting: Waiting[] = [];

  constructor(make: () => Client, most: number) {
    this.#make = make;
    this.#most = most;
  }

  /** Throws CancelledError when `signal` comes before the turn, and what `end` was told. */
  async use<T>(work: (reader: Client) => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const reader = this.#free.pop() ?? this.#another() ?? (await this.#turn(signal));
    try {
      return await work(reader);
    } finally {
      this.#giveBack(reader);
    }
  }

  /** Ends all connections, and the requests on them, with this error; the next read makes new ones. */
  async end(error: Error): Promise<void> {
    const ended = this.#made;
    [this.#made, this.#free] = [[], []];
    for (const waiting of this.#waiting.splice(0)) waiting.giveUp(error);
    await Promise.all(ended.map((reader) => reader.destroy(error)));
  }

  #another(): Client | undefined {
    if (this.#made.length >= this.#most) return undefined;
    const reader = this.#make();
    this.#made.push(reader);
    return reader;
  }

  #turn(signal: AbortSignal | undefined): Promise<Client> {
    return new Promise((resolve, reject) => {
      const cancel = (): void => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
        reject(new CancelledError());
      };
      const waiting: Waiting = {
        start(reader) {
          signal?.removeEventListener('abort', cancel);
          resolve(reader);
        },
        giveUp(error) {
          signal?.removeEventListener('abort', cancel);
          reject(error);
        },
      };
      signal?.addEventListener('abort', cancel, { once: true });
      this.#waiting.push(waiting);
      if (signal?.aborted) cancel();
    });
  }

  #giveBack(reader: Client): void {
    // One that was ended meanwhile is of no more use.
    if (!this.#made.includes(reader)) return;
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(reader);
    else next.start(reader);
  }
}
