import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { deviceAt, serve, serveBytes } from './server.ts';
import { contention } from '../contention.ts';
import { rounds } from '../rounds.ts';

/** Blocks the event loop. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

const USERS = '[{"uuid":"1","username":"bob"}]';
const write = { method: 'POST', path: '/api/user/', form: [['uuid', 'null']] } as const;

test('sends its Accept headers, and returns no cookie', async () => {
  const server = await serve((_request, response) => {
    response.setHeader('set-cookie', 'session=1').end(USERS);
  });
  const device = deviceAt(server);
  await device.list('user');
  await device.list('user');
  expect(server.requests[1]?.headers).toMatchObject({
    accept: 'application/json, */*;q=0.1',
    'accept-language': 'en',
    'user-agent': 'devsh',
    authorization: `Basic ${Buffer.from('admin:hunter2secret').toString('base64')}`,
  });
  expect(server.requests[1]?.headers).not.toHaveProperty('cookie');
});

test('follows redirects of a read on the same device only, at most three times', async () => {
  const other = await serve((_request, response) => response.end(USERS));
  const server = await serve((request, response) => {
    const target: Record<string, string> = {
      '/api/user/': '/api/users/',
      '/api/users/': `https://127.0.0.1:${server.port}/v2/user/`,
      '/away/': `https://127.0.0.1:${other.port}/api/user/`,
      '/plain/': `http://127.0.0.1:${server.port}/api/user/`,
      '/loop/': '/loop/',
    };
    const location = target[request.url ?? ''];
    if (location === undefined) response.end(USERS);
    else response.writeHead(302, { location }).end();
  });
  const device = deviceAt(server);
  expect((await device.list('user')).records).toHaveLength(1);
  expect(server.requests.map(({ path }) => path)).toEqual([
    '/api/user/',
    '/api/users/',
    '/v2/user/',
  ]);
  for (const path of ['/away/', '/plain/', '/loop/']) {
    expect(await device.raw({ method: 'GET', path })).toMatchObject({ status: 302 });
  }
  expect(other.requests).toHaveLength(0);
  expect(server.requests.filter(({ path }) => path === '/loop/')).toHaveLength(4);
});

test.each([301, 302, 303, 307, 308])('a write is never sent on after a %i', async (status) => {
  const server = await serve((_request, response) => {
    response.writeHead(status, { location: '/api/v2/user/' }).end();
  });
  await expect(deviceAt(server).write(write)).rejects.toMatchObject({
    code: 'protocol',
    message: expect.stringContaining('/api/v2/user/') as string,
  });
  expect(server.requests).toHaveLength(1);
});

test.each([502, 503, 504])('a %i is temporary for a read and final for a write', async (status) => {
  const server = await serve((_request, response, count) => {
    if (count === 2) response.end(USERS);
    else response.writeHead(status).end('<title>Bad gateway</title>');
  });
  const device = deviceAt(server);
  expect((await device.list('user')).records).toHaveLength(1);
  await expect(device.write(write)).rejects.toMatchObject({ code: 'protocol', status });
  expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST']);
});

test('a read that must wait is sent again, after seconds or at a date', async () => {
  const server = await serve((_request, response, count) => {
    const date = new Date('2001-01-01T00:00:00Z');
    const until = new Date(date.getTime() + 1000).toUTCString();
    if (count === 1) response.writeHead(429, { 'retry-after': '0' }).end();
    else if (count === 2)
      response.writeHead(429, { 'retry-after': until, date: date.toUTCString() }).end();
    else response.end(USERS);
  });
  expect((await deviceAt(server).list('user')).records).toHaveLength(1);
  expect(server.requests).toHaveLength(3);
});

test.each([429, 503])('a read that a %i delays is not sent earlier', async (status) => {
  const times: number[] = [];
  const server = await serve((_request, response, count) => {
    times.push(performance.now());
    if (count === 1) response.writeHead(status, { 'retry-after': '0.6' }).end();
    else response.end(USERS);
  });
  expect((await deviceAt(server).list('user')).records).toHaveLength(1);
  const [first = 0, second = 0] = times;
  expect(times).toHaveLength(2);
  expect(second - first).toBeGreaterThanOrEqual(590);
});

test('a device that is busy for a hundred years is asked once, and its message is reported', async () => {
  const server = await serve((_request, response) => {
    response.writeHead(503, { 'retry-after': '3155760000' }).end();
  });
  await expect(deviceAt(server).list('user')).rejects.toMatchObject({
    code: 'protocol',
    message: expect.stringContaining('503; retry after 3155760000 s') as string,
  });
  expect(server.requests).toHaveLength(1);
});

