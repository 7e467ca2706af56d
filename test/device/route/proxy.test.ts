import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { chooseRoute, type Route } from '../../../src/device/route/route.ts';
import type { ClientOptions } from '../../../src/device/client.ts';
import type { Device } from '../../../src/device/device.ts';
import { certificateFor, deviceAt, listen, serve, type TestServer } from '../server.ts';
import { startHttpProxy, startLiar, startSocksProxy } from './proxies.ts';
import { contention } from '../../contention.ts';

const LOGIN = { user: 'jane', password: 'pr:oxy@secret/1' };
const ESCAPED = `jane:${encodeURIComponent(LOGIN.password)}`;
const SOMEWHERE = { host: '192.0.2.7', port: 443 };

/** As the environment asks for it. */
function routeBy(url: string): Route {
  return chooseRoute(SOMEWHERE, undefined, { HTTPS_PROXY: url });
}

function usersServer(): Promise<TestServer> {
  return serve((_request, response) => response.end('[{"uuid":"1","username":"bob"}]'));
}

function deviceBy(
  url: string,
  server: { port: number },
  options: Partial<ClientOptions> = {},
): Device {
  return deviceAt(server, { route: routeBy(url), ...options });
}

const kinds = [
  { scheme: 'http', start: startHttpProxy },
  { scheme: 'socks5', start: startSocksProxy },
  { scheme: 'socks5h', start: startSocksProxy },
] as const;

describe.each(kinds)('by $scheme', ({ scheme, start }) => {
  test('a device is read and written, and the proxy sees neither request nor credential', async () => {
    const server = await usersServer();
    const proxy = await start();
    const device = deviceBy(`${scheme}://127.0.0.1:${proxy.port}`, server);
    expect((await device.list('user')).records).toHaveLength(1);
    await device.write({ method: 'DELETE', path: '/api/user/1/' });
    expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'DELETE']);
    expect(proxy.targets).toEqual([`127.0.0.1:${server.port}`, `127.0.0.1:${server.port}`]);
    const seen = proxy.received().toString('latin1');
    for (const secret of ['hunter2secret', 'YWRtaW46', 'authorization', '/api/user/']) {
      expect(seen.toLowerCase()).not.toContain(secret.toLowerCase());
    }
  });

  test('a proxy that leads to another device gets no request sent', async () => {
    const server = await usersServer();
    const other = await serve((_request, response) => response.end('[]'));
    const proxy = await start({ leadsTo: other.port });
    const device = deviceBy(`${scheme}://127.0.0.1:${proxy.port}`, server);
    await expect(device.list('user')).rejects.toMatchObject({
      code: 'untrusted',
      reason: 'changed',
    });
    expect([...server.requests, ...other.requests]).toEqual([]);
  });

  test('the login of the URL is used, and a wrong one is reported without it', async () => {
    const server = await usersServer();
    const proxy = await start({ login: LOGIN });
    const device = deviceBy(`${scheme}://${ESCAPED}@127.0.0.1:${proxy.port}`, server);
    expect((await device.list('user')).records).toHaveLength(1);
    const wrong = deviceBy(`${scheme}://jane:wrong-secret@127.0.0.1:${proxy.port}`, server);
    const error: unknown = await wrong.list('user').catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: 'unreachable', exitCode: 5, mayHaveArrived: false });
    expect(String(error)).toContain('rejects the login');
    expect(JSON.stringify(error) + String(error)).not.toContain('wrong-secret');
    const without = deviceBy(`${scheme}://127.0.0.1:${proxy.port}`, server);
    await expect(without.list('user')).rejects.toThrow(/fw1: the proxy .* requires a login/);
    expect(server.requests).toHaveLength(1);
  });

  test('a device that the proxy cannot reach is distinguished from a proxy that is down', async () => {
    const proxy = await start();
    const free = await freePort();
    const url = `${scheme}://127.0.0.1:${proxy.port}`;
    await expect(deviceBy(url, { port: free }).list('user')).rejects.toThrow(
      new RegExp(
        `fw1: the proxy ${scheme}://127.0.0.1:${proxy.port} \\(HTTPS_PROXY\\) .*127.0.0.1:${free}`,
      ),
    );
    await expect(
      deviceBy(`${scheme}://127.0.0.1:${free}`, { port: 1 }).list('user'),
    ).rejects.toMatchObject({
      code: 'unreachable',
      mayHaveArrived: false,
      message: `fw1: the proxy ${scheme}://127.0.0.1:${free} (HTTPS_PROXY) refuses the connection; devsh did not try the device. Check HTTPS_PROXY, or add the device to NO_PROXY`,
    });
  });

  test('a proxy that never responds times out like a connection', async () => {
    const silent = await listen(createServer(() => undefined));
    const device = deviceBy(
      `${scheme}://127.0.0.1:${silent}`,
      { port: 4 },
      { connectTimeoutMs: 150 },
    );
    const startedAt = performance.now();
    await expect(device.write({ method: 'DELETE', path: '/api/user/1/' })).rejects.toMatchObject({
      mayHaveArrived: false,
      message: expect.stringMatching(
        /the proxy .* made no connection to 127\.0\.0\.1:4 in time/,
      ) as string,
    });
    expect(performance.now() - startedAt).toBeLessThan(1500 * contention());
  });

  test('cancelling ends a connection through a proxy at once', async () => {
    const silent = await listen(createServer(() => undefined));
    const device = deviceBy(`${scheme}://127.0.0.1:${silent}`, { port: 4 });
    const signal = AbortSignal.timeout(50);
    const writing = device.write({ method: 'DELETE', path: '/api/user/1/' }, signal);
    await expect(writing).rejects.toMatchObject({ code: 'cancelled' });
  });
});

