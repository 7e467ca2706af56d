import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { expect, test } from 'vitest';
import { startHttpProxy, startLiar, startSocksProxy } from '../device/route/proxies.ts';
import { certificateFor, listen } from '../device/server.ts';
import { ADMIN, makeDevsh, startFleet } from './devsh.ts';
import { startProgram } from './process.ts';

test('--proxy sends one call through a proxy, and -v says so', async () => {
  const { devsh, device } = await startFleet();
  const proxy = await startHttpProxy();
  const url = `http://127.0.0.1:${proxy.port}`;
  const { exitCode, stderr } = await devsh(`user list --on sim1 --proxy ${url} -v`);
  expect(exitCode).toBe(0);
  expect(stderr).toContain(`(as admin, through the proxy ${url})`);
  expect(proxy.targets).toEqual([device(1).address]);
  await devsh('user list --on sim1');
  expect(proxy.targets).toHaveLength(1);
});

test('a write goes through the proxy, too, and its answer is read back there', async () => {
  const { devsh, device } = await startFleet();
  const proxy = await startSocksProxy();
  // No random bytes spell so long a name.
  const name = 'zoe.behind.the.proxy';
  const line = `user add username=${name} --on sim1 --yes --proxy socks5h://127.0.0.1:${proxy.port}`;
  expect((await devsh(line)).exitCode).toBe(0);
  expect(device(1).users.map(({ username }) => username)).toContain(name);
  expect(proxy.received().toString('latin1')).not.toMatch(/zoe\.behind|authorization/i);
});

test('the inventory keeps the route of a device, and every view shows it', async () => {
  const { devsh, device } = await startFleet({ isListed: false });
  const proxy = await startHttpProxy();
  const url = `http://127.0.0.1:${proxy.port}`;
  await devsh(`device add fw1 ${device(1).address} --proxy ${url}`);
  expect((await devsh('device list')).stdout).toContain(`proxy ${url}`);
  const { stdout, exitCode } = await devsh('run -', { stdin: 'connect fw1\ndevices\n' });
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(new RegExp(`REACHED BY[^]*proxy ${url}`));
  expect(proxy.targets.length).toBeGreaterThan(0);
});

test('a certificate is read through the same route', async () => {
  const { devsh, device } = await startFleet({ isPinned: false });
  const proxy = await startHttpProxy();
  const line = `trust accept sim1 --proxy http://127.0.0.1:${proxy.port}`;
  const { stderr } = await devsh(line);
  expect(stderr).toContain(device(1).fingerprint);
  expect(proxy.targets).toEqual([device(1).address]);
  expect(device(1).log).toEqual([]);
});

test('the proxy of the environment is shown without its login, and is not for loopback', async () => {
  const { devsh } = await startFleet();
  const env = { HTTPS_PROXY: 'http://jane:pr0xysecret@127.0.0.1:9', NO_PROXY: '.lab' };
  const listed = await devsh('user list --on sim1 -v', { env });
  expect(listed.exitCode).toBe(0);
  const info = await devsh('info', { env });
  expect(info.stdout).toContain('http://127.0.0.1:9 by HTTPS_PROXY, not for .lab');
  expect(listed.stderr + info.stdout + info.stderr).not.toContain('pr0xysecret');
});

test('a proxy of a device uses the login of the environment, which is never shown', async () => {
  const { devsh } = await startFleet();
  const proxy = await startHttpProxy({ login: { user: 'jane', password: 'pr0xysecret' } });
  const at = `127.0.0.1:${proxy.port}`;
  const env = { HTTPS_PROXY: `http://jane:pr0xysecret@${at}` };
  const { exitCode, stderr } = await devsh(`user list --on sim1 -v --proxy http://${at}`, { env });
  expect(exitCode).toBe(0);
  expect(stderr).not.toMatch(/pr0xysecret|amFuZTpwcjB4/);
  const wrong = { HTTPS_PROXY: `http://jane:wr0ngsecret@${at}` };
  const refused = await devsh(`user list --on sim1 --proxy http://${at}`, { env: wrong });
  expect(refused.exitCode).toBe(5);
  expect(refused.stderr).toContain(`sim1: the proxy http://${at} returned 407`);
  expect(refused.stderr).not.toContain('wr0ngsecret');
});

test.each([
  ['--proxy http://jane:secret1@proxy', 'the inventory keeps no login of a proxy'],
  ['--proxy ftp://proxy', 'the address of a proxy starts with http://'],
  ['--jump -oProxyCommand=id', 'not a jump host'],
  ['--jump a --proxy b', '--jump and --proxy exclude each other'],
])('%s is a usage error', async (option, words) => {
  const devsh = await makeDevsh();
  const { exitCode, stderr } = await devsh(`user list --on 10.0.0.5 ${option}`);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(words);
});

