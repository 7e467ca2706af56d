import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ApiResponse } from '../../../src/simulator/view.ts';

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
}

/** A response whose body may be bytes. */
export interface ByteResponse extends Omit<ApiResponse, 'body'> {
  readonly body: string | Buffer;
}

/** Writes the head and returns the body. */
export function writeHead(response: ServerResponse, reply: ByteResponse): Buffer {
  const body = Buffer.from(reply.body);
  response.writeHead(reply.status, { ...reply.headers, 'Content-Length': body.length });
  return body;
}

export function send({ response }: Pick<Wire, 'response'>, reply: ByteResponse): void {
  const body = writeHead(response, reply);
  response.end(body);
}
