import { pluralOf } from '../text/one-line.ts';
import { isUtf8 } from 'node:buffer';
import { promisify, TextDecoder } from 'node:util';
import type { ZlibOptions } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { CancelledError, attempt } from '../errors.ts';
import { awakeMs, Deadline, faultOf, TransportFault } from './fault.ts';
import type { HttpConnection } from './http-connection.ts';
import { jsonIn } from './json.ts';
import { isValueObject, UNREADABLE } from './record.ts';
import type { Note } from '../output/sentences.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  /** Path and query from the root of the device, percent-encoded. */
  readonly path: string;
  readonly body?: { readonly type: string; readonly text: string } | undefined;
  /** Sent as If-Match: only if the record still has this entity tag. */
  readonly ifMatch?: string | undefined;
  /** Sent as `If-None-Match: *`: only if there is no such record. */
  readonly ifAbsent?: boolean | undefined;
  /** Headers instead of that of the credential. */
  readonly login?: Readonly<Record<string, string>>;
  /** A POST that only reads, as the profile states. */
  readonly isQuery?: boolean | undefined;
  readonly redirect?: 'stay' | undefined;
  /** Receives now and then how many bytes of a slow response have arrived. */
  readonly progress?: (bytes: number) => void;
}

/** Reads may be sent again; writes never. */
export function isRead({ method, isQuery }: Pick<HttpRequest, 'method' | 'isQuery'>): boolean {
  return method === 'GET' || method === 'OPTIONS' || isQuery === true;
}

export interface Response {
  readonly status: number;
  /** Names in lower case; values of repeated headers joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Bytes of the body are no text: `UNREADABLE` stands for them. */
  readonly isDamaged?: true;
  /** Until its end, with the wait for a connection. */
  readonly elapsedMs: number;
  /** The device's own time: from the request on an open connection to the first byte of the response. */
  readonly latencyMs: number;
  readonly movedTo?: string;
}

interface ExchangeLimits {
  /** From the first byte of the request to the last of the response; for a read that arrives, the limit of silence. */
  readonly timeoutMs: number;
  /** The limit of a read that keeps arriving. */
  readonly wholeMs: number;
  /** On the wire and after decompression. */
  readonly maxBodyBytes: number;
}

const FIRST_MS = 1000;
const EVERY_MS = 500;

/** Fewer bytes within the limit count as silence. */
const MIN_BYTES = 1024;

interface RawResponse extends Pick<Response, 'status' | 'headers' | 'latencyMs'> {
  readonly bytes: Buffer;
}

interface Sending {
  readonly request: HttpRequest;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly limits: ExchangeLimits;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request and reads the whole response. Throws TransportFault, CancelledError or an error of the connector. */
export async function exchange(sender: HttpConnection, sending: Sending): Promise<Response> {
  const startedAt = performance.now();
  const raw = await receive(sender, sending);
  const isPlain = (raw.headers['content-encoding'] ?? '') === '';
  const bytes = isPlain ? raw.bytes : await inflate(raw, sending.limits.maxBodyBytes);
  const body = bodyText(bytes, raw.headers['content-type']);
  if (raw.status < 400 && !isFramed(raw) && !isWholeJson(body)) {
    const detail = { code: 'transfer', is: 'length' } as const;
    throw new TransportFault('cut off', detail, { sent: true, status: raw.status });
  }
  const elapsedMs = performance.now() - startedAt;
  const { status, latencyMs } = raw;
  const isDamaged = body.includes(UNREADABLE) && !isUtf8(bytes);
  return {
    ...{ status, headers: raw.headers, body, elapsedMs, latencyMs },
    ...(isDamaged && { isDamaged }),
  };
}

function receive(sender: HttpConnection, sending: Sending): Promise<RawResponse> {
  const { request, headers, signal } = sending;
  if (signal?.aborted) return Promise.reject(new CancelledError());
  const receiver = new Receiver(sending);
  const { method, path, body } = request;
  // One deadline for the whole response replaces undici's, which restart with each chunk.
  const noLimits = { headersTimeout: 0, bodyTimeout: 0 };
  sender.dispatch({ method, path, headers, body: body?.text ?? null, ...noLimits }, receiver);
  return receiver.response;
}

/** Collects one response, within its limits of time and size. */
class Receiver implements Dispatcher.DispatchHandler {
  readonly #sending: Sending;
  readonly #end = Promise.withResolvers<RawResponse>();
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #deadline: Deadline | undefined;
  #failure: Error | undefined;
  /** When it was sent, by `awakeMs`; 0 until there is a connection. */
  #sentAt = 0;
  #latencyMs = 0;
  #status = 0;
  #headers: Record<string, string> = {};
  #size = 0;
  /** When progress is reported next, by `performance.now()`. */
  #reportsAt = performance.now() + FIRST_MS;
  /** What had arrived when the deadline was last extended. */
  #sizeInTime = 0;

