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
  /** The Accept header, if not JSON first. */
  readonly accept?: string | undefined;
  /** `stay`: do not follow a redirect. */
  readonly redirect?: 'stay' | undefined;
  /** Receives the progress of a slow response now and then. */
  readonly progress?: (progress: Progress) => void;
}

/** Reads may be sent again; writes never. */
export function isRead({ method }: Pick<HttpRequest, 'method'>): boolean {
  return method === 'GET' || method === 'OPTIONS';
}

/** A whole response, whatever its status. */
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
  /** Path and query that a redirect led to. */
  readonly movedTo?: string;
}

interface ExchangeLimits {
  /**
   * From the first byte of the request to the last of the response, without delays of this process. A read
   * that keeps arriving may take `READ_TIME_FACTOR` times as long: for it this is the limit of silence.
   */
  readonly timeoutMs: number;
  /** On the wire and after decompression. */
  readonly maxBodyBytes: number;
}

/** The time limit of a read that keeps arriving, as a multiple of `timeoutMs`. */
const READ_TIME_FACTOR = 10;
/** Fewer bytes within the limit count as silence. */
const MIN_BYTES = 1024;

interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  readonly latencyMs: number;
}

/**
 * Sends one request and reads its whole response. Throws TransportFault, CancelledError, or an error of the
 * connector.
 */
export async function exchange(
  sender: HttpConnection,
  request: HttpRequest,
  headers: Readonly<Record<string, string | undefined>>,
  limits: ExchangeLimits,
  signal?: AbortSignal,
): Promise<Response> {
  const startedAt = performance.now();
  const raw = await receive(sender, request, headers, limits, signal);
  const isPlain = (raw.headers['content-encoding'] ?? '') === '';
  const bytes = isPlain ? raw.bytes : await inflate(raw, limits.maxBodyBytes);
  const body = bodyText(bytes, raw.headers['content-type']);
  if (raw.status < 400 && !isFramed(raw) && !isWholeJson(body)) {
    throw new TransportFault('cut off', 'the response has no length and may be cut off', {
      sent: true,
      status: raw.status,
    });
  }
  const elapsedMs = performance.now() - startedAt;
  const { status, latencyMs } = raw;
  const isDamaged = body.includes(UNREADABLE) && !isUtf8(bytes);
  return {
    ...{ status, headers: raw.headers, body, elapsedMs, latencyMs },
    ...(isDamaged && { isDamaged }),
  };
}

function receive(
  sender: HttpConnection,
  request: HttpRequest,
  headers: Readonly<Record<string, string | undefined>>,
  { timeoutMs, maxBodyBytes }: ExchangeLimits,
  signal: AbortSignal | undefined,
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(new CancelledError());
      return;
    }
    let controller: Dispatcher.DispatchController | undefined;
    let deadline: Deadline | undefined;
    /** By `awakeMs`; 0 until there is a connection. */
    let sentAt = 0;
    let latencyMs = 0;
    let status = 0;
    let responseHeaders: Record<string, string> = {};
    let size = 0;
    let sizeInTime = 0;
    let failure: Error | undefined;
    const chunks: Buffer[] = [];
    const counter = request.progress && new ProgressCounter(request.progress);

    const settle = (): void => {
      deadline?.stop();
      signal?.removeEventListener('abort', cancel);
    };
    const fail = (error: Error): void => {
      if (failure) return;
      failure = error;
      settle();
      reject(error);
      // Without a connection there is nothing to abort yet; `onRequestStart` does it then.
      controller?.abort(error);
    };
    const cancel = (): void => {
      // A write that was sent may have been executed, so it is not simply cancelled.
      fail(
        controller && !isRead(request)
          ? new TransportFault('reset', 'cancelled while waiting for the response', { sent: true })
          : new CancelledError(),
      );
    };
    const lost = (kind: 'timeout' | 'too large', detail: string): void =>
      fail(new TransportFault(kind, detail, { sent: true, status: status || undefined }));
    const wholeMs = READ_TIME_FACTOR * timeoutMs;
    const expire = (): void => {
      const hasData = sizeInTime > 0;
      const isSilent = hasData && awakeMs() < sentAt + wholeMs;
      const limitMs = hasData && !isSilent ? wholeMs : timeoutMs;
      lost(
        'timeout',
        `no ${isSilent ? 'more data' : 'complete response'} within ${limitMs / 1000} s`,
      );
    };
    const extendDeadline = (): void => {
      if (!isRead(request) || failure || size - sizeInTime < MIN_BYTES) return;
      sizeInTime = size;
      deadline?.extend(Math.min(timeoutMs, sentAt + wholeMs - awakeMs()));
    };
    signal?.addEventListener('abort', cancel, { once: true });

    sender.dispatch(
      {
        method: request.method,
        path: request.path,
        headers,
        body: request.body?.text ?? null,
        // One deadline for the whole response replaces undici's, which restart with each chunk.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      {
        onRequestStart(started) {
          controller = started;
          if (failure) {
            started.abort(failure);
            return;
          }
          // It may start again on another connection, within the same limit.
          deadline ??= new Deadline(timeoutMs, expire);
          sentAt = awakeMs();
        },
        onResponseStart(_controller, statusCode, received) {
          if (statusCode < 200) return;
          latencyMs = awakeMs() - sentAt;
          status = statusCode;
          responseHeaders = flatten(received);
          const declared = Number(responseHeaders['content-length']);
          if (declared > maxBodyBytes) {
            lost('too large', `Content-Length is ${mebibytes(declared)}`);
          }
        },
        onResponseData(_controller, chunk) {
          size += chunk.length;
          if (size > maxBodyBytes) lost('too large', `more than ${mebibytes(maxBodyBytes)}`);
          else chunks.push(chunk);
          counter?.add(chunk);
          extendDeadline();
        },
        onResponseEnd() {
          settle();
          resolve({ status, headers: responseHeaders, bytes: Buffer.concat(chunks), latencyMs });
        },
        onResponseError(_controller, error) {
          settle();
          reject(failure ?? faultOf(error, controller !== undefined) ?? error);
        },
      },
    );
  });
}

