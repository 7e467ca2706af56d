import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { faultOf } from '../../src/device/fault.ts';
import { type HttpConnection, httpConnection } from '../../src/device/http-connection.ts';

const READ = { method: 'GET', path: '/api/user/', headers: { accept: '*/*' } } as const;
const WRITE = { ...READ, method: 'POST', body: 'uuid=null' } as const;

/** A server without TLS that answers each request with these bytes, piece by piece. */
async function serve(pieces: readonly string[], ends = false) {
  const requests: string[] = [];
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.setNoDelay(true).on('error', () => undefined);
    socket.on('data', (request) => {
      requests.push(String(request));
      const [first, ...rest] = pieces;
      socket.write(first ?? '', 'latin1');
      const writeNext = (): void => {
        const piece = rest.shift();
        if (piece !== undefined) socket.write(piece, 'latin1', () => setTimeout(writeNext, 10));
        else if (ends) socket.end();
      };
      setTimeout(writeNext, 10);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connection = httpConnection(`https://127.0.0.1:${port}`, (callback) => {
    const socket = connect(port, '127.0.0.1', () => {
      callback(null, socket);
    });
    socket.on('error', () => undefined);
  });
  onTestFinished(async () => {
    await connection.destroy(new Error('over'));
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { requests, sockets, connection };
}

/** Status, headers and body of one response, or the kind of its failure. */
function outcomeOf(
  connection: HttpConnection,
  request: Pick<Dispatcher.DispatchOptions, 'method' | 'path' | 'headers' | 'body'> = READ,
) {
  return new Promise((resolve) => {
    let head = {};
    let body = '';
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => undefined,
      onResponseStart: (_controller, status, headers) => {
        head = { status, headers };
      },
      onResponseData: (_controller, chunk) => {
        body += String(chunk);
      },
      onResponseEnd: () => {
        resolve({ ...head, body });
      },
      onResponseError: (_controller, error) => {
        resolve(faultOf(error, true)?.kind ?? error);
      },
    };
    connection.dispatch({ ...request, headersTimeout: 0, bodyTimeout: 0 }, handler);
  });
}

const OK = 'HTTP/1.1 200 OK\r\n';
const LENGTH = 'Content-Length: 2\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const REFUSED: readonly (readonly [string, string, string])[] = [
  ['chunks and a length', 'wrong length', `${OK}${LENGTH}${CHUNKED}\r\n2\r\n[]\r\n0\r\n\r\n`],
  ['two equal lengths', 'wrong length', `${OK}${LENGTH}${LENGTH}\r\n[]`],
  ['two lengths', 'wrong length', `${OK}${LENGTH}Content-Length: 3\r\n\r\n[]]`],
  ['a length with a sign', 'malformed', `${OK}Content-Length: +2\r\n\r\n[]`],
  ['a length that is no number', 'malformed', `${OK}Content-Length: 0x2\r\n\r\n[]`],
  ['a space before a colon', 'malformed', `${OK}Content-Length : 2\r\n\r\n[]`],
  ['a folded header', 'wrong length', `${OK}${LENGTH}X-A: 1\r\n 2\r\n\r\n[]`],
  ['a bare line feed', 'wrong length', `${OK}Content-Length: 2\nX-A: 1\r\n\r\n[]`],
  ['a zero byte in a header', 'wrong length', `${OK}${LENGTH}X-A: \0\r\n\r\n[]`],
  ['a header without a colon', 'wrong length', `${OK}${LENGTH}X-A\r\n\r\n[]`],
  ['too many headers', 'too large', `${OK}${LENGTH}X-A: ${'a'.repeat(20_000)}\r\n\r\n[]`],
  ['another protocol', 'reset', 'HTTP/1.1 101 Other\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
  ['a cut body', 'reset', `${OK}${LENGTH}\r\n[`],
  ['a cut last body', 'wrong length', `${OK}${LENGTH}Connection: close\r\n\r\n[`],
  ['a cut head', 'reset', `${OK}Content-`],
  ['cut chunks', 'reset', `${OK}${CHUNKED}\r\n2\r\n[`],
  ['nothing', 'reset', ''],
  ['no HTTP', 'malformed', 'SSH-2.0-OpenSSH\r\n\r\n'],
];

test.each(REFUSED)('a response with %s is refused as %s', async (_name, kind, bytes) => {
  for (const request of [READ, WRITE]) {
    const { connection, requests } = await serve([bytes], true);
    expect(await outcomeOf(connection, request)).toBe(kind);
    expect(requests).toHaveLength(1);
  }
});

test.each([
  ['a head in pieces', [`${OK}Content-Le`, 'ngth: 2\r\n\r\n[]']],
  ['chunks', [`${OK}${CHUNKED}\r\n1\r\n[\r\n`, '1\r\n]\r\n0\r\n\r\n']],
  ['a provisional response', [`HTTP/1.1 103 Early\r\n\r\n${OK}${LENGTH}\r\n[]`]],
  ['bytes after the body', [`${OK}${LENGTH}\r\n[]junk`]],
  ['a second response', [`${OK}${LENGTH}\r\n[]${OK}${LENGTH}\r\n{}`]],
])('a response with %s is read to its end, and no further', async (_name, pieces) => {
  for (const request of [READ, WRITE]) {
    const { connection } = await serve(pieces);
    expect(await outcomeOf(connection, request)).toMatchObject({ status: 200, body: '[]' });
  }
});

test('bytes beyond ASCII in a header, C1 among them, are characters of Latin-1', async () => {
  const { connection } = await serve([`${OK}${LENGTH}X-A: \xc3\x9b\r\n__proto__: x\r\n\r\n[]`]);
  const { headers } = (await outcomeOf(connection)) as { headers: object };
  expect(Object.entries(headers)).toEqual([
    ['content-length', '2'],
    ['x-a', '\xc3\x9b'],
    ['__proto__', 'x'],
  ]);
});

test.each([
  ['a length', [`${OK}${LENGTH}\r\n[]`]],
  ['chunks', [`${OK}${CHUNKED}\r\n`, '2\r\n[]\r\n0\r\n\r\n']],
])('responses with %s share one connection', async (_name, pieces) => {
  const { connection, requests, sockets } = await serve(pieces);
  for (let count = 0; count < 3; count += 1) {
    expect(await outcomeOf(connection)).toMatchObject({ status: 200, body: '[]' });
  }
  expect(requests).toHaveLength(3);
  expect(sockets).toHaveLength(1);
  expect(connection.stats.connected).toBe(true);
});

test.each([
  ['says so', [`${OK}${LENGTH}Connection: close\r\n\r\n[]`], false],
  ['keeps it no time', [`${OK}${LENGTH}Keep-Alive: timeout=0\r\n\r\n[]`], false],
  ['ends it', [`${OK}${LENGTH}\r\n[]`], true],
  ['sends what nobody asked for', [`${OK}${LENGTH}\r\n[]`, `${OK}${LENGTH}\r\n{}`], false],
])('a device that %s gets the next read on a new connection', async (_name, pieces, ends) => {
  const { connection, sockets } = await serve(pieces, ends);
  expect(await outcomeOf(connection)).toMatchObject({ body: '[]' });
  await expect.poll(() => connection.stats.connected).toBe(false);
  expect(await outcomeOf(connection)).toMatchObject({ body: '[]' });
  expect(sockets).toHaveLength(2);
});

test('a request that would not be one line per header is refused', async () => {
  const { connection, requests } = await serve([`${OK}${LENGTH}\r\n[]`]);
  const headers = { accept: 'x\r\nX-Injected: 1' };
  expect(await outcomeOf(connection, { ...READ, headers })).toMatchObject({
    message: 'invalid accept header',
  });
  expect(requests).toEqual([]);
});