  constructor(sending: Sending) {
    this.#sending = sending;
    sending.signal?.addEventListener('abort', this.#cancel, { once: true });
  }

  get response(): Promise<RawResponse> {
    return this.#end.promise;
  }

  onRequestStart(started: Dispatcher.DispatchController): void {
    this.#controller = started;
    if (this.#failure) {
      started.abort(this.#failure);
      return;
    }
    // It may start again on another connection, within the same limit.
    this.#deadline ??= new Deadline(this.#sending.limits.timeoutMs, () => {
      this.#expire();
    });
    this.#sentAt = awakeMs();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Parameters<typeof flatten>[0],
  ): void {
    if (status < 200) return;
    this.#latencyMs = awakeMs() - this.#sentAt;
    this.#status = status;
    this.#headers = flatten(headers);
    const declared = Number(this.#headers['content-length']);
    if (declared > this.#sending.limits.maxBodyBytes) {
      this.#lose('too large', { code: 'transfer', is: 'declared', size: mebibytes(declared) });
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { maxBodyBytes } = this.#sending.limits;
    this.#size += chunk.length;
    const size = mebibytes(maxBodyBytes);
    if (this.#size > maxBodyBytes) this.#lose('too large', { code: 'transfer', is: 'size', size });
    else this.#chunks.push(chunk);
    this.#extendDeadline();
    if (performance.now() < this.#reportsAt) return;
    this.#reportsAt = performance.now() + EVERY_MS;
    this.#sending.request.progress?.(this.#size);
  }

  onResponseEnd(): void {
    this.#settle();
    const [status, headers, latencyMs] = [this.#status, this.#headers, this.#latencyMs];
    this.#end.resolve({ status, headers, bytes: Buffer.concat(this.#chunks), latencyMs });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle();
    this.#end.reject(this.#failure ?? faultOf(error, this.#controller !== undefined) ?? error);
  }

  #settle(): void {
    this.#deadline?.stop();
    this.#sending.signal?.removeEventListener('abort', this.#cancel);
  }

  #fail(error: Error): void {
    if (this.#failure) return;
    this.#failure = error;
    this.#settle();
    this.#end.reject(error);
    // Without a connection there is nothing to abort yet; `onRequestStart` does it then.
    this.#controller?.abort(error);
  }

  readonly #cancel = (): void => {
    // A write that was sent may have been executed, so it is not simply cancelled.
    this.#fail(
      this.#controller && !isRead(this.#sending.request)
        ? new TransportFault('reset', { code: 'transfer', is: 'cancelled' }, { sent: true })
        : new CancelledError(),
    );
  };

  #lose(kind: 'timeout' | 'too large', detail: Note): void {
    const status = this.#status || undefined;
    this.#fail(new TransportFault(kind, detail, { sent: true, status }));
  }

  #expire(): void {
    const hasData = this.#sizeInTime > 0;
    const { timeoutMs, wholeMs } = this.#sending.limits;
    const isSilent = hasData && awakeMs() < this.#sentAt + wholeMs;
    const limitMs = hasData && !isSilent ? wholeMs : timeoutMs;
    const seconds = Math.round(limitMs / 10) / 100;
    this.#lose('timeout', { code: 'transfer', is: isSilent ? 'silence' : 'slow', seconds });
  }

  #extendDeadline(): void {
    const { request, limits } = this.#sending;
    if (!isRead(request) || this.#failure || this.#size - this.#sizeInTime < MIN_BYTES) return;
    this.#sizeInTime = this.#size;
    this.#deadline?.extend(Math.min(limits.timeoutMs, this.#sentAt + limits.wholeMs - awakeMs()));
  }
}

function flatten(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value = '']) => [
      name.toLowerCase(),
      [value].flat().join(', '),
    ]),
  );
}

