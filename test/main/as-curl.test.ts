import { execFile, spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { SimulatedDevice } from '../simulator/simulator.ts';
import { startHttpProxy, startSocksProxy } from '../device/route/proxies.ts';
import { ADMIN, type Devsh, startFleet, usernames } from './devsh.ts';

const canSend = ['bash', 'curl'].every((name) => spawnSync(name, ['--version']).status === 0);

const ADD_ZOE = JSON.stringify([
  { add: 'user', fields: { username: 'zoe', lang: 'de', password: 'hush-hush' } },
]);

/** `plan - --as-curl` of this change set. */
function asCurl(devsh: Devsh, changes: string, options = '--on sim1', env?: NodeJS.ProcessEnv) {
  return devsh(`plan - --as-curl ${options}`, { stdin: changes, ...(env && { env }) });
}

/** Runs a script without blocking this process, which runs the simulator. */
function bash(script: string, env: NodeJS.ProcessEnv): Promise<{ code: number; stderr: string }> {
  return new Promise((resolve) => {
    const options = { env: { PATH: process.env['PATH'], ...env } };
    const child = execFile('bash', ['-s'], options, (error, _stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stderr });
    });
    child.stdin?.end(script);
  });
}

/** All fields but the id, which each device assigns. */
function zoeOf({ users }: SimulatedDevice): object | undefined {
  const user = users.find(({ username }) => username === 'zoe');
  return user && { ...user, uuid: undefined };
}

test('a write as curl calls is planned and not sent, and contains no secret', async () => {
  const { devsh, device, writes } = await startFleet();
  const { stdout, stderr, exitCode } = await asCurl(devsh, ADD_ZOE);
  expect(stdout).toContain("--data-urlencode 'username=zoe'");
  expect(stdout).toContain('$FIELD_PASSWORD');
  expect(stdout + stderr).not.toContain('hush-hush');
  expect(writes()).toEqual([]);
  expect(usernames(device(1))).not.toContain('zoe');
  expect(exitCode).toBe(0);
});

test('each device gets its own path and media type', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  await devsh('profile set sim2 accept=application/json');
  const { uuid = '' } = device(2).users.find(({ username }) => username === 'viewer') ?? {};
  const changes = '[{delete: user, key: viewer}]';
  const { stdout } = await asCurl(devsh, changes, '--on sim1,sim2');
  expect(stdout).toContain(`'https://${device(2).address}/api/user/${uuid}/'`);
  expect(stdout.match(/"\$\{accept\[@\]\}" --header/g)).toHaveLength(1);
  expect(stdout.match(/--header 'Accept: application\/json'/g)).toHaveLength(1);
});

test('a device that cannot be planned is named, and there is nothing to send to it', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  device(2).setFault('refuse', true);
  const { stdout } = await asCurl(devsh, '[{delete: user, key: nobody}]', '--on sim1,sim2');
  expect(stdout).toContain('# sim1: delete user nobody: unchanged, nothing to send\n');
  expect(stdout).toMatch(/^# cannot be planned: sim2: .*refuses the connection/m);
  expect(stdout).not.toContain('curl "$');
});

test.skipIf(!canSend)('the curl calls make the change that devsh makes', async () => {
  const { devsh, devices } = await startFleet({ devices: 2 });
  const fields = { username: 'zoe', first_name: `Zoë "O'Neil" & <b>+%41`, lang: 'de' };
  const changes = JSON.stringify([{ add: 'user', fields }]);
  const { stdout } = await asCurl(devsh, changes, '--on @lab');
  await devsh('apply - --on @lab --yes', { stdin: changes });
  const expected = devices.map(zoeOf);
  await devsh('undo --yes');
  expect(devices.map(zoeOf)).toEqual([undefined, undefined]);
  expect(await bash(stdout, { ...ADMIN, CURL_OPTS: '-k' })).toEqual({ code: 0, stderr: '' });
  expect(devices.map(zoeOf)).toEqual(expected);
  expect(expected[0]).toMatchObject(fields);
});

test.skipIf(!canSend)('the curl calls delete records of a device with a token', async () => {
  const { devsh, device } = await startFleet();
  const { stdout } = await asCurl(devsh, '[{delete: user, key: viewer}]');
  const { token } = device(1).accounts.admin;
  const login = { DEVSH_TOKEN: token, CURL_OPTS: '-k' };
  expect(await bash(stdout, login)).toEqual({ code: 0, stderr: '' });
  expect(usernames(device(1))).not.toContain('viewer');
});

test.skipIf(!canSend)('curl sends nothing to an untrusted device, and reports that', async () => {
  const { devsh, writes } = await startFleet();
  const { stdout } = await asCurl(devsh, '[{delete: user, key: viewer}]');
  const { code, stderr } = await bash(stdout, ADMIN);
  expect(code).toBe(1);
  expect(stderr).toContain('certificate');
  expect(writes()).toEqual([]);
});

test.skipIf(!canSend)('the curl calls take the proxy that devsh takes, and its login', async () => {
  const { devsh, device } = await startFleet();
  const login = { user: 'jane', password: 'a"b\\c$d' };
  const proxy = await startHttpProxy({ login });
  const url = `http://127.0.0.1:${proxy.port}`;
  const env = { HTTPS_PROXY: url.replace('//', `//jane:${encodeURIComponent(login.password)}@`) };
  const changes = '[{delete: user, key: viewer}]';
  const { stdout } = await asCurl(devsh, changes, `--on sim1 --proxy ${url}`, env);
  expect(stdout).not.toContain(login.password);
  expect(stdout).toContain(`PROXY_LOGIN   USER:PASSWORD of ${url}`);
  const seen = proxy.targets.length;
  const own = { ...ADMIN, NO_PROXY: '*', CURL_OPTS: '-k', PROXY_LOGIN: `jane:${login.password}` };
  expect(await bash(stdout, own)).toEqual({ code: 0, stderr: '' });
  expect(proxy.targets.slice(seen)).toEqual([device(1).address]);
});

test.skipIf(!canSend)('the curl calls take a SOCKS proxy', async () => {
  const { devsh } = await startFleet();
  const proxy = await startSocksProxy();
  const url = `socks5h://127.0.0.1:${proxy.port}`;
  const changes = '[{delete: user, key: viewer}]';
  const { stdout } = await asCurl(devsh, changes, `--on sim1 --proxy ${url}`);
  const seen = proxy.targets.length;
  expect(await bash(stdout, { ...ADMIN, CURL_OPTS: '-k' })).toEqual({ code: 0, stderr: '' });
  expect(proxy.targets.length).toBe(seen + 1);
});
