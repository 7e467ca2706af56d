import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { ByteResponse, Wire } from './transmit.ts';
import type { ApiResponse } from '../../../src/simulator/view.ts';

const SLOW_BYTE_MS = 250;

/** Sends a chunked body until the client disconnects. */
export function sendBlocks(
  { response }: Wire,
  reply: Omit<ApiResponse, 'body'>,
  blocks: Iterable<string | Buffer>,
): void {
  response.writeHead(reply.status, reply.headers);
  pour(blocks, response);
}

/** The head of a response with additional header lines; the connection ends after the response. */
export function rawHead({ status, headers }: ByteResponse, lines: readonly string[]): string {
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

/** Yields a block every few milliseconds. */
export async function* paced<Block>(
  blocks: Iterable<Block>,
  everyMs: number,
): AsyncIterable<Block> {
  for (const block of blocks) {
    yield block;
    await setTimeout(everyMs);
  }
}

/** Sends blocks until the sink closes. */
export function pour(
  blocks: Iterable<string | Buffer> | AsyncIterable<string | Buffer>,
  sink: Socket | ServerResponse,
): void {
  const source = Readable.from(blocks);
  sink.once('close', () => source.destroy());
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
  sink.once('close', () => clearInterval(timer));
}