/** A complete JSON document is whole, even if the connection just ended. */
function isWholeJson(body: string): boolean {
  return /^\s*[[{]/.test(body) && jsonIn(body) !== undefined;
}

/** `12.4 MB, after 41,000 users` of earlier pages; a slow response shows `3 KB`. */
export function progressText(bytes: number, before: number, resource: string): string {
  const isSmall = bytes < 100_000;
  const size = isSmall ? `${Math.ceil(bytes / 1000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
  return before === 0
    ? size
    : `${size}, after ${before.toLocaleString('en')} ${pluralOf(resource)}`;
}

/** Node's default of 16 KiB takes a turn of the event loop per step. */
const CHUNK_BYTES = 256 * 1024;

/** Undoes gzip, deflate or Brotli, which nobody asked for. Throws TransportFault if it is too large or none of them. */
async function inflate({ status, headers, bytes }: RawResponse, maxBytes: number): Promise<Buffer> {
  const name = (headers['content-encoding'] ?? '').trim().toLowerCase();
  if (bytes.length === 0 || name === 'identity') return bytes;
  const fault = (kind: 'too large' | 'encoding', detail: Note, cause?: unknown): TransportFault =>
    new TransportFault(kind, detail, { sent: true, status, cause });
  const broken = { code: 'transfer', is: 'broken', name } as const;
  if (!/^(?:br|deflate|(?:x-)?gzip)$/.test(name)) throw fault('encoding', broken);
  // Some servers omit the zlib header that the standard requires.
  const isBare = name === 'deflate' && ((bytes[0] ?? 0) & 0x0f) !== 8;
  const decoder = name === 'br' ? 'brotliDecompress' : isBare ? 'inflateRaw' : 'unzip';
  // Loaded on demand, because devsh asks for uncompressed bodies.
  const zlib = process.getBuiltinModule('node:zlib');
  const decode = promisify<Buffer, ZlibOptions, Buffer>(zlib[decoder]);
  try {
    return await decode(bytes, { maxOutputLength: maxBytes, chunkSize: CHUNK_BYTES });
  } catch (error) {
    if (!(error instanceof RangeError)) throw fault('encoding', broken, error);
    const size = mebibytes(maxBytes);
    throw fault('too large', { code: 'transfer', is: 'unpacked', size }, error);
  }
}

export function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 102.4) / 10} MiB`;
}

/** Decodes as the header or the byte order mark says, else as UTF-8, or as Latin-1 where no UTF-8 is valid. */
export function bodyText(bytes: Buffer, contentType = ''): string {
  const named = decoderFor(/charset\s*=\s*"?([\w-]+)/i.exec(contentType)?.[1]);
  const marked = BYTE_ORDER_MARKS.find(({ mark }) =>
    mark.every((byte, index) => bytes[index] === byte),
  );
  const decoder = decoderFor(marked?.charset) ?? named ?? UTF_8;
  const text = decoder.decode(bytes);
  if (decoder.encoding !== 'utf-8' || isUtf8(bytes)) return text;
  return HAS_BEYOND_ASCII.test(text) ? text : LATIN_1.decode(bytes);
}

const BYTE_ORDER_MARKS = [
  { mark: [0xff, 0xfe], charset: 'utf-16le' },
  { mark: [0xfe, 0xff], charset: 'utf-16be' },
];

/** Any character decoded from UTF-8, except the replacement character. */
const HAS_BEYOND_ASCII = /[^\0-\x7f\ufffd]/;

// ignoreBOM keeps the mark, so that raw output equals what the device sent.
const UTF_8 = new TextDecoder('utf-8', { ignoreBOM: true });
const LATIN_1 = new TextDecoder('windows-1252');

/** Undefined for an unknown name. */
function decoderFor(charset: string | undefined): TextDecoder | undefined {
  if (charset === undefined) return undefined;
  const label = charset.replace(/^latin-?1$/i, 'iso-8859-1');
  return attempt(RangeError, () => new TextDecoder(label, { ignoreBOM: true }));
}

/** Whether the response states its length or end; if not, it may be cut off. */
function isFramed({ status, headers }: Omit<RawResponse, 'bytes'>): boolean {
  return (
    status === 204 ||
    status === 304 ||
    headers['content-length'] !== undefined ||
    /\bchunked\b/i.test(headers['transfer-encoding'] ?? '')
  );
}

/** The entity tag of one record, from `ETag` or the record itself; for `If-Match`. */
export function entityTagOf({ headers, body }: Response): string | undefined {
  const tag = headers['etag'] ?? tagIn(body);
  // RFC 9110 allows nothing else in this header.
  return tag !== undefined && /^(?:W\/)?"[\x21\x23-\x7e]*"$/.test(tag) ? tag : undefined;
}

function tagIn(body: string): string | undefined {
  const record = jsonIn(body);
  const tag = isValueObject(record) ? record['@odata.etag'] : undefined;
  return typeof tag === 'string' ? tag : undefined;
}
