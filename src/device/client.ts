// The package's index loads fetch, WebSocket and more: 48 ms of each call. Its version is pinned.
import Client from 'undici/lib/dispatcher/client.js';
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import type { Dispatcher } from 'undici';
import { CancelledError } from '../errors.ts';
import { type Address, originOf } from './address.ts';
import type { Credential } from './credential.ts';
import { UntrustedError } from './errors.ts';
import { exchange, type HttpRequest, isRead, type Response } from './exchange.ts';
import { TransportFault } from './fault.ts';
import type { Connections } from './profile.ts';
import type { DeviceRef } from './record.ts';
import { firstRead, isPassing, isUnsent, nextRead, type Outcome } from './retry-policy.ts';
import { isSecretField } from './sensitive-fields.ts';
import type { Route } from './route/route.ts';
import { type ConnectOptions, connectTls, type Ending, type Trust, viaText } from './tls.ts';
import { exchangeError } from './translate.ts';

interface Waiting {
  start(reader: Client): void;
  giveUp(error: Error): void;
}

/**
 * The connections that the reads of one device share, one request at a time each; who comes when all are
 * busy waits for the first that is free. A pool of undici's does the same with 16 KB for each device.
 */
class Readers {
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

export { Credential } from './credential.ts';
export type { Response, HttpRequest } from './exchange.ts';

export interface ClientOptions {
  readonly device: DeviceRef;
  readonly address: Address;
  readonly trust: Trust;
  /** How the device is reached; directly when absent. */
  readonly route?: Route | undefined;
  /** Undefined: requests go out without an Authorization header. */
  readonly credential: Credential | undefined;
  /** For the whole way to the device, TLS included; 5,000 when absent, never more than `timeoutMs`. */
  readonly connectTimeoutMs?: number;
  /** For one whole answer, asked for at each request; 10,000 when absent. */
  readonly timeoutMs?: (() => number | undefined) | undefined;
  /** `one`: the device takes one at a time; absent: that is found when it refuses a second one. */
  readonly connections?: Connections | undefined;
  /** On the wire and after decompression; 32 MiB when absent. */
  readonly maxBodyBytes?: number;
  /** Receives one line for each request and one for each answer, made when it is read; never a secret. */
  readonly trace?: (line: () => string) => void;
  /** Receives what keeps the user waiting, in words. */
  readonly notice?: (text: string) => void;
  /** Receives what has come of an answer that takes long, in words; again and again. */
  readonly arriving?: (text: string) => void;
  /** Receives what is odd about an answer, in words; again each time. */
  readonly warn?: (text: string) => void;
}

/** As undici's own; made once, and not, with its stack, for each connection that is closed. */
const CLOSED = Object.assign(new Error('The client is destroyed'), { code: 'UND_ERR_DESTROYED' });

const READ_CONNECTIONS = 2;
/** How long it may take a device to see that a connection is gone. */
const NOTICE_DELAYS_MS = [50, 300];

if (process.versions.node.startsWith('20.')) {
  // Node 20 optimises the HTTP parser on a worker that process end waits for: 80-100 ms per call.
  setFlagsFromString('--wasm-tiering-budget=1000000000');
}

/**
 * HTTP to one device. Reads share two connections and are repeated after connection faults; each write
 * has a connection of its own and is sent once, whatever the answer.
 */
export class DeviceClient {
  readonly #options: ClientOptions;
  readonly #origin: string;
  /** For reads, which end with the client; a write ends with its own signal. */
  readonly #making = new Set<Ending>();
  #isClosed = false;
  #takesOne: boolean;
  readonly #readers: Readers;
  #stoppedBy: UntrustedError | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#origin = originOf(options.address);
    this.#takesOne = options.connections === 'one';
    this.#readers = new Readers(
      () => {
        const connect = this.#connector({ making: this.#making });
        return new Client(this.#origin, { pipelining: 1, connect });
      },
      this.#takesOne ? 1 : READ_CONNECTIONS,
    );
  }

  /** Whether the device takes one connection at a time, as it was said or seen. */
  get takesOneConnection(): boolean {
    return this.#takesOne;
  }

  /** `https://host[:port]`. */
  get origin(): string {
    return this.#origin;
  }

  /** How long one whole answer may take. */
  get timeoutMs(): number {
    return this.#options.timeoutMs?.() ?? 10_000;
  }

