import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { certificateFor, serve, serveBytes, type TestServer } from '../device/server.ts';
import { startHttpProxy } from '../device/route/proxies.ts';
import { makeDevsh, startFleet } from '../main/devsh.ts';
import { connect, simulate } from '../pty/devsh.ts';
import { Canaries } from './canaries.ts';

const USERS = JSON.stringify([{ uuid: '1', username: 'bob', first_name: 'Bob', lang: 'de' }]);

/** A line for each kind of request. */
const LINES = [
  'user list',
  'user add username=zoe lang=de --yes',
  'user set bob lang=fr --yes',
  'user delete bob --yes',
  'get /api/user/',
  'post /api/user/ username=zoe --yes',
  'delete /api/user/1/ --yes',
  'resources',
  'learn',
  'login --check',
  'doctor',
] as const;

test('No byte of HTTP goes to a device whose certificate is not trusted.', async () => {
  const server = await serveBytes((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'));
  const env = { DEVSH_USER: 'admin', DEVSH_PASSWORD: 'admin-secret' };
  const [unknown, pinned] = [await makeDevsh(env), await makeDevsh(env)];
  const address = `127.0.0.1:${server.port}`;
  await pinned(['trust', 'accept', address, '--fingerprint', 'AB'.repeat(32)]);
  const ca = join(unknown.folder, 'other-ca.pem');
  await writeFile(ca, certificateFor(['127.0.0.1']).cert);
  for (const line of LINES) {
    const words = [...line.split(' '), '--on', address, '--timeout', '2'];
    for (const run of [
      await unknown(words),
      await pinned(words),
      await unknown([...words, '--ca', ca]),
    ]) {
      expect([line, run.exitCode !== 0]).toEqual([line, true]);
      expect(run.stderr + run.stdout).toMatch(/certificate|fingerprint|trust/i);
    }
  }
  await unknown(['connect', address]);
  await pinned(['connect', address]);
  await unknown(['trust', 'scan', address]);
  expect(server.count()).toBe(0);
});

test('A certificate that changes ends the session before another byte is sent.', async () => {
  const simulator = await simulate({ devices: 2 });
  const [first, second] = simulator.devices;
  const program = await connect(simulator);
  await program.waitFor('connected to 2 devices');
  first?.setFault('certificate-change');
  const before = first?.log.length;
  const others = second?.log.length ?? 0;
  program.type('user list\r');
  await program.waitFor('THE CERTIFICATE HAS CHANGED');
  program.type('user add username=zoe lang=de --yes\r');
  program.type('get /api/user/\r');
  await expect.poll(() => (second?.log.length ?? 0) > others + 1).toBe(true);
  expect(first?.log).toHaveLength(before ?? 0);
});

test('A credential goes to the device that it belongs to, and nowhere else.', async () => {
  const canaries = new Canaries();
  const stranger = await listing('');
  const elsewhere = `https://127.0.0.1:${stranger.port}/api/user/?page=2`;
  const servers = { one: await listing(elsewhere), two: await listing(elsewhere) };
  const proxy = await startHttpProxy();
  const devsh = await makeDevsh({ PATH: process.env['PATH'] ?? '' });
  const lines = ['devices:'];
  for (const [name, { port, certificate }] of Object.entries(servers)) {
    const secret = canaries.makePlain(name);
    lines.push(
      `  - {name: ${name}, address: "127.0.0.1:${port}", groups: [lab],`,
      `     proxy: "http://127.0.0.1:${proxy.port}",`,
      `     credential_command: [printf, "username=admin\\npassword=${secret}\\n"]}`,
    );
    const address = `127.0.0.1:${port}`;
    await devsh(['trust', 'accept', address, '--fingerprint', certificate.fingerprint]);
  }
  await devsh(['device', 'add', 'x', '10.9.9.9']);
  await writeFile(join(devsh.folder, 'config/devsh/devices.yaml'), `${lines.join('\n')}\n`);
  for (const line of [...LINES, 'get /moved/', 'post /moved/ a=b --yes']) {
    await devsh([...line.split(' '), '--on', '@lab', '--timeout', '2']);
  }
  const heard = (server: TestServer): string => {
    const text = JSON.stringify(server.requests);
    const basic = [...text.matchAll(/Basic ([\w+/=]+)/g)].map(([, code = '']) => code);
    return basic.map((code) => Buffer.from(code, 'base64').toString()).join('\n') + text;
  };
  expect(stranger.requests).toEqual([]);
  expect(canaries.foundIn(heard(servers.one))).toEqual(['one (plain)', 'one (base64)']);
  expect(canaries.foundIn(heard(servers.two))).toEqual(['two (plain)', 'two (base64)']);
  expect(new Set(proxy.targets).size).toBe(2);
  expect(canaries.foundIn(proxy.received())).toEqual([]);
});

test('No cookie is ever sent back, except that of a session to its own device.', async () => {
  const elsewhere = await listing('');
  const own = await serve((request, response) => {
    response.setHeader('set-cookie', ['sid=5ess10n; Path=/', 'csrftoken=2', 'theme=dark']);
    const isMoved = request.url === '/moved/';
    const location = `https://127.0.0.1:${elsewhere.port}/api/user/`;
    if (isMoved) response.writeHead(307, { location });
    response.end(request.method === 'GET' && !isMoved ? USERS : '{}');
  });
  const withSession = await makeDevsh({ DEVSH_USER: 'admin', DEVSH_PASSWORD: 'admin-secret' });
  await withSession(['device', 'add', 'own', `127.0.0.1:${own.port}`]);
  await withSession(['profile', 'set', 'own', 'auth.login.path=/login', 'auth.login.cookie=sid']);
  for (const { port, certificate } of [own, elsewhere]) {
    const pin = ['--fingerprint', certificate.fingerprint];
    await withSession(['trust', 'accept', `127.0.0.1:${port}`, ...pin]);
  }
  for (const line of [...LINES, 'get /moved/'])
    await withSession([...line.split(' '), '--on', 'own']);
  const inSession = own.requests.filter(({ path }) => path !== '/login');
  expect(inSession.length).toBeGreaterThan(LINES.length);
  expect(new Set(inSession.map(({ headers }) => headers.cookie))).toEqual(new Set(['sid=5ess10n']));
  const logins = own.requests.filter(({ path }) => path === '/login');
  expect(logins.filter(({ headers }) => 'cookie' in headers)).toEqual([]);
  expect(elsewhere.requests).toEqual([]);

  const server = await listing('');
  const devsh = await makeDevsh({ DEVSH_TOKEN: 'abcdefgh' });
  const address = `127.0.0.1:${server.port}`;
  await devsh(['trust', 'accept', address, '--fingerprint', server.certificate.fingerprint]);
  const typed = `user list\nuser add username=zoe --yes\nget /moved/\nuser list\n`;
  await devsh(['connect', address], { stdin: typed });
  for (const line of LINES) await devsh([...line.split(' '), '--on', address]);
  expect(server.requests.length).toBeGreaterThan(LINES.length);
  expect(server.requests.filter(({ headers }) => 'cookie' in headers)).toEqual([]);
});

test('A login that two devices have refused goes to no further one.', async () => {
  for (const line of LINES.slice(0, 6)) {
    const { devsh, devices } = await startFleet({
      devices: 4,
      env: { DEVSH_USER: 'admin', DEVSH_PASSWORD: 'wrong' },
    });
    await devsh([...line.split(' '), '--on', '@lab', '--concurrency', '5']);
    const asked = devices.filter(({ log }) => log.some((one) => one.authorization !== 'none'));
    expect([line, asked.length <= 2]).toEqual([line, true]);
    for (const { log } of asked) {
      expect([line, log.filter((one) => one.authorization !== 'none').length]).toEqual([line, 1]);
    }
  }
});

/** A device that sets cookies in each response, and links to `elsewhere` in every way. */
function listing(elsewhere: string): Promise<TestServer> {
  return serve((request, response) => {
    response.setHeader('set-cookie', ['session=1; Path=/', 'csrftoken=2; Domain=127.0.0.1']);
    if (elsewhere !== '') {
      response.setHeader('link', `<${elsewhere}>; rel="next"`);
      response.setHeader('refresh', `0; url=${elsewhere}`);
    }
    const isMoved = request.url === '/moved/' && elsewhere !== '';
    if (isMoved) response.writeHead(307, { location: elsewhere }).end();
    else if (request.url?.includes('page=2')) response.end('{"results":[],"next":null}');
    else if (elsewhere === '') response.end(USERS);
    else response.end(`{"results":${USERS},"next":${JSON.stringify(elsewhere)}}`);
  });
}
