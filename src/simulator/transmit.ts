import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { ApiAnswer } from './view.ts';

/** Puts answers on the wire, well or badly. Each function returns at once. */

/** Where the answer to one request goes. */
export interface Wire {
  /** For what can be said in HTTP. */
  readonly response: ServerResponse;
  /** Inside TLS, for bytes that are no HTTP. */
  readonly socket: Socket;
  /** Another request came over this connection before. */
  readonly isReused: boolean;
  /** Sends a RST; TLS has no such thing. */
  readonly reset: () => void;
  readonly changeCertificate: () => void;
}

/** An answer whose body may be more than text. */
export interface ByteAnswer extends Omit<ApiAnswer, 'body'> {
  readonly body: string | Buffer;
}

const SLOW_BYTE_MS = 250;

/** Says all that stands before the body, and gives the body. */
export function writeHead(response: ServerResponse, answer: ByteAnswer): Buffer {
  const body = Buffer.from(answer.body);
  response.writeHead(answer.status, { ...answer.headers, 'Content-Length': body.length });
  return body;
}

export function send({ response }: Pick<Wire, 'response'>, answer: ByteAnswer): void {
  const body = writeHead(response, answer);
  response.end(body);
}

/** A body of blocks, in chunks, for as long as somebody reads it. */
export function sendBlocks(
  { response }: Wire,
  answer: Omit<ApiAnswer, 'body'>,
  blocks: Iterable<string | Buffer>,
): void {
  response.writeHead(answer.status, answer.headers);
  pour(blocks, response);
}

/** The head of an answer, with its own headers and `lines`; the connection ends after it. */
export function rawHead({ status, headers }: ByteAnswer, lines: readonly string[]): string {
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
    ...lines,
    '\r\n',
  ].join('\r\n');
}

/** Each block again and again. */
export function* endlessly<Block>(first: Block, ...again: readonly Block[]): Iterable<Block> {
  yield first;
  for (;;) yield* again;
}

/** The blocks for as long as somebody reads them. */
export function pour(blocks: Iterable<string | Buffer>, sink: Socket | ServerResponse): void {
  const source = Readable.from(blocks);
  sink.once('close', () => {
    source.destroy();
  });
  source.pipe(sink);
}

/** A few bytes at a time, then the end; unless told, four single bytes in a second. */
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
