import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { ApiAnswer } from './view.ts';

/** Puts answers on the wire, well or badly. Each function returns at once. */

const SLOW_BYTE_MS = 250;

function writeHead(response: ServerResponse, answer: ApiAnswer, contentLength: number): void {
  response.writeHead(answer.status, { ...answer.headers, 'Content-Length': contentLength });
}

export function send(response: ServerResponse, answer: ApiAnswer): void {
  const body = Buffer.from(answer.body);
  writeHead(response, answer, body.length);
  response.end(body);
}

/** All of the answer, one byte at a time. */
export function sendSlowly(response: ServerResponse, answer: ApiAnswer): void {
  const body = Buffer.from(answer.body);
  writeHead(response, answer, body.length);
  response.flushHeaders();
  let sent = 0;
  const timer = setInterval(() => {
    response.write(body.subarray(sent, sent + 1));
    sent += 1;
    if (sent < body.length) return;
    clearInterval(timer);
    response.end();
  }, SLOW_BYTE_MS);
  response.once('close', () => {
    clearInterval(timer);
  });
}

/** Promises the whole body, sends half of it and ends the connection in good order. */
export function sendTruncated(response: ServerResponse, answer: ApiAnswer): void {
  const body = Buffer.from(answer.body);
  if (body.length === 0) {
    send(response, answer);
    return;
  }
  writeHead(response, answer, body.length);
  response.write(body.subarray(0, body.length / 2), () => {
    response.socket?.end();
  });
}

/** A list that goes on for as long as somebody reads it. */
export function sendEndlessly(response: ServerResponse, answer: ApiAnswer): void {
  const block = Buffer.from(`${JSON.stringify({ username: 'again' })},`.repeat(1000));
  const body = Readable.from(
    (function* () {
      yield '[';
      for (;;) yield block;
    })(),
  );
  response.writeHead(answer.status, answer.headers);
  response.once('close', () => {
    body.destroy();
  });
  body.pipe(response);
}

/** The whole of a text that breaks off, under a length that is right. */
export function cutJson(answer: ApiAnswer): ApiAnswer {
  // An empty list or object would stay valid when cut to nothing.
  const body = answer.body.slice(0, Math.ceil(answer.body.length / 2)) || '{';
  return answer.status === 204 ? answer : { ...answer, body };
}