test.each([
  ['0', 0],
  ['2.5', 2500],
  ['soon', undefined],
])(
  'a write that is told to wait "%s" is sent once, and the wait is told',
  async (after, waitMs) => {
    const server = await serve((_request, response) => {
      response.writeHead(429, { 'retry-after': after }).end();
    });
    await expect(deviceAt(server).write(write)).rejects.toMatchObject({
      code: 'rejected',
      status: 429,
      retryAfterMs: waitMs,
    });
    expect(server.requests).toHaveLength(1);
  },
);

test.each(['101', 'soon', ''])('a wait of "%s" is not waited for', async (retryAfter) => {
  const server = await serve((_request, response) => {
    response.writeHead(429, { 'retry-after': retryAfter }).end('{"detail":"slow down"}');
  });
  await expect(deviceAt(server).list('user')).rejects.toMatchObject({
    code: 'rejected',
    status: 429,
  });
  expect(server.requests).toHaveLength(1);
});

test('the wait that a device asks for before a read is reported', async () => {
  const server = await serve((_request, response, count) => {
    if (count === 1) response.writeHead(429, { 'retry-after': '1' }).end();
    else response.setHeader('content-type', 'application/json').end('[]');
  });
  const notices: string[] = [];
  await deviceAt(server, { notice: (text) => notices.push(text) }).list('user');
  expect(notices).toEqual(['fw1 requests a wait of 1 s']);
});

test('reads all pages, from this device only, whatever host they name', async () => {
  const server = await serve((request, response) => {
    const page = Number(new URL(request.url ?? '', 'https://h').searchParams.get('page') ?? 1);
    const next = page < 3 ? `http://inner.invalid/api/user/?page=${page + 1}` : null;
    response.end(JSON.stringify({ count: 3, next, results: [{ uuid: String(page) }] }));
  });
  expect((await deviceAt(server).list('user')).records).toEqual([
    { uuid: '1' },
    { uuid: '2' },
    { uuid: '3' },
  ]);
});

function pageOf(url = ''): number {
  return Number(/page=(\d+)/.exec(url)?.[1] ?? 1);
}

test.each([
  ['in a circle', '/api/user/?page=2', 'loop'],
  ['without end', undefined, '1000 pages'],
  ['of another list', '/api/token/', 'at another address'],
])('pages %s are an error, not a part of the records', async (_title, next, why) => {
  const server = await serve(({ url }, response) => {
    const page = pageOf(url);
    response.end(JSON.stringify({ next: next ?? `?page=${page + 1}`, results: [{ uuid: page }] }));
  });
  await expect(deviceAt(server).list('user')).rejects.toThrow(why);
});

test('pages that repeat are read again, and then are an error', async () => {
  const server = await serve((_request, response, count) => {
    response.end(JSON.stringify({ next: `?page=${count}x`, results: [{ uuid: '1' }] }));
  });
  await expect(deviceAt(server).list('user')).rejects.toThrow('or repeats them');
  expect(server.requests).toHaveLength(6);
});

test('pages that come slowly and without end are given up', async () => {
  const server = await serve(({ url }, response) => {
    const page = pageOf(url);
    const body = JSON.stringify({ next: `?page=${page + 1}`, results: [{ uuid: page }] });
    setTimeout(() => response.end(body), 50);
  });
  const device = deviceAt(server, { timeoutMs: 200 });
  await expect(device.list('user')).rejects.toThrow('does not end');
  expect(server.requests.length).toBeLessThan(60);
});

test('a list that is shorter than its count is an error', async () => {
  const server = await serve((_request, response) => {
    response.end('{"count": 2, "next": null, "results": [{"uuid": "1"}]}');
  });
  await expect(deviceAt(server).list('user')).rejects.toThrow('reports 2 records');
});

test.each([
  ['gzip', gzipSync(USERS)],
  ['deflate', deflateSync(USERS)],
  ['deflate', deflateRawSync(USERS)],
  ['br', brotliCompressSync(USERS)],
  ['identity', Buffer.from(USERS)],
])('reads %s although it did not ask for it', async (encoding, body) => {
  const server = await serve((_request, response) => {
    response.setHeader('content-encoding', encoding).end(body);
  });
  expect((await deviceAt(server).list('user')).records).toHaveLength(1);
});

