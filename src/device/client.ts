import { JSON_TYPE } from './encode.ts';
import { setTimeout as wait } from 'node:timers/promises';
import { CancelledError } from '../errors.ts';
import { originOf } from './address.ts';
import type { Credential } from './credential.ts';
import { UntrustedError } from './errors.ts';
import { exchange, type HttpRequest, isRead, type Response } from './exchange.ts';
import { awakeMs, TransportFault } from './fault.ts';
import type { ConfiguredAuth } from './profile-schema.ts';
import { UNREADABLE } from './record.ts';
import {
  CLOSED,
  type Connect,
  type HttpConnection,
  httpConnection,
  ReadConnections,
} from './http-connection.ts';
import { firstRead, isTemporary, isUnsent, nextRead, type Outcome } from './retry-policy.ts';
import { maskedPath, redact } from './sensitive-fields.ts';
import { SessionLogin } from './session-login.ts';
import { type ConnectOptions, connectTls, type Destroyable, viaText } from './tls.ts';
import { exchangeError } from './translate.ts';
import { textOf } from '../output/sentences.ts';

export interface ClientOptions extends Pick<
  ConnectOptions,
  'device' | 'address' | 'trust' | 'route'
> {
  /** Undefined: no Authorization header. */
  readonly credential: Credential | undefined;
  /** Resolves when the credential may be sent on an open connection, and rejects if it may not. */
  readonly beforeLogin?: (() => Promise<void>) | undefined;
  /** How to log in, if not by the Authorization header of each request. */
  readonly auth?: ConfiguredAuth | undefined;
  /** For connecting, TLS included; 5,000 when absent, never more than `timeoutMs`. */
  readonly connectTimeoutMs?: number;
  /** Headers of each request, instead of those that devsh sends; Content-Type of JSON bodies only. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** On the wire and after decompression; 32 MiB when absent. */
  readonly maxBodyBytes?: number;
  /** For whom it works now, read at each request: a device stays open between command lines. */
  readonly caller?: () => Caller | undefined;
}

export interface Caller {
  /** Receives one line per request and response (`-v`); never a secret. */
  readonly trace?: ((line: string) => void) | undefined;
  readonly notice?: ((text: string) => void) | undefined;
  readonly progress?: ((text: string) => void) | undefined;
  /** Receives oddities of a response; the same one again each time. */
  readonly warn?: ((text: string) => void) | undefined;
  /** For one whole response; 10,000 when absent. */
  readonly timeoutMs?: number | undefined;
}

/** How far the clock of a device is ahead of the clock here, in ms: at least and at most. */
export type ClockOffset = readonly [least: number, most: number];

/** The time limit of a read with all its repetitions and waits, as a multiple of that of one response. */
const READ_TIME_FACTOR = 10;
const READ_CONNECTIONS = 2;
/** How long a device may take to notice a closed connection. */
const CLOSE_DELAYS_MS = [50, 300];

