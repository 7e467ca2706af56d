import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { Client } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { faultOf } from '../../src/device/fault.ts';
import { type Connect, HttpConnection } from '../../src/device/http-connection.ts';

const REQUEST = { method: 'GET', path: '/api/user/', headers: { accept: '*/*' } } as const;
const WRITE = { ...REQUEST, method: 'POST', body: 'uuid=null' } as const;

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
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const open: Connect = (callback) => {
    const socket = connect(port, '127.0.0.1', () => {
      callback(null, socket);
    });
    socket.on('error', () => undefined);
  };
  const own = new HttpConnection(`https://127.0.0.1:${port}`, open);
  const undici = new Client(`https://127.0.0.1:${port}`, {
    pipelining: 1,
    connect: (_target, callback) => {
      open(callback);
    },
  });
  onTestFinished(async () => {
    await Promise.all([own.destroy(new Error('over')), undici.destroy()]);
  });
  return { requests, sockets, own, undici };
}

/** Status, headers and body of one response, or the kind of its failure. */
function outcomeOf(
  sender: Pick<HttpConnection, 'dispatch'>,
  request: Pick<Dispatcher.DispatchOptions, 'method' | 'path' | 'headers' | 'body'> = REQUEST,
) {
  return new Promise((resolve) => {
    let head: unknown;
    let body = '';
    const timer = setTimeout(() => {
      resolve('no end');
    }, 500);
    const settle = (outcome: unknown): void => {
      clearTimeout(timer);
      resolve(outcome);
    };
    sender.dispatch({ ...request, headersTimeout: 0, bodyTimeout: 0 }, {
      onRequestStart: () => undefined,
      onResponseStart: (_controller, status, headers) => {
        if (status < 200) return;
        const texts = Object.entries(headers).map(([key, value]) => [key, String(value)]);
        head = {
          status,
          headers: texts.map(([key = '', text = '']) => [
            key.toLowerCase(),
            text.replaceAll(', ', ','),
          ]),
        };
      },
      onResponseData: (_controller, chunk) => {
        body += String(chunk);
      },
      onResponseEnd: () => {
        settle({ head, body });
      },
      onResponseError: (_controller, error) => {
        settle(faultOf(error, true)?.kind ?? error);
      },
    } satisfies Dispatcher.DispatchHandler);
  });
}

const OK = 'HTTP/1.1 200 OK\r\n';
const LENGTH = 'Content-Length: 2\r\n';
const RESPONSES: readonly (readonly [string, readonly string[], ends?: boolean])[] = [
  ['a plain response', [`${OK}${LENGTH}X-A: 1\r\nX-A: 2 \r\n\r\n[]`]],
  ['a body in pieces', [`${OK}${LENGTH}\r\n`, '[', ']']],
  ['a head in pieces', [`${OK}Content-Le`, 'ngth: 2\r\n\r\n[]']],
  ['an empty body', [`${OK}Content-Length: 0\r\n\r\n`]],
  ['an error status', [`HTTP/1.1 503 Busy\r\n${LENGTH}\r\n[]`]],
  ['no text after the status', [`HTTP/1.1 200 \r\n${LENGTH}\r\n[]`]],
  ['a status without a space', [`HTTP/1.1 200\r\n${LENGTH}\r\n[]`]],
  ['chunks', [`${OK}Transfer-Encoding: chunked\r\n\r\n1\r\n[\r\n`, '1\r\n]\r\n0\r\n\r\n']],
  ['chunks and a length', [`${OK}${LENGTH}Transfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n`]],
  ['two equal lengths', [`${OK}${LENGTH}${LENGTH}\r\n[]`]],
  ['two lengths', [`${OK}${LENGTH}Content-Length: 3\r\n\r\n[]]`]],
  ['a length with a sign', [`${OK}Content-Length: +2\r\n\r\n[]`]],
  ['a length that is no number', [`${OK}Content-Length: 0x2\r\n\r\n[]`]],
  ['a space before the colon', [`${OK}Content-Length : 2\r\n\r\n[]`]],
  ['a folded header', [`${OK}${LENGTH}X-A: 1\r\n 2\r\n\r\n[]`]],
  ['bare line feeds', [`${OK}Content-Length: 2\nX-A: 1\r\n\r\n[]`]],
  ['a zero byte in a header', [`${OK}${LENGTH}X-A: \0\r\n\r\n[]`]],
  ['a header beyond ASCII', [`${OK}${LENGTH}X-A: \xc3\xa4\r\n\r\n[]`]],
  ['a header without a colon', [`${OK}${LENGTH}X-A\r\n\r\n[]`]],
  ['a header named __proto__', [`${OK}${LENGTH}__proto__: x\r\n\r\n[]`]],
  ['no content', ['HTTP/1.1 204 No Content\r\n\r\n']],
  ['a provisional response', [`HTTP/1.1 103 Early\r\n\r\n${OK}${LENGTH}\r\n[]`]],
  ['a changed protocol', ['HTTP/1.1 101 Other\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n']],
  ['HTTP/1.0', [`HTTP/1.0 200 OK\r\n${LENGTH}\r\n[]`], true],
  ['no length', [`${OK}\r\n[`, ']'], true],
  ['a last response', [`${OK}${LENGTH}Connection: close\r\n\r\n[]`]],
  ['a last response that is cut', [`${OK}${LENGTH}Connection: close\r\n\r\n[`], true],
  ['a cut body', [`${OK}${LENGTH}\r\n[`], true],
  ['a cut head', [`${OK}Content-`], true],
  ['cut chunks', [`${OK}Transfer-Encoding: chunked\r\n\r\n2\r\n[`], true],
  ['no response', [], true],
  ['bytes after the body', [`${OK}${LENGTH}\r\n[]junk`]],
  ['bytes after the body, later', [`${OK}${LENGTH}\r\n[`, ']junk']],
  ['a second response', [`${OK}${LENGTH}\r\n[]${OK}${LENGTH}\r\n{}`]],
  ['headers that are too long', [`${OK}${LENGTH}X-A: ${'a'.repeat(20_000)}\r\n\r\n[]`]],
  ['no HTTP', ['SSH-2.0-OpenSSH\r\n\r\n']],
];