test.each([
  ['a bomb', 'gzip', gzipSync(Buffer.alloc(3_000_000)), 'too large'],
  ['broken data', 'gzip', Buffer.from('no gzip'), 'gzip data is broken'],
  ['an unknown encoding', 'zstd', Buffer.from(USERS), 'zstd data is broken, or of a kind'],
])('%s is refused', async (_title, encoding, body, why) => {
  const server = await serve((_request, response) => {
    response.setHeader('content-encoding', encoding).end(body);
  });
  const device = deviceAt(server, { maxBodyBytes: 1_000_000 });
  await expect(device.list('user')).rejects.toThrow(why);
  expect(server.requests).toHaveLength(1);
});

test('a body over the limit is refused at once, announced or not', async () => {
  const server = await serve((request, response) => {
    if (request.url === '/announced/') response.setHeader('content-length', 2_000_000);
    response.write(Buffer.alloc(1_100_000, ' '));
  });
  const device = deviceAt(server, { maxBodyBytes: 1_000_000 });
  for (const path of ['/announced/', '/endless/']) {
    await expect(device.raw({ method: 'GET', path })).rejects.toMatchObject({ code: 'protocol' });
  }
});

test.each([
  ['application/json; charset=ISO-8859-1', Buffer.from('[{"uuid":"1","name":"Jürgen"}]', 'latin1')],
  ['application/json; charset=utf-8', Buffer.from('\ufeff[{"uuid":"1","name":"Jürgen"}]')],
  ['text/plain', Buffer.from('[{"uuid":"1","name":"Jürgen"}]')],
])('reads the characters of %s', async (type, body) => {
  const server = await serve((_request, response) => {
    response.setHeader('content-type', type).end(body);
  });
  expect((await deviceAt(server).list('user')).records[0]).toMatchObject({ name: 'Jürgen' });
});

test.each([
  ['whole JSON', USERS, true],
  ['JSON that is cut', '[{"uuid":"1"', false],
  ['nothing', '', false],
  ['text that may be cut', 'uuid=1\nusername=bo', false],
])(
  '%s without a length is taken only when it is certainly whole',
  async (_title, body, isTaken) => {
    const server = await serveBytes((socket) => {
      socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${body}`);
    });
    const listing = deviceAt(server).list('user');
    if (isTaken) expect((await listing).records).toHaveLength(1);
    else await expect(listing).rejects.toMatchObject({ code: 'unreachable', mayHaveArrived: true });
  },
);

test.each([
  [
    'cut by the end of the connection',
    'HTTP/1.1 201 Created\r\nContent-Length: 50\r\n\r\n{"uuid"',
    'unreachable',
  ],
  [
    'cut within a chunk',
    'HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{"uuid"',
    'unreachable',
  ],
  [
    'cut before its last chunk',
    'HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n',
    'unreachable',
  ],
  ['missing', '', 'unreachable'],
  ['cut in its head', 'HTTP/1.1 201 Cre', 'unreachable'],
  [
    'garbage in a chunk',
    'HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}',
    'protocol',
  ],
  ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'protocol'],
  ['all head', `HTTP/1.1 200 OK\r\n${`X-A: ${'a'.repeat(1000)}\r\n`.repeat(100)}\r\n`, 'protocol'],
])(
  'an answer to a write that is %s: sent once, and never taken for a yes',
  async (_title, bytes, code) => {
    const server = await serveBytes((socket) => {
      socket.end(bytes);
    });
    await expect(deviceAt(server).write(write)).rejects.toMatchObject({ code });
    expect(server.count()).toBe(1);
  },
);

test.each([
  ['without a length', 'HTTP/1.1 201 Created\r\n\r\n{"uuid"'],
  ['in chunks', 'HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{"uuid"'],
  ['cut in its head', 'HTTP/1.1 201 Cre'],
])('a write whose response breaks off %s is sent once', async (_title, bytes) => {
  const server = await serveBytes((socket) => {
    socket.write(bytes, () => socket.destroy());
  });
  await expect(deviceAt(server).write(write)).rejects.toMatchObject({
    code: 'unreachable',
    mayHaveArrived: true,
  });
  expect(server.count()).toBe(1);
});

test('one byte at a time does not extend the deadline', async () => {
  const server = await serveBytes((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n');
    const timer = setInterval(() => socket.write(' '), 20);
    socket.on('close', () => {
      clearInterval(timer);
    });
  });
  const startedAt = performance.now();
  const listing = deviceAt(server, { timeoutMs: 300 }).list('user');
  await expect(listing).rejects.toThrow('no complete response within 0.3 s');
  expect(performance.now() - startedAt).toBeLessThan(1500 * contention());
});

/** A list in pieces of this size, one every 40 ms; endless if undefined. */
function inPieces(size: number, text?: string): ReturnType<typeof serveBytes> {
  return serveBytes((socket) => {
    const length = text === undefined ? 1e9 : Buffer.byteLength(text);
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`);
    let sent = 0;
    const timer = setInterval(() => {
      socket.write(text === undefined ? ' '.repeat(size) : text.slice(sent, sent + size));
      sent += size;
      if (text !== undefined && sent >= length) clearInterval(timer);
    }, 40);
    socket.on('close', () => {
      clearInterval(timer);
    });
  });
}