function flatten(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    flat[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : (value ?? '');
  }
  return flat;
}

/** A complete JSON document is whole, even if the connection just ended. */
function isWholeJson(body: string): boolean {
  return /^\s*[[{]/.test(body) && jsonIn(body) !== undefined;
}

/** The part of a response that has arrived. */
interface Progress {
  readonly bytes: number;
  /** Complete records of a JSON list; 0 until they can be recognised. */
  readonly records: number;
}

/** Shorter waits report nothing. */
const FIRST_MS = 1000;
const EVERY_MS = 500;

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\[]{}');

/** Reports progress now and then; counts records only for that. */
class ProgressCounter {
  readonly #report: (progress: Progress) => void;
  readonly #startedAt = performance.now();
  #reportedAt = -Infinity;
  /** Not scanned yet. */
  #chunks: Buffer[] = [];
  #bytes = 0;
  #records = 0;
  readonly #open: number[] = [];
  /** The number of brackets around a record: those of the first list that contains objects. */
  #recordDepth: number | undefined;
  #isInText = false;
  #isEscaped = false;

  constructor(report: (progress: Progress) => void) {
    this.#report = report;
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    const now = performance.now();
    if (now - this.#startedAt < FIRST_MS || now - this.#reportedAt < EVERY_MS) return;
    this.#reportedAt = now;
    for (const one of this.#chunks.splice(0)) for (const byte of one) this.#scan(byte);
    this.#report({ bytes: this.#bytes, records: this.#records });
  }

  #scan(byte: number): void {
    if (this.#isInText) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) this.#isInText = false;
    } else if (byte === QUOTE) this.#isInText = true;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (byte === OPEN_OBJECT && this.#open.at(-1) === OPEN_LIST)
        this.#recordDepth ??= this.#open.length;
      this.#open.push(byte);
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      this.#open.pop();
      if (byte === CLOSE_OBJECT && this.#open.length === this.#recordDepth) this.#records += 1;
    }
  }
}

/** `12.4 MB, 41,000 users`; a slow response shows `3 KB`. */
export function progressText({ bytes, records }: Progress, resource: string): string {
  const isSmall = bytes < 100_000;
  const size = isSmall ? `${Math.ceil(bytes / 1000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
  return records === 0 ? size : `${size}, ${records.toLocaleString('en')} ${pluralOf(resource)}`;
}

/** Node's default of 16 KiB takes a turn of the event loop per step. */
const CHUNK_BYTES = 256 * 1024;

const DECODERS: Readonly<Record<string, 'gunzip' | 'brotliDecompress' | 'inflate'>> = {
  gzip: 'gunzip',
  'x-gzip': 'gunzip',
  br: 'brotliDecompress',
  deflate: 'inflate',
};

/** Undoes the content encodings. Throws TransportFault if the body is too large or broken. */
async function inflate({ status, headers, bytes }: RawResponse, maxBytes: number): Promise<Buffer> {
  const encodings = (headers['content-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  const unreadable = (detail: string, cause?: unknown): TransportFault =>
    new TransportFault('encoding', detail, { sent: true, status, cause });
  if (encodings.length > 3) throw unreadable('it is compressed too many times');
  let plain = bytes;
  for (const name of encodings.reverse()) {
    if (plain.length === 0) return plain;
    const decoder = DECODERS[name];
    if (!decoder) throw unreadable(`unknown encoding "${name}"`);
    // Some servers omit the zlib header that the standard requires.
    const isBare = decoder === 'inflate' && ((plain[0] ?? 0) & 0x0f) !== 8;
    // Loaded on demand, because devsh asks for uncompressed bodies.
    const zlib = process.getBuiltinModule('node:zlib');
    const decode = promisify<Buffer, ZlibOptions, Buffer>(zlib[isBare ? 'inflateRaw' : decoder]);
    try {
      plain = await decode(plain, { maxOutputLength: maxBytes, chunkSize: CHUNK_BYTES });
    } catch (error) {
      if (!(error instanceof RangeError)) throw unreadable(`its ${name} data is broken`, error);
      const detail = `more than ${mebibytes(maxBytes)} unpacked`;
      throw new TransportFault('too large', detail, { sent: true, status, cause: error });
    }
  }
  return plain;
}

export function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 102.4) / 10} MiB`;
}

/**
 * Decodes in the character set of the header or byte order mark, otherwise UTF-8. Text without any valid
 * UTF-8 is Latin-1, as old devices send it; single broken bytes are replaced.
 */
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
