import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SimulatedDevice, SimulatorOptions } from '../simulator/simulator.ts';
import { blocksOf } from '../docs/markdown.ts';
import { contention } from '../contention.ts';
import { serve } from '../device/server.ts';
import { Canaries } from '../promises/canaries.ts';
import { ADMIN, know, makeDevsh, startFleet, type TestFleet } from './devsh.ts';

const KINDS = ['session-token', 'session-cookie'] as const;

/** The profile that docs/profiles.md shows. */
const EXAMPLE =
  blocksOf(readFileSync(join(import.meta.dirname, '../../docs/profiles.md'), 'utf8')).find(
    ({ language, text }) => language === 'yaml' && text.includes('token_in'),
  )?.text ?? '';

/** Devices that take only sessions, and a profile that says so. */
async function startSessions(
  kind: (typeof KINDS)[number],
  { quirk = [], ...spec }: SimulatorOptions & { env?: NodeJS.ProcessEnv } = {},
): Promise<TestFleet> {
  const fleet = await startFleet({ ...spec, quirk: [kind, ...quirk], isListed: false });
  await know(fleet.devsh, fleet.devices, { profile: 'sessions' });
  const folder = join(fleet.devsh.folder, 'config/devsh/profiles');
  await mkdir(folder, { recursive: true });
  const { profile = 'documented' } = spec;
  const place = kind === 'session-token' ? 'token_in: data.token' : 'cookie: sid';
  const text = EXAMPLE.replace('documented', profile).replace('token_in: data.token', place);
  await writeFile(join(folder, 'sessions.yaml'), text);
  return fleet;
}

/** `POST /api/login`, `GET /api/user/` … */
function requestsTo({ log }: SimulatedDevice): string[] {
  return log.map(({ method, path }) => `${method} ${path}`);
}