test('a list that keeps arriving is read to the end', async () => {
  const users = Array.from({ length: 400 }, (_, index) => ({
    uuid: `id-${index}`,
    note: 'x'.repeat(40),
  }));
  const server = await inPieces(2048, JSON.stringify(users));
  const startedAt = performance.now();
  const listing = await deviceAt(server, { timeoutMs: 200 }).list('user');
  expect(listing.records).toHaveLength(400);
  expect(performance.now() - startedAt).toBeGreaterThan(400);
});

test('a list that stops arriving ends within the limit, and so does an endless one', async () => {
  const users = JSON.stringify([{ uuid: 'x'.repeat(8000) }]);
  const silent = await serveBytes((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n${users}`);
  });
  const timeoutMs = 200;
  await expect(deviceAt(silent, { timeoutMs }).list('user')).rejects.toThrow(
    'no more data within 0.2 s',
  );
  const endless = await inPieces(2048);
  const startedAt = performance.now();
  await expect(deviceAt(endless, { timeoutMs, maxBodyBytes: 2e9 }).list('user')).rejects.toThrow(
    'no complete response within 2 s',
  );
  expect(performance.now() - startedAt).toBeLessThan(4000 * contention());
});

test('a response that arrived while devsh itself was busy is in time', async () => {
  const server = await serve((_request, response) => {
    response.end(USERS);
    block(700);
  });
  const listing = await deviceAt(server, { timeoutMs: 300 }).list('user');
  expect(listing.records).toHaveLength(1);
});

test('a device that does not respond times out even if devsh is busy now and then', async () => {
  const server = await serveBytes(() => undefined);
  const busy = setInterval(() => {
    block(120);
  }, 200);
  const startedAt = performance.now();
  const listing = deviceAt(server, { timeoutMs: 300 }).list('user');
  await expect(listing).rejects.toThrow('no complete response within 0.3 s');
  clearInterval(busy);
  expect(performance.now() - startedAt).toBeLessThan(3000 * contention());
});

test('endless provisional responses do not extend the deadline', async () => {
  const server = await serveBytes((socket) => {
    const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 20);
    socket.on('close', () => {
      clearInterval(timer);
    });
  });
  const listing = deviceAt(server, { timeoutMs: 300 }).list('user');
  await expect(listing).rejects.toMatchObject({ code: 'unreachable' });
});

test('a write does not reuse a connection of the reads', async () => {
  const ports = new Set<number | undefined>();
  const server = await serve((request, response) => {
    ports.add(request.socket.remotePort);
    response.end(USERS);
  });
  const device = deviceAt(server);
  await device.list('user');
  await device.write(write);
  await device.write(write);
  expect(ports.size).toBe(3);
});

test('reads use at most two connections', async () => {
  const ports = new Set<number | undefined>();
  const server = await serve((request, response) => {
    ports.add(request.socket.remotePort);
    response.end(USERS);
  });
  const device = deviceAt(server);
  await Promise.all(Array.from({ length: 8 }, () => device.list('user')));
  expect(ports.size).toBeLessThanOrEqual(2);
});

test('a slow read does not delay others while a connection is free', async () => {
  const answers: (() => void)[] = [];
  const server = await serve((request, response) => {
    if (request.url === '/slow') answers.push(() => response.end(USERS));
    else response.end(USERS);
  });
  const device = deviceAt(server);
  const get = (path: string) => device.raw({ method: 'GET', path });
  const slow = get('/slow');
  // Behind the slow one these would never end.
  await Promise.all(['/a', '/b', '/c', '/d'].map(get));
  for (const answer of answers) answer();
  expect(await slow).toMatchObject({ status: 200 });
});

test('a read that waits for a connection can be cancelled, and closing ends it', async () => {
  const server = await serve(() => undefined);
  const device = deviceAt(server);
  const stop = new AbortController();
  const get = (signal?: AbortSignal) => device.raw({ method: 'GET', path: '/' }, signal);
  const stuck = Promise.allSettled([get(), get()]);
  const cancelled = get(stop.signal);
  const ended = get();
  stop.abort();
  await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' });
  await device.close();
  await expect(ended).rejects.toThrow();
  expect((await stuck).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('a closed device gets no more requests', async () => {
  const server = await serve((_request, response) => response.end(USERS));
  const device = deviceAt(server);
  await device.close();
  await expect(device.list('user')).rejects.toMatchObject({ code: 'cancelled' });
  expect(server.requests).toHaveLength(0);
});

test('a write that was cancelled after it was sent may have arrived', async () => {
  const controller = new AbortController();
  const server = await serve(() => {
    controller.abort();
  });
  const writing = deviceAt(server).write(write, controller.signal);
  await expect(writing).rejects.toMatchObject({ code: 'unreachable', mayHaveArrived: true });
  await expect(deviceAt(server).write(write, controller.signal)).rejects.toMatchObject({
    code: 'cancelled',
  });
  expect(server.requests).toHaveLength(1);
});

test('closing ends a read that is under way', async () => {
  const server = await serve(() => undefined);
  const device = deviceAt(server);
  const listing = device.list('user').catch((error: unknown) => error);
  await expect.poll(() => server.requests.length).toBe(1);
  await device.close();
  expect(await listing).toMatchObject({ code: 'unreachable' });
});

test.each([
  ['in a refusal', 400, (body: string) => JSON.stringify({ detail: body, password: ['nöt"g00d'] })],
  ['in a page', 500, (body: string) => `<h1>${body}</h1> ${'x'.repeat(160)} nöt"g00d`],
  ['with a good status', 200, (body: string) => JSON.stringify({ status: 'error', message: body })],
])('a new password that the device echoes %s is not repeated', async (_title, status, text) => {
  const server = await serve((_request, response) => {
    response.writeHead(status).end(text('password=n%C3%B6t%22g00d'));
  });
  const form = [
    ['username', 'carol'],
    ['password', 'nöt"g00d'],
  ] as const;
  const error: unknown = await deviceAt(server)
    .write({ ...write, form })
    .catch((failure: unknown) => failure);
  expect(String(error) + JSON.stringify(error)).toContain('password=***');
  expect(String(error) + JSON.stringify(error)).not.toMatch(/g00d/);
});

test('a secret that the device echoes is not repeated', async () => {
  const server = await serve((_request, response) => {
    response.writeHead(400).end('{"detail": "bad password hunter2secret"}');
  });
  const error: unknown = await deviceAt(server)
    .list('user')
    .catch((failure: unknown) => failure);
  expect(String(error)).toContain('bad password ***');
  expect(JSON.stringify(error)).not.toContain('hunter2secret');
});

test('the latency is the time of the device, without the wait for a connection', async () => {
  const server = await serve((_request, response) => {
    setTimeout(() => response.end(USERS), 100);
  });
  const device = deviceAt(server);
  // A busy machine makes it longer, and time in which this process was blocked does not count.
  await vi.waitFor(async () => {
    await Promise.all([device.list('user'), device.list('user'), device.list('user')]);
    expect(device.latencyMs).toBeGreaterThanOrEqual(95);
    expect(device.latencyMs).toBeLessThan(200);
  }, 20_000);
});

test('a read ends after ten times its time limit, whatever the device asks for', async () => {
  const asks = fc.record({
    status: fc.constantFrom(429, 503),
    after: fc.oneof(fc.double({ min: 0, max: 0.5, noNaN: true }), fc.integer({ min: 1, max: 100 })),
    delayMs: fc.integer({ min: 0, max: 40 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(asks, { minLength: 1, maxLength: 6 }), async (all) => {
      const server = await serve((_request, response, count) => {
        const { status = 429, after = 0, delayMs = 0 } = all[(count - 1) % all.length] ?? {};
        setTimeout(
          () => response.writeHead(status, { 'retry-after': String(after) }).end(),
          delayMs,
        );
      });
      const from = performance.now();
      await expect(deviceAt(server, { timeoutMs: 50 }).list('user')).rejects.toThrow();
      expect(performance.now() - from).toBeLessThan(500 + 400);
    }),
    { numRuns: rounds(100) },
  );
});
