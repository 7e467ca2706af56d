import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import type { buildConnector, Client, Dispatcher } from 'undici';

type Handler = Dispatcher.DispatchHandler;

/** Opens a connection and calls back with its socket after the certificate check. */
export type Connect = (callback: buildConnector.Callback) => void;

/** A client of undici's for one connection, loaded on demand: a read of a plain response does without it. */
async function undiciClient(origin: string, connect: Connect): Promise<Client> {
  if (process.versions.node.startsWith('20.')) {
    // Node 20 optimises the HTTP parser on a worker that delays process exit by 80-100 ms. Only here, because
    // with another flag V8 compiles anew what it loads from now on.
    setFlagsFromString('--wasm-tiering-budget=1000000000');
  }
  // The package index loads fetch, WebSocket and more: 48 ms per start. The version is pinned.
  const { default: UndiciClient } = await import('undici/lib/dispatcher/client.js');
  return new UndiciClient(origin, {
    pipelining: 1,
    keepAliveTimeoutThreshold: CLOSE_BEFORE_MS,
    connect: (_target, callback) => connect(callback),
  });
}

/** The read under way. */
interface Read {
  readonly request: Dispatcher.DispatchOptions;
  readonly handler: Handler;
  readonly controller: Dispatcher.DispatchController;
  isSent: boolean;
  head: ResponseHead | undefined;
  /** Bytes of the body that have not arrived yet. */
  missing: number;
}

/** How long an idle connection stays open if the device does not say; as undici does. */
const KEEP_ALIVE_MS = 4000;
const MAX_KEEP_ALIVE_MS = 600_000;
/** How long before the device closes an idle connection devsh does. A read that is too late is repeated. */
const CLOSE_BEFORE_MS = 500;

/**
 * One connection for reads, one at a time, or for one write; opened by the first request, and again if it was
 * closed. Reads responses of the plainest form itself, which takes a third less computing time; undici parses
 * all others, and has the connection from then on.
 */
export class HttpConnection {
  readonly #origin: string;
  readonly #connect: Connect;
  #socket: Socket | undefined;
  #read: Read | undefined;
  #idle: NodeJS.Timeout | undefined;
  #client: Promise<Client> | undefined;
  #isClientOpen = (): boolean => false;
  /** What undici reads from instead of the socket. */
  #rest: Duplex | undefined;
  /** Ends it like the socket; undefined until undici has the first bytes. */
  #endRest: (() => void) | undefined;

  constructor(origin: string, connect: Connect) {
    this.#origin = origin;
    this.#connect = connect;
  }

  get isOpen(): boolean {
    return this.#isClientOpen() || this.#socket?.destroyed === false;
  }

