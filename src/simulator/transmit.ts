import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { ApiAnswer } from './view.ts';

/** Where the response to one request goes. Each function below returns at once. */
export interface Wire {
  /** For valid HTTP. */
  readonly response: ServerResponse;
  /** Inside TLS, for any bytes. */
  readonly socket: Socket;
  /** Whether the connection carried another request before. */
  readonly isReused: boolean;
  /** Sends a RST below TLS. */
  readonly reset: () => void;
  readonly changeCertificate: () => void;
}

/** A response whose body may be bytes. */
export interface ByteAnswer extends Omit<ApiAnswer, 'body'> {
  readonly body: string | Buffer;
}

const SLOW_BYTE_MS = 250;

/** Writes the head and returns the body. */
export function writeHead(response: ServerResponse, answer: ByteAnswer): Buffer {
  const body = Buffer.from(answer.body);
  response.writeHead(answer.status, { ...answer.headers, 'Content-Length': body.length });
  return body;
}

export function send({ response }: Pick<Wire, 'response'>, answer: ByteAnswer): void {
  const body = writeHead(response, answer);
  response.end(body);
}

/** Sends a chunked body until the client disconnects. */
export function sendBlocks(
  { response }: Wire,
  answer: Omit<ApiAnswer, 'body'>,
  blocks: Iterable<string | Buffer>,
): void {
  response.writeHead(answer.status, answer.headers);
  pour(blocks, response);
}

/** The head of a response with additional header lines; the connection ends after the response. */
export function rawHead({ status, headers }: ByteAnswer, lines: readonly string[]): string {
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
    ...lines,
    '\r\n',
  ].join('\r\n');
}

/** Yields `first`, then `again` without end. */
export function* endlessly<Block>(first: Block, ...again: readonly Block[]): Iterable<Block> {
  yield first;
  for (;;) yield* again;
}

/** Sends blocks until the sink closes. */
export function pour(blocks: Iterable<string | Buffer>, sink: Socket | ServerResponse): void {
  const source = Readable.from(blocks);
  sink.once('close', () => {
    source.destroy();
  });
  source.pipe(sink);
}

/** Sends a few bytes at a time, then ends. Default: four single bytes per second. */
export function dribble(
  bytes: Buffer,
  sink: Socket | ServerResponse,
  { size, everyMs } = { size: 1, everyMs: SLOW_BYTE_MS },
): void {
  let sent = 0;
  const timer = setInterval(() => {
    sink.write(bytes.subarray(sent, sent + size));
    sent += size;
    if (sent < bytes.length) return;
    clearInterval(timer);
    sink.end();
  }, everyMs);
  sink.once('close', () => {
    clearInterval(timer);
  });
}
