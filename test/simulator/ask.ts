import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import type { SimulatedDevice } from './simulator.ts';

/** What came back, read to its end by node:https alone. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Question {
  readonly method?: string;
  readonly path?: string;
  /** Whose token to send; null for none. */
  readonly as?: 'admin' | 'viewer' | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as a form, unless it is text. */
  readonly body?: Readonly<Record<string, string>> | string;
  /** Called with each piece of the body; true ends the connection. */
  readonly onData?: (chunk: Buffer) => boolean;
}

/** One request on a connection of its own. Rejects when there is no complete answer. */
export function ask(device: SimulatedDevice, question: Question = {}): Promise<WireAnswer> {
  const { method = 'GET', path = '/api/user/', as = 'admin', headers = {}, body } = question;
  const text = typeof body === 'object' ? new URLSearchParams(body).toString() : body;
  return new Promise((resolve, reject) => {
    const outgoing = request({
      host: device.host,
      port: device.port,
      method,
      path,
      agent: false,
      rejectUnauthorized: false,
      headers: {
        ...(as !== null && { Authorization: `Token ${device.accounts[as].token}` }),
        ...(text !== undefined && { 'Content-Length': Buffer.byteLength(text) }),
        ...(typeof body === 'object' && { 'Content-Type': 'application/x-www-form-urlencoded' }),
        ...headers,
      },
    });
    outgoing.once('error', reject);
    outgoing.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        if (question.onData?.(chunk) === true) outgoing.destroy(new Error('enough'));
      });
      response.once('error', reject);
      response.once('end', () => {
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, body: Buffer.concat(chunks).toString() });
      });
    });
    outgoing.end(text);
  });
}

/** A complete form for a new user. */
export const BOB = {
  uuid: 'null',
  first_name: 'Bob',
  lastname: 'Builder',
  username: 'bob',
  lang: 'de',
} as const;

export function userNamed(device: SimulatedDevice, username: string) {
  return device.users.find((user) => user.username === username);
}
