import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { certificateFor, listen } from '../device/server.ts';
import type { Certificate } from '../../src/simulator/certificate.ts';

/** A whole request: its line, its headers and its body, followed by its query. */
interface Heard {
  readonly request: IncomingMessage;
  readonly body: string;
  readonly authorization: string;
  /** The user and password of the Authorization header in clear. */
  readonly login: string;
}

type Answer = (heard: Heard, response: ServerResponse) => void;

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

/** The ways to repeat a request, one after the other. */
const ECHOES: readonly Answer[] = [
  ({ login, body }, response) => {
    json(response, 400, { password: [`"${login}" is too short`], detail: [body] });
  },
  ({ request, body }, response) => {
    response.writeHead(500, { 'content-type': 'text/html' });
    const headers = JSON.stringify(request.headers).replace(/&/g, '&amp;').replace(/"/g, '&#34;');
    response.end(`<html><title>Error</title><pre>${headers}\n${body}</pre></html>`);
  },
  ({ authorization, login }, response) => {
    response.setHeader('WWW-Authenticate', `Basic realm="${authorization}"`);
    json(response, 401, { detail: `Who is ${Buffer.from(login).toString('hex')}?` });
  },
  ({ login, body }, response) => {
    const query = `${encodeURIComponent(login)}&${body}`;
    response.writeHead(302, { location: `https://elsewhere.invalid/?${query}` }).end();
  },
  ({ login }, response) => {
    const text = Array.from(
      login,
      (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    response.end(`{"status":"error","message":"no ${text.join('')}"}`);
  },
  ({ authorization, body }, response) => {
    json(response, 422, { errors: { username: [authorization, atob64(body)] } });
  },
  ({ login, body }, response) => {
    response.writeHead(400, { 'content-type': 'text/plain' });
    response.end(`"${login}" said ${decodeURIComponent(body.replaceAll('+', ' '))}`);
  },
  ({ login }, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.end(`Hello ${login}\u001b[2J`);
  },
  ({ authorization }, response) => {
    response.writeHead(429, { 'retry-after': authorization, allow: authorization }).end();
  },
];

function atob64(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/** A device that lists its users with passwords, and repeats every request in its refusals, and queries. */
export async function startEcho(
  heldPassword: string,
): Promise<{ readonly port: number; readonly certificate: Certificate }> {
  const certificate = certificateFor(['127.0.0.1']);
  const users = ['admin', 'bob'].map((username, index) => ({
    uuid: String(index),
    username,
    password: heldPassword,
    settings: { psk: heldPassword },
  }));
  let count = 0;
  const server = createServer(
    { key: certificate.key, cert: certificate.cert },
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.once('end', () => {
        const [, query] = request.url?.split('?') ?? [];
        const body = [Buffer.concat(chunks).toString(), query ?? []].flat().join('&');
        const authorization = request.headers.authorization ?? '';
        const login = Buffer.from(authorization.split(' ')[1] ?? '', 'base64').toString();
        const isList = request.method === 'GET' && request.url?.startsWith('/api/user/') === true;
        if (request.url?.startsWith('/query/') === true && query !== undefined) {
          json(response, 200, { results: [{ query, decoded: decodeURIComponent(query) }] });
        } else if (request.url?.startsWith('/raw/')) {
          ECHOES[count++ % 4]?.({ request, body, authorization, login }, response);
        } else if (isList && count % 4 !== 3) json(response, 200, users);
        else ECHOES[count % ECHOES.length]?.({ request, body, authorization, login }, response);
        count += isList && count % 4 !== 3 ? 0 : 1;
      });
    },
  );
  return { port: await listen(server), certificate };
}