  /** Like undici's. */
  dispatch(request: Dispatcher.DispatchOptions, handler: Handler): void {
    const text = this.#client === undefined ? requestText(request, this.#origin) : undefined;
    if (text === undefined) {
      this.#dispatchByUndici(request, handler);
      return;
    }
    const controller = controllerWith((error) => this.#fail(read, error));
    const read = { request, handler, controller, isSent: false, head: undefined, missing: 0 };
    this.#read = read;
    clearTimeout(this.#idle);
    if (this.#socket?.destroyed !== false) {
      this.#open(read, text);
      return;
    }
    this.#socket.ref();
    // Within one turn of the event loop it shows whether the device has closed it meanwhile.
    setImmediate(() => {
      if (this.#socket?.destroyed === false) this.#send(read, text);
      else this.#open(read, text);
    });
  }

  /** Closes the connection; a read under way fails with this error. */
  async destroy(error: Error): Promise<void> {
    clearTimeout(this.#idle);
    const socket = this.#socket;
    if (this.#read) this.#fail(this.#read, error);
    if (this.#client) await this.#client.then((client) => client.destroy(error));
    if (socket?.closed === false) {
      socket.destroy();
      await new Promise((resolve) => socket.once('close', resolve));
    }
  }

  #open(read: Read, text: string): void {
    this.#connect((...[error, socket]) => {
      if (this.#read !== read) {
        socket?.destroy();
        return;
      }
      if (socket === null) {
        this.#fail(read, error);
        return;
      }
      this.#socket = socket;
      this.#listen(socket);
      this.#send(read, text);
    });
  }

  /** Apart from the first read: listeners in its scope would keep its response as long as the connection. */
  #listen(socket: Socket): void {
    socket.on('data', (chunk: Buffer) => {
      if (this.#rest !== undefined) this.#rest.push(chunk);
      else if (this.#read?.isSent === true) this.#take(socket, this.#read, chunk);
      // Without a request it can only be the response to another one.
      else socket.destroy();
    });
    const end = (cause?: unknown): void => {
      const current = this.#read;
      const error = cause instanceof Error ? cause : undefined;
      if (this.#rest === undefined) socket.destroy();
      else this.#endRest?.();
      if (current?.isSent === true) this.#fail(current, error ?? endedEarly(current));
    };
    socket.on('error', end);
    socket.on('end', end);
    socket.on('close', end);
  }

  #send(read: Read, text: string): void {
    if (this.#read !== read) return;
    read.isSent = true;
    read.handler.onRequestStart?.(read.controller, {});
    if (this.#isUnderWay(read)) this.#socket?.write(text, 'latin1');
  }

  #take(socket: Socket, read: Read, chunk: Buffer): void {
    const { handler, controller } = read;
    let data = chunk;
    if (read.head === undefined) {
      const head = plainHead(chunk);
      if (head === undefined) {
        this.#leaveToUndici(socket, read, chunk);
        return;
      }
      read.head = head;
      read.missing = head.bodyBytes;
      handler.onResponseStart?.(controller, head.status, head.headers);
      data = chunk.subarray(head.bytes);
    }
    if (data.length > 0 && this.#isUnderWay(read)) {
      read.missing -= data.length;
      handler.onResponseData?.(
        controller,
        read.missing < 0 ? data.subarray(0, read.missing) : data,
      );
    }
    if (read.missing > 0 || !this.#isUnderWay(read)) return;
    this.#read = undefined;
    const { keepMs } = read.head;
    if (keepMs <= 0 || read.missing < 0) socket.destroy();
    else {
      socket.unref();
      this.#idle = setTimeout(() => socket.destroy(), keepMs).unref();
    }
    handler.onResponseEnd?.(controller, {});
  }

  /** The handler may abort the read at each call. */
  #isUnderWay(read: Read): boolean {
    return this.#read === read;
  }

  #fail(read: Read, error: Error): void {
    if (this.#read !== read) return;
    this.#read = undefined;
    this.#socket?.destroy();
    read.handler.onResponseError?.(read.controller, error);
  }

  /** undici gets all bytes of the response; the request that it writes was sent before. */
  #leaveToUndici(socket: Socket, { request, handler, controller }: Read, received: Buffer): void {
    this.#read = undefined;
    let isAnswered = false;
    let isReplayed = false;
    socket.pause();
    const rest = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, done) => {
        if (isAnswered) socket.write(chunk, done);
        else {
          done();
          if (isReplayed) return;
          isReplayed = true;
          // undici expects no response while it still writes.
          setImmediate(() => {
            rest.push(received);
            this.#endRest = endRest;
            if (socket.readableEnded || socket.destroyed) setImmediate(endRest);
            else socket.resume();
          });
        }
      },
      destroy: (error, done) => {
        socket.destroy();
        done(error);
      },
    });
    // An end without an error may be the end of the response.
    const endRest = (): void => {
      if (socket.errored) rest.destroy(socket.errored);
      else rest.push(null);
    };
    // undici listens later.
    rest.on('error', () => undefined);
    this.#rest = rest;
    let aborted: Error | undefined;
    controller.abort = (error) => (aborted = error);
    const answered: Handler = {
      ...handler,
      onRequestStart: (started) => {
        controller.abort = (error) => started.abort(error);
        if (aborted) started.abort(aborted);
      },
      onResponseEnd: (ended, trailers) => {
        isAnswered = true;
        handler.onResponseEnd?.(ended, trailers);
      },
    };
    this.#dispatchByUndici(request, answered, rest);
  }

  /** @param first the open connection to start with */
  #dispatchByUndici(request: Dispatcher.DispatchOptions, handler: Handler, first?: Duplex): void {
    let open = first;
    this.#client ??= undiciClient(this.#origin, (callback) => {
      const socket = open;
      open = undefined;
      if (socket === undefined) this.#connect(callback);
      else {
        // undici needs no more of a socket than any stream has, but not at once.
        queueMicrotask(() => (callback as (error: null, stream: Duplex) => void)(null, socket));
      }
    });
    this.#client.then(
      (client) => {
        this.#isClientOpen = () => client.stats.connected;
        client.dispatch(request, handler);
      },
      (error: unknown) => {
        const controller = controllerWith(() => undefined);
        handler.onResponseError?.(
          controller,
          error instanceof Error ? error : new Error(String(error)),
        );
      },
    );
  }
}