const CASES = [REQUEST, WRITE].flatMap((request) =>
  RESPONSES.map(([name, pieces, ends]) => ({
    ...{ name, pieces, ends, request, method: request.method },
  })),
);

test.each(CASES)('undici and devsh read $name to a $method alike', async (one) => {
  const { own, undici, requests } = await serve(one.pieces, one.ends);
  const expected = await outcomeOf(undici, one.request);
  expect(await outcomeOf(own, one.request)).toEqual(expected);
  expect(requests).toHaveLength(2);
});

test.each([
  REQUEST,
  WRITE,
  { ...REQUEST, method: 'DELETE' },
  { ...WRITE, method: 'PUT', body: '' },
  { ...WRITE, method: 'PATCH', body: 'name=Zoë' },
] as const)('undici and devsh send the same for a $method', async (request) => {
  const { own, undici, requests } = await serve([`${OK}${LENGTH}\r\n[]`]);
  await outcomeOf(undici, request);
  await outcomeOf(own, request);
  const [expected, sent] = requests.map((text) => text.split('\r\n').toSorted());
  expect(sent).toEqual(expected);
});

test.each([
  ['a length', [`${OK}${LENGTH}\r\n[]`]],
  ['chunks', [`${OK}Transfer-Encoding: chunked\r\n\r\n`, '2\r\n[]\r\n0\r\n\r\n']],
])('responses with %s share one connection', async (_name, pieces) => {
  const { own, requests, sockets } = await serve(pieces);
  for (let count = 0; count < 3; count += 1) {
    expect(await outcomeOf(own)).toMatchObject({ head: { status: 200 }, body: '[]' });
  }
  expect(requests).toHaveLength(3);
  expect(sockets).toHaveLength(1);
  expect(own.isOpen).toBe(true);
});

test.each([
  ['says so', [`${OK}${LENGTH}Connection: close\r\n\r\n[]`], false],
  ['keeps it no time', [`${OK}${LENGTH}Keep-Alive: timeout=0\r\n\r\n[]`], false],
  ['ends it', [`${OK}${LENGTH}\r\n[]`], true],
  ['sends what nobody asked for', [`${OK}${LENGTH}\r\n[]`, `${OK}${LENGTH}\r\n{}`], false],
])('a device that %s gets the next read on a new connection', async (_name, pieces, ends) => {
  const { own, sockets } = await serve(pieces, ends);
  expect(await outcomeOf(own)).toMatchObject({ body: '[]' });
  await expect.poll(() => own.isOpen).toBe(false);
  expect(await outcomeOf(own)).toMatchObject({ body: '[]' });
  expect(sockets).toHaveLength(2);
});

test('a request that would not be one line per header is left to undici, which refuses it', async () => {
  const { own, requests } = await serve([`${OK}${LENGTH}\r\n[]`]);
  const refused = new Promise((_resolve, reject) => {
    const headers = { accept: 'x\r\nX-Injected: 1' };
    own.dispatch(
      { ...REQUEST, headers },
      {
        onRequestStart: () => undefined,
        onResponseError: (_controller, error) => {
          reject(error);
        },
      },
    );
  });
  await expect(refused).rejects.toThrow('invalid accept header');
  expect(requests).toEqual([]);
});
