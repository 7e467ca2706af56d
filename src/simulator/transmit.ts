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

function writeHead(response: ServerResponse, answer: ByteAnswer, contentLength: number): void {
  response.writeHead(answer.status, { ...answer.headers, 'Content-Length': contentLength });
}

export function send({ response }: Pick<Wire, 'response'>, answer: ByteAnswer): void {
  const body = Buffer.from(answer.body);
  writeHead(response, answer, body.length);
  response.end(body);
}

/** All of the answer, one byte at a time. */
export function sendSlowly({ response }: Wire, answer: ApiAnswer): void {
  const body = Buffer.from(answer.body);
  writeHead(response, answer, body.length);
  response.flushHeaders();
  dribble(body, response, () => response.end());
}

/** All of the answer in forty pieces, twenty in a second. */
export function sendInPieces({ response }: Wire, answer: ApiAnswer): void {
  const body = Buffer.from(answer.body);
  writeHead(response, answer, body.length);
  response.flushHeaders();
  dribble(body, response, () => response.end(), { size: Math.ceil(body.length / 40), everyMs: 50 });
}

/** Promises the whole body, sends half of it and ends the connection in good order. */
export function sendTruncated({ response }: Wire, answer: ApiAnswer): void {
  const body = Buffer.from(answer.body);
  if (body.length === 0) {
    send({ response }, answer);
    return;
  }
  writeHead(response, answer, body.length);
  response.write(body.subarray(0, body.length / 2), () => {
    response.socket?.end();
  });
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

/** Bytes as they are, then the end of the connection in good order. */
export function sendRaw({ socket }: Wire, bytes: string | Buffer): void {
  socket.end(bytes);
}

/** Bytes as they are, then silence. */
export function sendRawAndStall({ socket }: Wire, bytes: string | Buffer): void {
  socket.write(bytes);
}

/** Bytes as they are, for as long as somebody reads them. */
export function pourRaw({ socket }: Wire, blocks: Iterable<string | Buffer>): void {
  pour(blocks, socket);
}

/** Bytes as they are, four in a second. */
export function dribbleRaw({ socket }: Wire, bytes: string): void {
  dribble(Buffer.from(bytes), socket, () => socket.end());
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

type Sink = Pick<Socket, 'write' | 'once'>;

function pour(blocks: Iterable<string | Buffer>, sink: Socket | ServerResponse): void {
  const source = Readable.from(blocks);
  sink.once('close', () => {
    source.destroy();
  });
  source.pipe(sink);
}

function dribble(
  bytes: Buffer,
  sink: Sink | ServerResponse,
  end: () => void,
  { size, everyMs } = { size: 1, everyMs: SLOW_BYTE_MS },
): void {
  let sent = 0;
  const timer = setInterval(() => {
    sink.write(bytes.subarray(sent, sent + size));
    sent += size;
    if (sent < bytes.length) return;
    clearInterval(timer);
    end();
  }, everyMs);
  sink.once('close', () => {
    clearInterval(timer);
  });
}