test('the name of a device goes to the proxy as a name, and into TLS', async () => {
  const certificate = certificateFor([], ['fw1.example.net']);
  const server = await serve((_request, response) => response.end('[]'), certificate);
  for (const start of [startHttpProxy, startSocksProxy]) {
    const proxy = await start({ leadsTo: server.port });
    const scheme = start === startHttpProxy ? 'http' : 'socks5h';
    const device = deviceBy(`${scheme}://127.0.0.1:${proxy.port}`, server, {
      address: { host: 'fw1.example.net', port: 8443 },
      trust: { kind: 'ca', pem: certificate.cert, file: 'ca.pem' },
    });
    expect((await device.list('user')).records).toEqual([]);
    expect(proxy.targets).toEqual(['fw1.example.net:8443']);
  }
});

test('socks5 resolves names here: one that does not is the fault of the device', async () => {
  const proxy = await startSocksProxy();
  const device = deviceBy(
    `socks5://127.0.0.1:${proxy.port}`,
    { port: 1 },
    {
      address: { host: 'fw1.invalid', port: 443 },
    },
  );
  await expect(device.list('user')).rejects.toThrow(/the name of .* does not resolve/);
  expect(proxy.targets).toEqual([]);
});

const HTTP_LIES: [title: string, answer: string | Buffer, words: RegExp][] = [
  ['forbids it', 'HTTP/1.1 403 Forbidden\r\n\r\n<html>', /returned 403: it does not allow/],
  [
    'forbids it at length',
    `HTTP/1.1 403 No\r\n\r\n${'x'.repeat(60_000)}`,
    /returned 403: it does not allow/,
  ],
  ['fails', 'HTTP/1.1 500 Oops\r\n\r\n', /returned 500 for/],
  ['has no way', 'HTTP/1.1 504 Gateway Timeout\r\n\r\n', /returned 504: it cannot reach/],
  ['is a web server', '<!doctype html><title>Hello</title>', /did not respond in HTTP/],
  ['has a broken status', 'HTTP/1.1 OK\r\n\r\n', /did not respond in HTTP/],
  ['redirects', 'HTTP/1.1 302 Found\r\nLocation: http://evil/\r\n\r\n', /returned 302 for/],
  ['speaks for the device', 'HTTP/1.1 200 OK\r\n\r\n\x16\x03\x03', /before TLS began/],
  [
    'has headers without end',
    `HTTP/1.1 200 OK\r\n${'X-A: b\r\n'.repeat(9000)}`,
    /too long for a proxy/,
  ],
  ['hangs up', '', /closed the connection before its reply was complete/],
  ['hangs up in the middle', 'HTTP/1.1 200 OK\r\nX-', /closed the connection before its reply/],
  [
    'colours its reason',
    'HTTP/1.1 403 \x1b[31m red\x9b\r\n\r\n',
    /returned 403: it does not allow connections to \S+$/,
  ],
];
const SOCKS_LIES: [title: string, answer: Buffer, words: RegExp][] = [
  [
    'speaks HTTP',
    Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
    /reports: Invalid SOCKS version: 72/,
  ],
  ['is SOCKS4', Buffer.from([4, 0]), /reports: Invalid SOCKS version: 4/],
  ['wants a login', Buffer.from([5, 0xff]), /requires a login/],
  ['wants Kerberos', Buffer.from([5, 1]), /Unsupported authentication method/],
  ['says too much', Buffer.from([5, 0, 5, 0, 0, 1]), /before its reply was complete/],
  ['hangs up', Buffer.from([5]), /closed the connection before its reply was complete/],
];

