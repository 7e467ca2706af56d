import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startFleet, usernames } from './devsh.ts';

test('a wrong password reaches at most two devices of five', async () => {
  const { devsh, devices } = await startFleet({
    devices: 5,
    env: { DEVSH_USER: 'admin', DEVSH_PASSWORD: 'wrong' },
  });
  const { stderr, exitCode } = await devsh('user list --on @lab');
  expect(exitCode).toBe(4);
  expect(devices.filter(({ log }) => log.length > 0).length).toBeLessThanOrEqual(2);
  for (const { name } of devices) expect(stderr).toMatch(new RegExp(`^✗ ${name}: `, 'm'));
});

test('a wrong password reaches at most two devices of five when writing, too', async () => {
  const { devsh, devices, writes } = await startFleet({
    devices: 5,
    env: { DEVSH_USER: 'admin', DEVSH_PASSWORD: 'wrong' },
  });
  const { exitCode } = await devsh('user add username=zoe --on @lab --yes --concurrency 5');
  expect(exitCode).toBe(4);
  expect(devices.filter(({ log }) => log.length > 0).length).toBeLessThanOrEqual(2);
  expect(writes()).toEqual([]);
});

test('each device is asked once with a password that it refused', async () => {
  const { devsh, device } = await startFleet({
    env: { DEVSH_USER: 'admin', DEVSH_PASSWORD: 'wrong' },
  });
  await devsh('user list --on sim1');
  expect(device(1).log).toHaveLength(1);
});

test('DEVSH_TOKEN is sent as a token', async () => {
  const { devsh, device } = await startFleet({ env: {} });
  const env = { DEVSH_TOKEN: device(1).accounts.admin.token };
  expect((await devsh('user list --on sim1', { env })).exitCode).toBe(0);
  expect(device(1).log[0]?.authorization).toBe('token');
});

test('--token-stdin reads a token, and comes before the environment', async () => {
  const { devsh, device } = await startFleet();
  const stdin = `${device(1).accounts.admin.token}\n`;
  const { exitCode } = await devsh('user list --on sim1 --token-stdin', { stdin });
  expect(exitCode).toBe(0);
  expect(device(1).log[0]?.authorization).toBe('token');
});

test('--password-stdin needs to know the user', async () => {
  const { devsh, device } = await startFleet({ env: {} });
  const stdin = 'admin-secret\n';
  const nobody = await devsh('user list --on sim1 --password-stdin', { stdin });
  expect(nobody.exitCode).toBe(4);
  expect(nobody.stderr).toContain('--user');
  expect(device(1).log).toEqual([]);
  const line = 'user list --on sim1 --password-stdin --user admin';
  expect((await devsh(line, { stdin })).exitCode).toBe(0);
});

test('one password from stdin does for all devices', async () => {
  const { devsh } = await startFleet({ devices: 3, env: {} });
  const { exitCode } = await devsh('user list --on @lab --password-stdin --user admin', {
    stdin: 'admin-secret\n',
  });
  expect(exitCode).toBe(0);
});

test('both secrets from one stdin are a usage error', async () => {
  const { devsh } = await startFleet();
  const { exitCode } = await devsh('user list --on sim1 --token-stdin --password-stdin');
  expect(exitCode).toBe(2);
});

test('an empty stdin is no password', async () => {
  const { devsh, device } = await startFleet();
  const { exitCode } = await devsh('user list --on sim1 --password-stdin');
  expect(exitCode).toBe(4);
  expect(device(1).log).toEqual([]);
});

test('the user of the inventory is used with a password that has no user of its own', async () => {
  const { devsh, device } = await startFleet({ isListed: false, env: {} });
  await devsh(`device add fw ${device(1).address} --user viewer`);
  const { exitCode, stderr } = await devsh('user add username=zoe --on fw --yes', {
    env: { DEVSH_PASSWORD: 'viewer-secret' },
  });
  expect(stderr).not.toContain('bug');
  expect(exitCode).toBe(4); // the viewer may read, not write
  expect(usernames(device(1))).not.toContain('zoe');
});

test('on a terminal user and password are asked for, and a wrong one is asked for again', async () => {
  const { devsh, device } = await startFleet({ env: {} });
  const { stderr, stdout, exitCode } = await devsh('user list --on sim1', {
    tty: ['admin', 'wrong', 'admin', 'admin-secret', 'n'],
  });
  expect(exitCode).toBe(0);
  expect(stdout).toContain('viewer');
  expect(stdout + stderr).not.toContain('admin-secret');
  expect(device(1).log.map(({ status }) => status)).toContain(200);
});

test('no file that devsh writes holds the secret', async () => {
  const { devsh } = await startFleet({ devices: 2 });
  await devsh('user add username=zoe --on @lab --yes');
  await devsh('connect sim1', { stdin: 'user set zoe password=hunter2-secret --yes\nuser list\n' });
  const files = await readdir(devsh.folder, { recursive: true, withFileTypes: true });
  for (const file of files.filter((entry) => entry.isFile())) {
    const text = await readFile(join(file.parentPath, file.name), 'utf8');
    expect(text).not.toContain('admin-secret');
    expect(text).not.toContain('hunter2-secret');
  }
});

test('login without a terminal and without stdin says how', async () => {
  const { devsh } = await startFleet();
  const { exitCode, stderr } = await devsh('login sim1');
  expect(exitCode).toBe(4);
  expect(stderr).toContain('--password-stdin');
});

test('login checks before it keeps: a wrong password is not stored', async () => {
  const { devsh } = await startFleet();
  const { exitCode, stderr } = await devsh('login sim1 --user admin --password-stdin', {
    stdin: 'wrong\n',
  });
  expect(exitCode).toBe(4);
  expect(stderr).not.toContain('kept');
});

test('without a keychain login says so, in one line, with the ways out', async () => {
  const { devsh } = await startFleet();
  const { exitCode, stderr } = await devsh('login sim1 --user admin --password-stdin', {
    stdin: 'admin-secret\n',
  });
  expect(exitCode).toBe(4);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  expect(stderr).toMatch(/keychain.*DEVSH_TOKEN/);
});