function controllerWith(abort: (error: Error) => void): Dispatcher.DispatchController {
  const pass = (): void => undefined;
  return { aborted: false, paused: false, reason: null, abort, pause: pass, resume: pass };
}

/** The request as it is sent; undefined if undici must check or refuse it. */
function requestText(
  { method, path, headers, body }: Dispatcher.DispatchOptions,
  origin: string,
): string | undefined {
  if ((body && typeof body !== 'string') || !/^\/[!-~]*$/.test(path)) return undefined;
  const host = origin.slice('https://'.length);
  let text = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (value === undefined) continue;
    if (typeof value !== 'string' || !/^[ -~]*$/.test(value)) return undefined;
    text += `${name}: ${value}\r\n`;
  }
  const content = Buffer.from(body ?? '').toString('latin1');
  // A length of 0 only where content is expected (RFC 9110, 8.6).
  const isEmpty = content === '' && !['POST', 'PUT', 'PATCH'].includes(method);
  if (isEmpty) return `${text}\r\n`;
  return `${text}content-length: ${content.length}\r\n\r\n${content}`;
}

interface ResponseHead {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: number;
  readonly bodyBytes: number;
  /** How long the connection may be idle; 0: it ends after the response. */
  readonly keepMs: number;
}

/** Longer ones are left to undici, which refuses them from 16 KiB on. */
const MAX_HEAD_BYTES = 8192;

/**
 * Reads the head of a response if nothing about it needs judgement: HTTP/1.1, ASCII, well-formed, complete in
 * the first chunk, with a body of one stated length. Undefined otherwise.
 */
function plainHead(chunk: Buffer): ResponseHead | undefined {
  const end = chunk.indexOf('\r\n\r\n');
  if (end < 0 || end > MAX_HEAD_BYTES) return undefined;
  const [first = '', ...lines] = chunk.toString('latin1', 0, end).split('\r\n');
  const status = /^HTTP\/1\.1 ([2-5]\d\d) [\t -~]*$/.exec(first)?.[1];
  if (status === undefined || status === '204' || status === '304') return undefined;
  const headers = Object.create(null) as Record<string, string>;
  for (const line of lines) {
    const [, name, value = ''] = /^([\w!#$%&'*+.^`|~-]+):[\t ]*([\t -~]*)$/.exec(line) ?? [];
    if (name === undefined) return undefined;
    const key = name.toLowerCase();
    const before = headers[key];
    headers[key] = before === undefined ? value : `${before}, ${value}`;
  }
  const { connection = 'keep-alive', 'content-length': length = '', 'keep-alive': hint } = headers;
  if (!/^\d{1,15}$/.test(length) || !/^(?:keep-alive|close)$/i.test(connection)) return undefined;
  if ('transfer-encoding' in headers || 'upgrade' in headers) return undefined;
  const bytes = end + 4;
  const bodyBytes = Number(length);
  if (chunk.length > bytes + bodyBytes) return undefined;
  const isKept = connection.toLowerCase() !== 'close';
  return { status: Number(status), headers, bytes, bodyBytes, keepMs: isKept ? keepMsOf(hint) : 0 };
}

function keepMsOf(hint: string | undefined): number {
  const seconds = /timeout=(\d{1,9})/.exec(hint ?? '')?.[1];
  return seconds === undefined
    ? KEEP_ALIVE_MS
    : Math.min(Number(seconds) * 1000 - CLOSE_BEFORE_MS, MAX_KEEP_ALIVE_MS);
}

/** With the codes of undici for the same. */
function endedEarly({ head }: Read): Error {
  return head?.keepMs === 0
    ? Object.assign(new Error('Response body length does not match content-length header'), {
        code: 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
      })
    : Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });
}