test('an invalid proxy variable is named without its value', async () => {
  const devsh = await makeDevsh(ADMIN);
  const env = { HTTPS_PROXY: 'http://jane:secret1@proxy:99999' };
  const { exitCode, stderr } = await devsh('user list --on 192.0.2.1', { env });
  expect(exitCode).toBe(2);
  expect(stderr).toContain('HTTPS_PROXY in the environment');
  expect(stderr).not.toContain('secret1');
});

test('messages of a proxy are shown with visible control characters', async () => {
  const { devsh } = await startFleet();
  const { port } = await startLiar((socket) =>
    socket.end('HTTP/1.1 403 \x1b]52;c;x\x07\u202e\r\n\r\n'),
  );
  const { stderr, exitCode } = await devsh(`user list --on sim1 --proxy http://127.0.0.1:${port}`);
  expect(exitCode).toBe(5);
  expect(stderr).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
});

test('a CA file of a group counts from the folder of the inventory', async () => {
  const { devsh, device } = await startFleet({ isListed: false, isPinned: false });
  const folder = join(devsh.folder, 'config', 'devsh');
  await mkdir(join(folder, 'certs'), { recursive: true });
  await writeFile(join(folder, 'certs', 'lab.pem'), device(1).certificate);
  await writeFile(
    join(folder, 'devices.yaml'),
    `devices:\n  - {name: fw1, address: "${device(1).address}", groups: [lab]}\ngroups:\n  lab: {ca: certs/lab.pem}\n`,
  );
  expect(await devsh('user list --on fw1')).toMatchObject({ exitCode: 0 });
});

test('--ca says in words what is wrong with the file', async () => {
  const { devsh, device } = await startFleet({ isPinned: false });
  const file = async (name: string, text: string): Promise<string> => {
    await writeFile(join(devsh.folder, name), text);
    return join(devsh.folder, name);
  };
  const pem = device(1).certificate;
  const damaged = pem.replace(/\n[A-Za-z0-9+/]{20}/, '\nAAAAAAAAAAAAAAAAAAAA');
  const cases: [file: string, words: string][] = [
    [devsh.folder, 'it is a folder, not a file'],
    [join(devsh.folder, 'nowhere.pem'), 'the file does not exist'],
    [await file('empty.pem', ''), 'contains no certificate'],
    [await file('key.pem', '-----BEGIN PRIVATE KEY-----\nx\n'), 'but a private key'],
    [await file('damaged.pem', `${pem}${damaged}`), 'certificate 2 of 2 is damaged'],
  ];
  for (const [path, words] of cases) {
    const { exitCode, stderr } = await devsh(`user list --on sim1 --ca ${path}`);
    expect(stderr).toContain(words);
    expect(exitCode).toBe(2);
  }
  expect(device(1).log).toEqual([]);
});

test('a proxy that is spoken to in TLS is used when the system trusts its certificate', async () => {
  const { devsh, device } = await startFleet();
  const proxy = await startHttpProxy();
  const { key, cert } = certificateFor(['127.0.0.1']);
  const outside = await listen(
    createServer({ key, cert }, (socket) => {
      const inside = connect(proxy.port, '127.0.0.1');
      socket.pipe(inside).pipe(socket);
      inside.on('error', () => socket.destroy());
      socket.on('error', () => inside.destroy());
    }),
  );
  const ca = join(devsh.folder, 'proxy-ca.pem');
  await writeFile(ca, cert);
  const argv = ['user', 'list', '--on', 'sim1', '--proxy', `https://127.0.0.1:${outside}`];
  const trusted = await startProgram(argv, devsh.folder, '', { NODE_EXTRA_CA_CERTS: ca }).ended;
  expect(trusted).toMatchObject({ code: 0, stderr: '' });
  expect(proxy.targets).toEqual([device(1).address]);
  const refused = await startProgram(argv, devsh.folder).ended;
  expect(refused.code).toBe(5);
  expect(refused.stderr).toContain('has no trusted TLS: self-signed certificate');
  expect(proxy.targets).toHaveLength(1);
});

test('info and doctor report an invalid proxy and show everything else', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  const env = { HTTPS_PROXY: 'ftp://jane:pr0xysecret@proxy' };
  const info = await devsh('info', { env });
  expect(info.stdout).toMatch(
    /proxy\s+HTTPS_PROXY in the environment: the address of a proxy starts with http/,
  );
  expect(info.stdout).toMatch(/inventory\s/);
  expect(info.exitCode).toBe(0);
  const doctor = await devsh('doctor', { env });
  expect(doctor.stdout).toMatch(/proxy.*failed.*HTTPS_PROXY in the environment/);
  expect(doctor.exitCode).not.toBe(2);
  expect(info.stdout + doctor.stdout + doctor.stderr).not.toContain('pr0xysecret');
});
