import type { buildConnector } from 'undici';
import Client from 'undici/lib/dispatcher/client.js';
import { CancelledError } from '../errors.ts';

// The package index loads fetch, WebSocket and more: 48 ms per start. The version is pinned.

/** Opens a connection and calls back with its socket after the certificate check. */
export type Connect = (callback: buildConnector.Callback) => void;

/** One connection for reads, one at a time, or for one write; opened by the first request, and again if it was closed. */
export type HttpConnection = Client;

/** How long before the device closes an idle connection devsh does. A read that is too late is repeated. */
const CLOSE_BEFORE_MS = 500;

/** Like undici's own, but created once instead of with a stack for each closed connection. */
export const CLOSED = Object.assign(new Error('destroyed'), {
  code: 'UND_ERR_DESTROYED',
});

export function httpConnection(origin: string, connect: Connect): HttpConnection {
  return new Client(origin, {
    allowH2: false,
    pipelining: 1,
    keepAliveTimeoutThreshold: CLOSE_BEFORE_MS,
    connect: (_target, callback) => connect(callback),
  });
}

/** The connections that the reads of a device share, one request each. A pool of undici takes 16 KB per device. */
export class ReadConnections {
  readonly #make: () => HttpConnection;
  #limit: number;
  #clients: HttpConnection[] = [];
  #idle: HttpConnection[] = [];
  #waiting: PromiseWithResolvers<HttpConnection>[] = [];

  constructor(make: () => HttpConnection, limit: number) {
    this.#make = make;
    this.#limit = limit;
  }

  /** Throws CancelledError if `signal` aborts while waiting, and the error passed to `end`. */
  async use<T>(
    work: (reader: HttpConnection) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const reader = this.#free() ?? (await this.#waitForIdle(signal));
    try {
      return await work(reader);
    } finally {
      this.#release(reader);
    }
  }

  get isAnyOpen(): boolean {
    return this.#clients.some((reader) => reader.stats.connected);
  }

  /** Limits the number of connections; busy ones above the limit close after their request. */
  limitTo(limit: number): void {
    this.#limit = limit;
    while (this.#clients.length > limit && this.#idle.length > 0) this.#drop(this.#idle.pop());
  }

  /** `work` opens its own connection while no reader is open, for a device that accepts one. Later reads wait. */
  async exclusively<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    this.limitTo(1);
    const reader = this.#free() ?? (await this.#waitForIdle(signal));
    const next = this.#make();
    this.#clients = this.#clients.map((one) => (one === reader ? next : one));
    try {
      await reader.destroy(CLOSED);
      return await work();
    } finally {
      this.#release(next);
    }
  }

  /** Closes all connections and fails their requests with this error; the next read opens new ones. */
  async end(error: Error): Promise<void> {
    const ended = this.#clients;
    [this.#clients, this.#idle] = [[], []];
    for (const waiting of this.#waiting.splice(0)) waiting.reject(error);
    await Promise.all(ended.map((reader) => reader.destroy(error)));
  }

  #drop(reader: HttpConnection | undefined): void {
    this.#clients = this.#clients.filter((one) => one !== reader);
    void reader?.destroy(CLOSED);
  }

  #free(): HttpConnection | undefined {
    const idle = this.#idle.pop();
    if (idle !== undefined || this.#clients.length >= this.#limit) return idle;
    const reader = this.#make();
    this.#clients.push(reader);
    return reader;
  }

  async #waitForIdle(signal: AbortSignal | undefined): Promise<HttpConnection> {
    const turn = Promise.withResolvers<HttpConnection>();
    const cancel = (): void => {
      this.#waiting = this.#waiting.filter((one) => one !== turn);
      turn.reject(new CancelledError());
    };
    this.#waiting.push(turn);
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted) cancel();
    try {
      return await turn.promise;
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  #release(reader: HttpConnection): void {
    // Ended meanwhile.
    if (!this.#clients.includes(reader)) return;
    if (this.#clients.length > this.#limit) {
      this.#drop(reader);
      return;
    }
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(reader);
    else next.resolve(reader);
  }
}