test.each([
  ...HTTP_LIES.map((lie) => ['http', ...lie] as const),
  ...SOCKS_LIES.map((lie) => ['socks5h', ...lie] as const),
])('an %s proxy that %s', async (scheme, _title, answer, words) => {
  const server = await usersServer();
  const { port } = await startLiar((socket) => socket.end(answer));
  const device = deviceBy(`${scheme}://127.0.0.1:${port}`, server);
  const error: unknown = await device.list('user').catch((failure: unknown) => failure);
  expect(error).toMatchObject({ code: 'unreachable', exitCode: 5, mayHaveArrived: false });
  expect(String(error)).toMatch(words);
  expect(String(error)).toContain(`fw1: the proxy ${scheme}://127.0.0.1:${port} (HTTPS_PROXY)`);
  expect(server.requests).toEqual([]);
});

test.each<[title: string, reply: number[], words: RegExp]>([
  ['is told no', [5, 2, 0, 1, 0, 0, 0, 0, 0, 0], /reports: .*not allowed.* \(127\.0\.0\.1:443\)/],
  ['is told of no route', [5, 4, 0, 1, 0, 0, 0, 0, 0, 0], /reports: .*Host unreachable/],
  ['is told a riddle', [5, 99, 0, 1, 0, 0, 0, 0, 0, 0], /Unknown error code: 99/],
  ['gets another version', [4, 0, 0, 1], /Invalid SOCKS version/],
  ['gets an unknown address', [5, 0, 0, 9, 1, 1], /Invalid address type/],
  ['gets half a reply', [5, 0, 0, 3, 200, 65, 65], /before its reply was complete/],
])('a request to a SOCKS5 proxy %s', async (_title, reply, words) => {
  const { port } = await startLiar((socket) => {
    socket.once('data', () => socket.end(Buffer.from(reply)));
    socket.write(Buffer.from([5, 0]));
  });
  const device = deviceBy(`socks5h://127.0.0.1:${port}`, { port: 443 });
  await expect(device.list('user')).rejects.toThrow(words);
});

test('a proxy that trickles its reply times out, and the error has no password', async () => {
  const { port } = await startLiar((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write('X: y\r\n'), 20);
    socket.once('close', () => {
      clearInterval(timer);
    });
  });
  const device = deviceBy(`http://127.0.0.1:${port}`, { port: 443 }, { connectTimeoutMs: 200 });
  await expect(device.list('user')).rejects.toThrow(/in time/);

  const echo = await startLiar((socket) => {
    socket.end('HTTP/1.1 407 not pr:oxy@secret/1\r\n\r\n');
  });
  const told = deviceBy(`http://${ESCAPED}@127.0.0.1:${echo.port}`, { port: 443 }).list('user');
  await expect(told).rejects.toThrow('returned 407: it rejects the login');
});

test('a port without TLS is reported with its route', async () => {
  const proxy = await startHttpProxy();
  const plain = await listen(
    createServer((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 No'))),
  );
  const device = deviceBy(`http://127.0.0.1:${proxy.port}`, { port: plain });
  await expect(device.list('user')).rejects.toThrow(
    `through the proxy http://127.0.0.1:${proxy.port}`,
  );
});

test('an HTTPS proxy must have a certificate that the system trusts', async () => {
  const proxy = await serve((_request, response) => response.end());
  const device = deviceBy(`https://127.0.0.1:${proxy.port}`, { port: 443 });
  await expect(device.list('user')).rejects.toThrow(/the proxy https:\/\/.* has no trusted TLS/);
  expect(proxy.requests).toEqual([]);
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