describe.each(KINDS)('%s', (kind) => {
  test('one line logs in, reads, and logs out', async () => {
    const { devsh, device } = await startSessions(kind);
    expect((await devsh('user list --on sim1')).stdout).toContain('viewer');
    expect(requestsTo(device(1))).toEqual([
      'POST /api/login',
      'GET /api/user/',
      'DELETE /api/login',
    ]);
    expect(device(1).connections).toBe(1);
    expect(device(1).sessions).toBe(0);
  });

  test('a write is one login, and is read back in its session', async () => {
    const { devsh, device } = await startSessions(kind);
    const { stdout, exitCode } = await devsh('user add username=zoe lang=de --on sim1 --yes');
    expect(stdout).toContain('done');
    expect(exitCode).toBe(0);
    const requests = requestsTo(device(1));
    expect(requests.filter((one) => one === 'POST /api/login')).toHaveLength(1);
    expect(requests.filter((one) => one === 'POST /api/user/')).toHaveLength(1);
    expect(requests.at(-1)).toBe('DELETE /api/login');
  });

  test('a shell logs in once, and out when it ends; reads in parallel share the session', async () => {
    const { devsh, device } = await startSessions(kind);
    const stdin = 'user list\nuser show viewer\nuser list\n';
    expect((await devsh('connect sim1', { stdin })).exitCode).toBe(0);
    const logins = requestsTo(device(1)).filter((one) => one === 'POST /api/login');
    expect(logins).toHaveLength(1);
    expect(device(1).sessions).toBe(0);
  });

  test('a session that ends is renewed once for each read', async () => {
    const { devsh, device } = await startSessions(kind, { quirk: ['short-sessions'] });
    const stdin = 'user list\n'.repeat(9);
    const { stderr, exitCode } = await devsh('connect sim1', { stdin });
    expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('refused')]);
    const refused = device(1).log.filter(({ status }) => status === 401);
    const logins = requestsTo(device(1)).filter((one) => one === 'POST /api/login');
    expect(refused.length).toBeGreaterThan(0);
    expect(logins.length).toBeLessThanOrEqual(refused.length + 1);
  });

  test('a write that meets the end of its session is sent again only after reading', async () => {
    const { devsh, device } = await startSessions(kind);
    device(1).setFault('401', 1, { method: 'POST', afterWrite: true });
    const { stdout } = await devsh('user add username=zoe lang=de --on sim1 --yes');
    expect(stdout).toContain('zoe  added');
    expect(device(1).users.filter(({ username }) => username === 'zoe')).toHaveLength(1);
    const requests = requestsTo(device(1));
    const first = requests.indexOf('POST /api/user/');
    expect(requests.slice(first)).toEqual([
      'POST /api/user/',
      'POST /api/login',
      'GET /api/user/',
      'POST /api/user/',
      'GET /api/user/',
      'DELETE /api/login',
    ]);
  });

  test('a device that refuses every write with 401 gets it twice at most', async () => {
    const { devsh, device } = await startSessions(kind, { profile: 'drf' });
    device(1).setFault('401', true, { method: 'PATCH' });
    const { stdout, exitCode } = await devsh('user set viewer lang=fr --on sim1 --yes');
    expect(stdout).toContain('viewer  set failed');
    expect(exitCode).toBe(4);
    expect(requestsTo(device(1)).filter((one) => one.startsWith('PATCH'))).toHaveLength(2);
  });

  test('a write that was executed although its session had ended is not sent again', async () => {
    const { devsh, device } = await startSessions(kind);
    device(1).setFault('401-after-storing', 1, { method: 'POST', afterWrite: true });
    const { stdout } = await devsh('user add username=zoe lang=de --on sim1 --yes');
    expect(stdout).toContain('zoe  added');
    expect(requestsTo(device(1)).filter((one) => one === 'POST /api/user/')).toHaveLength(1);
  });

  test('a write without a session, and without one to read it back, is unknown', async () => {
    const { devsh, device } = await startSessions(kind);
    device(1).setFault('401-after-storing', true, { method: 'POST', afterWrite: true });
    const { stdout, exitCode } = await devsh('user add username=zoe lang=de --on sim1 --yes');
    expect(stdout).toContain('zoe  add unknown');
    expect(exitCode).toBe(3);
  });

  test('a fleet is one login, one connection and one logout for each device', async () => {
    const { devsh, devices } = await startSessions(kind, { devices: 40 });
    const { exitCode } = await devsh('user list --on @lab');
    expect(exitCode).toBe(0);
    for (const device of devices) {
      expect(requestsTo(device)).toEqual([
        'POST /api/login',
        'GET /api/user/',
        'DELETE /api/login',
      ]);
      expect(device.connections).toBe(1);
    }
  });

  test('a login that two devices have refused goes to no further one', async () => {
    const { devsh, devices } = await startSessions(kind, {
      devices: 4,
      env: { DEVSH_USER: 'admin', DEVSH_PASSWORD: 'wrong' },
    });
    const { exitCode } = await devsh('user list --on @lab --concurrency 4');
    expect(exitCode).not.toBe(0);
    const requests = devices.flatMap(requestsTo);
    expect(requests).toEqual(['POST /api/login', 'POST /api/login']);
  });

  test.each(['400-html', '403', '404', 'html-page', 'success-false'] as const)(
    'a login with the response %s may be a refused one, and goes to no third device',
    async (fault) => {
      const { devsh, devices } = await startSessions(kind, { devices: 4 });
      for (const device of devices) device.setFault(fault, true, { method: 'POST' });
      const { exitCode } = await devsh('user list --on @lab --concurrency 4');
      expect(exitCode).toBe(4);
      expect(devices.flatMap(requestsTo)).toEqual(['POST /api/login', 'POST /api/login']);
    },
  );

  test('a roll-out ends when two devices have refused to open a new session', async () => {
    const { devsh, devices } = await startSessions(kind, { profile: 'drf', devices: 4 });
    for (const device of devices) {
      device.setFault('401', 1, { method: 'PATCH' });
      // The first login comes before the write.
      device.setFault('403', true, { method: 'POST', afterWrite: true });
    }
    const line = 'user set viewer lang=fr --on @lab --yes --concurrency 1';
    const { stdout, stderr } = await devsh(line);
    const logins = devices.flatMap(requestsTo).filter((one) => one === 'POST /api/login');
    expect(logins).toHaveLength(4 + 2);
    expect(stdout + stderr).toContain('the login was refused twice');
  });

  test('a device that refused the login of a session is pending', async () => {
    const { devsh, device } = await startSessions(kind, { profile: 'drf', devices: 2 });
    device(2).setFault('401', true, { method: 'POST' });
    await devsh('user set viewer lang=fr --on @lab --yes');
    expect((await devsh('pending')).stdout).toContain('sim2');
  });

  test('a logout that gets no response delays the end a little and changes nothing else', async () => {
    const { devsh, device } = await startSessions(kind);
    device(1).setFault('silence', true, { method: 'DELETE' });
    const startedAt = Date.now();
    expect(await devsh('user list --on sim1')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(Date.now() - startedAt).toBeLessThan(4_000 * contention());
    expect(requestsTo(device(1)).at(-1)).toBe('DELETE /api/login');
  });

  test('a logout is repeated if the device closes the connection', async () => {
    const { devsh, device } = await startSessions(kind);
    device(1).setFault('idle-close');
    expect(await devsh('user list --on sim1')).toMatchObject({ exitCode: 0 });
    expect(requestsTo(device(1)).filter((one) => one === 'POST /api/login')).toHaveLength(1);
    expect(device(1).sessions).toBe(0);
  });

  test('Ctrl-C logs out, even while a device is silent', async () => {
    const { devsh, device } = await startSessions(kind);
    device(1).setFault('silence', true, { method: 'GET' });
    const stopAt = { text: '> GET', signal: 'SIGINT' } as const;
    const { exitCode } = await devsh('user list --on sim1 --verbose', { stopAt });
    expect(exitCode).toBe(130);
    expect(requestsTo(device(1)).at(-1)).toBe('DELETE /api/login');
    expect(device(1).sessions).toBe(0);
  });

  test('login --check, doctor and credentials work by a session', async () => {
    const { devsh, device } = await startSessions(kind);
    expect((await devsh('login --check --on sim1')).stdout).toMatch(/admin +password|ok/);
    expect((await devsh('doctor sim1')).stdout).toContain('sim1');
    expect((await devsh('credentials sim1')).stdout).toContain('admin');
    expect(device(1).sessions).toBe(0);
    const wrong = await devsh('login --check --on sim1', {
      env: { ...ADMIN, DEVSH_PASSWORD: 'wrong' },
    });
    expect(wrong.stdout).toContain('refused');
    expect(wrong.exitCode).toBe(4);
  });
});

test('the secret of a session is in no file, even if a record shows it', async () => {
  const token = 'k7d2f19c0aa94be1b3d5';
  const server = await serve((request, response) => {
    const answer = request.url === '/login' ? { token } : [{ username: 'bob', seen: token }];
    response.end(JSON.stringify(answer));
  });
  const devsh = await makeDevsh(ADMIN);
  const address = `127.0.0.1:${server.port}`;
  await devsh(['device', 'add', 'fw1', address]);
  await devsh(['trust', 'accept', address, '--fingerprint', server.certificate.fingerprint]);
  await devsh('profile set fw1 auth.login.path=/login auth.login.token_in=token');
  const { stderr } = await devsh('user list --on fw1 --verbose');
  expect(server.requests.map(({ path }) => path)).toEqual(['/login', '/api/user/']);
  const canaries = new Canaries();
  canaries.know('session', token);
  canaries.know('password', ADMIN.DEVSH_PASSWORD);
  expect(await canaries.foundBelow(devsh.folder)).toEqual([]);
  expect(stderr).toContain('/login');
  expect(stderr).not.toContain(token);
});
