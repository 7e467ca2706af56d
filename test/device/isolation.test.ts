import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { chooseRoute } from '../../src/device/route/route.ts';
import { Credential } from '../../src/device/credential.ts';
import { startHttpProxy } from './route/proxies.ts';
import { deviceAt, listen, serve, type TestServer } from './server.ts';

const USER = '{"uuid":"1","username":"bob"}';
const FIRST = Credential.token('first-device-secret');
const SECOND = Credential.basic('admin', 'second-device-secret');

/** Whatever of this request a secret could be in, decoded where it is base64. */
function everythingIn(server: TestServer): string {
  const text = JSON.stringify(server.requests);
  const encoded = [...text.matchAll(/Basic ([\w+/=]+)/g)].map(([, code = '']) => code);
  return [text, ...encoded.map((code) => Buffer.from(code, 'base64').toString())].join('\n');
}

test('each device gets its own credential, even if one proxy leads to both', async () => {
  const [one, two] = [await usersServer(), await usersServer()];
  const proxy = await startHttpProxy();
  const configured = { kind: 'proxy', proxy: `http://127.0.0.1:${proxy.port}` } as const;
  const route = chooseRoute({ host: '127.0.0.1', port: 443 }, configured, {});
  const first = deviceAt(one, { credential: FIRST, route });
  const second = deviceAt(two, { credential: SECOND, route });
  await Promise.all([first.list('user'), second.list('user'), first.list('user')]);
  await second.write({ method: 'DELETE', path: '/api/user/1/' });
  expect(everythingIn(one)).toContain('first-device-secret');
  expect(everythingIn(one)).not.toContain('second-device-secret');
  expect(everythingIn(two)).toContain('second-device-secret');
  expect(everythingIn(two)).not.toContain('first-device-secret');
  expect(proxy.received().toString('latin1')).not.toMatch(/device-secret|authorization/i);
});

test('what a device points to gets neither request nor credential, by redirect, link or cookie', async () => {
  const stranger = await usersServer();
  const strange = `https://127.0.0.1:${stranger.port}`;
  let plainRequests = 0;
  const plain = await listen(
    createServer((_request, response) => {
      plainRequests += 1;
      response.end('[]');
    }),
  );
  const pointed = [
    `${strange}/api/user/?page=2`,
    `http://127.0.0.1:${plain}/api/user/?page=2`,
    `//127.0.0.1:${stranger.port}/api/user/?page=2`,
    `https://x:y@127.0.0.1:${stranger.port}/api/user/?page=2`,
  ];
  for (const target of pointed) {
    const server = await serve((request, response) => {
      response.setHeader('set-cookie', `session=1; Domain=127.0.0.1; Path=/`);
      response.setHeader('link', `<${target}>; rel="next"`);
      response.setHeader('refresh', `0; url=${target}`);
      if (request.url === '/moved/') response.writeHead(307, { location: target }).end();
      else if (request.url?.includes('page=2')) response.end(`{"results":[],"next":null}`);
      else response.end(`{"results":[${USER}],"next":${JSON.stringify(target)}}`);
    });
    const device = deviceAt(server, { credential: FIRST });
    await device.list('user').catch(() => undefined);
    expect(await device.raw({ method: 'GET', path: '/moved/' })).toMatchObject({ status: 307 });
    await expect(device.write({ method: 'POST', path: '/moved/' })).rejects.toThrow('307');
    expect(server.requests.length).toBeGreaterThan(2);
    expect(everythingIn(server)).not.toMatch(/"cookie"/i);
  }
  expect(stranger.requests).toEqual([]);
  expect(plainRequests).toBe(0);
});

function usersServer(): Promise<TestServer> {
  return serve((_request, response) => {
    response.end(`[${USER}]`);
  });
}