/** HTTP to one device: reads share two connections and are repeated; a write has its own and is sent once. */
export class DeviceClient {
  readonly #options: ClientOptions;
  readonly #origin: string;
  /** Connections being opened for reads, which end with the client; a write ends with its own signal. */
  readonly #opening = new Set<Destroyable>();
  #isClosed = false;
  /** The device accepts one connection at a time: found out when it refuses a second one. */
  #takesOne = false;
  /** The latency of the last response; undefined before the first one. */
  latencyMs: number | undefined;
  #dated: { readonly date: string; readonly from: number; readonly to: number } | undefined;
  readonly #readers: ReadConnections;
  #stoppedBy: UntrustedError | undefined;
  #session: SessionLogin | undefined;
  readonly sessionSecrets: string[] = [];

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#origin = originOf(options.address);
    this.#readers = new ReadConnections(() => this.#newReader(), READ_CONNECTIONS);
  }

  /** By the `Date` header of the last response: whole seconds. Undefined if a cache may have sent it. */
  get clockOffset(): ClockOffset | undefined {
    if (this.#dated === undefined) return undefined;
    const { date, from, to } = this.#dated;
    const time = / GMT$/.test(date) ? Date.parse(date) : NaN;
    return Number.isNaN(time) || from > to ? undefined : [time - to, time + 1000 - from];
  }

  get caller(): Caller {
    return this.#options.caller?.() ?? {};
  }

  get timeoutMs(): number {
    return this.caller.timeoutMs ?? 10_000;
  }

  /** One response of any status. Throws DeviceError if there is none, or CancelledError. */
  async request(request: HttpRequest, signal?: AbortSignal): Promise<Response> {
    const { auth, credential, device, route } = this.#options;
    try {
      const isApart = credential?.kind !== 'basic' || request.login !== undefined;
      if (auth?.login === undefined || isApart) {
        return await this.#dispatch(request, signal);
      }
      this.#session ??= new SessionLogin({
        ...{ auth, login: auth.login, credential, device, origin: this.#origin },
        send: (sent, stop) => this.#dispatch(sent, stop),
        // A kept-alive connection may die just as it is reused: only a logout is repeated then.
        sendOnce: (sent, stop) =>
          this.#readers.isAnyOpen && !this.#isClosed
            ? this.#write(sent, stop)
            : this.#read(sent, stop, true),
        onSecret: (secret) => this.sessionSecrets.push(secret),
      });
      return await this.#session.request(request, signal);
    } catch (error) {
      const wasRead = this.latencyMs !== undefined;
      throw exchangeError({ device, request, credential, via: viaText(route), wasRead }, error);
    }
  }

  #dispatch(request: HttpRequest, signal: AbortSignal | undefined): Promise<Response> {
    return isRead(request) ? this.#read(request, signal) : this.#write(request, signal);
  }

  /** Ends reads under way; a write under way keeps its connection until its response. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const connection of this.#opening) connection.destroy(new CancelledError());
    await this.#session?.close();
    await this.#readers.end(CLOSED);
  }

  /** Repeats the read until the policy accepts the outcome, or the time for all of it is over. */
  async #read(
    request: HttpRequest,
    signal: AbortSignal | undefined,
    isOnce = false,
  ): Promise<Response> {
    const { device } = this.#options;
    let state = firstRead(request.path);
    const endsAt = awakeMs() + READ_TIME_FACTOR * this.timeoutMs;
    for (;;) {
      if (this.#isClosed && !isOnce) throw new CancelledError();
      const { path, redirects } = state;
      const outcome: Outcome = await this.#readers
        .use((reader) => this.#send(reader, { ...request, path }, signal, endsAt), signal)
        .then(
          (response) => ({ response }),
          (fault: unknown) => ({ fault }),
        );
      const next = nextRead(state, outcome, {
        origin: this.#origin,
        path: request.path,
        redirect: request.redirect,
        isOnce: isOnce && !this.#isClosed,
        isClosed: this.#isClosed && !isOnce,
      });
      const { waitMs = 0 } = next ?? {};
      if (next === undefined || waitMs >= endsAt - awakeMs()) {
        if ('fault' in outcome) throw outcome.fault;
        return redirects === 0 ? outcome.response : { ...outcome.response, movedTo: path };
      }
      // Another read may hold the only connection that the device accepts.
      if ('fault' in outcome && isUnsent(outcome.fault) && this.#readers.isAnyOpen) {
        this.#readers.limitTo(1);
      }
      if (next.isRequested && waitMs >= 1000) {
        const seconds = Math.ceil(waitMs / 1000);
        this.caller.notice?.(textOf({ code: 'long-wait', device: device.name, seconds }));
      }
      if (waitMs > 0) await wait(waitMs, undefined, { signal });
      state = next.state;
    }
  }

  /** If the device refused the connection, so that nothing was sent, tries again with all others closed. */
  async #write(request: HttpRequest, signal: AbortSignal | undefined): Promise<Response> {
    if (!this.#takesOne) {
      try {
        return await this.#writeOnce(request, signal);
      } catch (error) {
        if (!isUnsent(error) || !this.#readers.isAnyOpen) throw error;
      }
    }
    const writeAlone = async (): Promise<Response> => {
      for (const delayMs of CLOSE_DELAYS_MS) {
        await wait(delayMs, undefined, { signal });
        try {
          return await this.#writeOnce(request, signal);
        } catch (error) {
          if (!isUnsent(error) || !isTemporary(error)) throw error;
        }
      }
      return this.#writeOnce(request, signal);
    };
    try {
      const response = await this.#readers.exclusively(writeAlone, signal);
      this.#takesOne = true;
      return response;
    } finally {
      if (!this.#takesOne) this.#readers.limitTo(READ_CONNECTIONS);
    }
  }

  async #writeOnce(request: HttpRequest, signal: AbortSignal | undefined): Promise<Response> {
    // A kept-alive connection may die just as it is reused: a write never shares one.
    const writer = this.#newWriter(signal);
    try {
      return await this.#send(writer, request, signal);
    } finally {
      await writer.destroy(CLOSED);
    }
  }

  async #send(
    sender: HttpConnection,
    request: HttpRequest,
    signal: AbortSignal | undefined,
    endsAt = awakeMs() + this.timeoutMs,
  ): Promise<Response> {
    if (this.#stoppedBy !== undefined) throw this.#stoppedBy;
    const { auth, credential, route } = this.#options;
    const { trace, warn } = this.caller;
    const account = String(credential ?? textOf({ code: 'account', is: 'none' }));
    const how = [account, viaText(route) ?? []].flat().join(', ');
    trace?.(`> ${request.method} ${this.#origin}${this.#shownPath(request)} (${how})`);
    const { accept, 'content-type': jsonType, ...stated } = lowerCased(this.#options.headers);
    const isJson = request.body?.type === JSON_TYPE;
    const headers = {
      ...stated,
      accept: accept ?? 'application/json, */*;q=0.1',
      'accept-language': 'en',
      'accept-encoding': 'identity',
      'user-agent': 'devsh',
      [credential?.headerName(auth) ?? 'authorization']:
        request.login === undefined ? credential?.header(auth) : undefined,
      ...request.login,
      'content-type': (isJson ? jsonType : undefined) ?? request.body?.type,
      'if-match': request.ifMatch,
      'if-none-match': request.ifAbsent === true ? '*' : undefined,
    };
    const from = Date.now();
    try {
      const { beforeLogin, maxBodyBytes = 32 * 1024 * 1024 } = this.#options;
      // A new connection asks when it is open.
      if (sender.stats.connected) await beforeLogin?.();
      const wholeMs = Math.max(0, endsAt - awakeMs());
      const limits = { timeoutMs: Math.min(this.timeoutMs, wholeMs), wholeMs, maxBodyBytes };
      const response = await exchange(sender, { request, headers, limits, signal });
      this.latencyMs = response.latencyMs;
      const { date, age } = response.headers;
      this.#dated = date && !age ? { date, from, to: Date.now() } : undefined;
      const { status, body, elapsedMs } = response;
      trace?.(`< ${status} ${Buffer.byteLength(body)} bytes ${Math.round(elapsedMs)} ms`);
      if (response.isDamaged === true) {
        const what = `${request.method} ${this.#shownPath(request)}`;
        const damage = textOf({ code: 'damaged-text', what, mark: UNREADABLE });
        warn?.(`${this.#options.device.name}: ${damage}`);
      }
      return response;
    } catch (error) {
      const fault = error instanceof TransportFault ? ` (${error.kind})` : '';
      trace?.(textOf({ code: 'trace', fault }));
      if (error instanceof UntrustedError) this.#distrust(error);
      throw error;
    }
  }

  /** Closes every connection. After a changed certificate nothing more is sent, even if the right one comes back. */
  #distrust(error: UntrustedError): void {
    if (error.reason === 'changed') this.#stoppedBy = error;
    void this.#readers.end(error);
  }

  /** A device may put the secret of a session into the path of its logout. */
  #shownPath({ path }: HttpRequest): string {
    return redact(maskedPath(path), this.sessionSecrets);
  }

  #newReader(): HttpConnection {
    return httpConnection(this.#origin, this.#connector({ opening: this.#opening }));
  }

  /** For one write: it opens one connection at most, so that undici cannot send the write again. */
  #newWriter(signal: AbortSignal | undefined): HttpConnection {
    const connect = this.#connector({ signal });
    let isUsed = false;
    return httpConnection(this.#origin, (callback) => {
      if (isUsed) callback(CLOSED, null);
      else connect(callback);
      isUsed = true;
    });
  }

  #connector(end: Pick<ConnectOptions, 'signal' | 'opening'>): Connect {
    const { device, address, trust, route, beforeLogin, connectTimeoutMs = 5_000 } = this.#options;
    return (callback) => {
      // The limit may change between command lines, and a connection outlives a line.
      const limitMs = Math.min(connectTimeoutMs, this.timeoutMs);
      const options = { device, address, trust, route, connectTimeoutMs: limitMs, ...end };
      connectTls({ ...options, beforeUse: beforeLogin }, callback);
    };
  }
}

function lowerCased(headers: ClientOptions['headers'] = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