  /** One answer, whatever its status. Throws DeviceError when there is none, or CancelledError. */
  async request(request: HttpRequest, signal?: AbortSignal): Promise<Response> {
    try {
      return await (isRead(request) ? this.#read(request, signal) : this.#write(request, signal));
    } catch (error) {
      const { device, credential, route } = this.#options;
      throw exchangeError({ device, request, credential, via: viaText(route) }, error);
    }
  }

  /** Ends reads under way; a write under way keeps its connection until it is answered. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const connection of this.#making) connection.destroy(new CancelledError());
    await this.#readers.end(CLOSED);
  }

  /** Attempt after attempt, until the policy takes what came of one. */
  async #read(request: HttpRequest, signal: AbortSignal | undefined): Promise<Response> {
    const { device, notice } = this.#options;
    let state = firstRead(request.path);
    for (;;) {
      if (this.#isClosed) throw new CancelledError();
      const { path, redirects } = state;
      const outcome: Outcome = await this.#readers
        .use((reader) => this.#send(reader, { ...request, path }, signal), signal)
        .then(
          (response) => ({ response }),
          (fault: unknown) => ({ fault }),
        );
      const next = nextRead(state, outcome, {
        origin: this.#origin,
        path: request.path,
        redirect: request.redirect,
        timeoutMs: this.timeoutMs,
        isClosed: this.#isClosed,
      });
      if (next === undefined) {
        if ('fault' in outcome) throw outcome.fault;
        return redirects === 0 ? outcome.response : { ...outcome.response, movedTo: path };
      }
      // Another read may be what takes its place.
      if ('fault' in outcome && isUnsent(outcome.fault) && this.#readers.isAnyOpen) {
        this.#readers.limitTo(1);
      }
      if (next.waitMs !== undefined) {
        const isNoticed = next.isAskedFor && next.waitMs >= 1000;
        if (isNoticed) notice?.(`${device.name} asks to wait ${Math.ceil(next.waitMs / 1000)} s`);
        await wait(next.waitMs, undefined, { signal });
      }
      state = next.state;
    }
  }

  /**
   * A write that has certainly not left, as the device did not take its connection, is tried again
   * without any other connection: it may be one that takes one at a time.
   */
  async #write(request: HttpRequest, signal: AbortSignal | undefined): Promise<Response> {
    if (!this.#takesOne) {
      try {
        return await this.#writeOnce(request, signal);
      } catch (error) {
        if (!isUnsent(error) || !this.#readers.isAnyOpen) throw error;
      }
    }
    const persist = async (): Promise<Response> => {
      for (const delayMs of NOTICE_DELAYS_MS) {
        await wait(delayMs, undefined, { signal });
        try {
          return await this.#writeOnce(request, signal);
        } catch (error) {
          if (!isUnsent(error) || !isPassing(error)) throw error;
        }
      }
      return this.#writeOnce(request, signal);
    };
    try {
      const response = await this.#readers.alone(persist, CLOSED, signal);
      this.#takesOne = true;
      return response;
    } finally {
      if (!this.#takesOne) this.#readers.limitTo(READ_CONNECTIONS);
    }
  }

  async #writeOnce(request: HttpRequest, signal: AbortSignal | undefined): Promise<Response> {
    // A kept-alive connection may die exactly when it is used again: a write never shares one.
    const client = new Client(this.#origin, {
      pipelining: 1,
      connect: this.#connector({ signal }),
    });
    try {
      return await this.#send(client, request, signal);
    } finally {
      await client.destroy(CLOSED);
    }
  }

  async #send(
    dispatcher: Dispatcher,
    request: HttpRequest,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    if (this.#stoppedBy !== undefined) throw this.#stoppedBy;
    const { credential, trace, route } = this.#options;
    trace?.(() => {
      const how = [who(credential), viaText(route) ?? []].flat().join(', ');
      return `> ${request.method} ${this.#origin}${maskedPath(request.path)} (${how})`;
    });
    const headers = {
      accept: request.accept ?? 'application/json, */*;q=0.1',
      'accept-language': 'en',
      'accept-encoding': 'identity',
      'user-agent': 'devsh',
      authorization: credential?.header(),
      'content-type': request.body?.type,
      'if-match': request.ifMatch,
    };
    try {
      const { maxBodyBytes = 32 * 1024 * 1024 } = this.#options;
      const limits = { timeoutMs: this.timeoutMs, maxBodyBytes };
      const response = await exchange(dispatcher, request, headers, limits, signal);
      trace?.(() => {
        const bytes = Buffer.byteLength(response.body);
        return `< ${response.status} ${bytes} bytes ${Math.round(response.elapsedMs)} ms`;
      });
      return response;
    } catch (error) {
      trace?.(() => `< no answer${error instanceof TransportFault ? ` (${error.kind})` : ''}`);
      if (error instanceof UntrustedError) this.#distrust(error);
      throw error;
    }
  }

  /**
   * No connection that is open is used again. A certificate that changed ends the session with the
   * device: nothing more is sent, not even when the right one comes back.
   */
  #distrust(error: UntrustedError): void {
    if (error.reason === 'changed') this.#stoppedBy = error;
    void this.#readers.end(error);
  }

  #connector(end: Pick<ConnectOptions, 'signal' | 'making'>): ReturnType<typeof connectTls> {
    const { device, address, trust, route, connectTimeoutMs = 5_000 } = this.#options;
    return (target, callback) => {
      // The limit may be another one for each line, and a connection outlives a line.
      const limitMs = Math.min(connectTimeoutMs, this.timeoutMs);
      const options = { device, address, trust, route, connectTimeoutMs: limitMs, ...end };
      connectTls(options)(target, callback);
    };
  }
}

function who(credential: Credential | undefined): string {
  return credential === undefined ? 'without a credential' : String(credential);
}

function maskedPath(path: string): string {
  return path.replace(/([?&])([^=&]*)=([^&]*)/g, (pair, mark: string, name: string) =>
    isSecretField(decodeSafely(name)) ? `${mark}${name}=***` : pair,
  );
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
