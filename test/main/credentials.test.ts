import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { Vault } from '../../src/credentials/vault.ts';
import { startFleet, usernames } from './devsh.ts';

test('a wrong password reaches at most two devices of five', async () => {
  const { devsh, devices } = await startFleet({
    devices: 5,
    env: { DEVSH_USER: 'admin', DEVSH_PASSWORD: 'wrong' },
  });
  const { stderr, exitCode } = await devsh('user list --on @lab');
  expect(exitCode).toBe(4);
  expect(devices.filter(({ log }) => log.length > 0).length).toBeLessThanOrEqual(2);
  for (const { name } of devices)
    expect(stderr).toMatch(new RegExp(`^✗ (?:sim\\d, )*${name}[,:] `, 'm'));
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

test('a wrong password reaches two of five devices, although some are not in the inventory', async () => {
  const { devsh, devices } = await startFleet({
    devices: 5,
    env: { DEVSH_USER: 'admin', DEVSH_PASSWORD: 'wrong' },
  });
  const [, , ...others] = devices;
  for (const { name } of others) await devsh(`device remove ${name}`);
  const addresses = others.map(({ address }) => address).join(' ');
  const { stderr } = await devsh(`connect sim1 sim2 ${addresses}`, { stdin: '' });
  expect(devices.flatMap(({ log }) => log)).toHaveLength(2);
  expect(stderr).toContain('was not tried');
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

test('one password from stdin is used for all devices', async () => {
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

test('a terminal prompts for user and password, and again after a wrong one', async () => {
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

test('login checks before it stores: a wrong password is not stored', async () => {
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

/** Appends to `devices.yaml`. */
async function addSettings(folder: string, lines: string): Promise<void> {
  const path = join(folder, 'config', 'devsh', 'devices.yaml');
  await writeFile(path, `${await readFile(path, 'utf8')}${lines}`);
}

const COMMAND = `groups:
  lab:
    credential_command: [/bin/sh, -c, 'echo username=admin; echo password=admin-secret']
`;

test('a credential_command of the group gives the login', async () => {
  const { devsh } = await startFleet({ devices: 2, env: {} });
  await addSettings(devsh.folder, COMMAND);
  expect((await devsh('user list --on @lab')).exitCode).toBe(0);
});

const hasPass = spawnSync('pass', ['version']).status === 0;

/** `gpg` puts the socket of its agent there, and the path of a socket is short. */
async function makeKeyring(): Promise<NodeJS.ProcessEnv> {
  const home = await mkdtemp('/tmp/devsh-pass-');
  const env = { ...process.env, GNUPGHOME: home, PASSWORD_STORE_DIR: join(home, 'store') };
  onTestFinished(async () => {
    await promisify(execFile)('gpgconf', ['--kill', 'all'], { env });
    await rm(home, { recursive: true, force: true });
  });
  const key = [
    '--batch',
    '--passphrase',
    '',
    '--quick-generate-key',
    'devsh',
    'default',
    'default',
  ];
  await promisify(execFile)('gpg', key, { env });
  await promisify(execFile)('pass', ['init', 'devsh'], { env });
  return env;
}

test.skipIf(!hasPass)(
  'pass gives the login of each device, as the table of logins says',
  async () => {
    const page = await readFile(new URL('../../docs/trust.md', import.meta.url), 'utf8');
    const [line = ''] = /credential_command: \[pass.*?\]/.exec(page) ?? [];
    const env = await makeKeyring();
    const { devsh } = await startFleet({ devices: 2, env: {} });
    const insert = promisify(execFile)('pass', ['insert', '--multiline', 'net/sim1'], { env });
    insert.child.stdin?.end('username=admin\npassword=admin-secret\n');
    await insert;
    await addSettings(devsh.folder, `groups:\n  lab:\n    ${line}\n`);
    expect((await devsh('user list --on sim1', { env })).exitCode).toBe(0);
    const missing = await devsh('user list --on sim2', { env });
    expect(missing.exitCode).toBe(4);
    expect(missing.stderr).toContain('net/sim2 is not in the password store');
  },
);

test('a failing credential_command is reported, and no other source is tried', async () => {
  const { devsh, device } = await startFleet({ env: {} });
  await addSettings(
    devsh.folder,
    "groups:\n  lab:\n    credential_command: [/bin/sh, -c, 'echo sealed >&2; exit 9']\n",
  );
  const { stderr, exitCode } = await devsh('user list --on sim1');
  expect(exitCode).toBe(4);
  expect(stderr).toContain('sim1: credential_command "/bin/sh" ended with 9; it reports: sealed');
  expect(device(1).log).toEqual([]);
});

test('credentials shows the source of each login, never the login, and sends no request', async () => {
  const { devsh, devices } = await startFleet({ devices: 3, env: {} });
  await addSettings(devsh.folder, COMMAND.replace('  lab:', '  cmd:'));
  const path = join(devsh.folder, 'config', 'devsh', 'devices.yaml');
  const inventory = await readFile(path, 'utf8');
  await writeFile(
    path,
    inventory.replace('name: sim1', 'credential_command: [/nowhere/x]\n    name: sim1'),
  );
  const { stdout, stderr, exitCode } = await devsh('credentials --json');
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    credentials: [
      { device: 'sim1', source: 'credential_command', user: null, kind: null },
      { device: 'sim2', source: null },
      { device: 'sim3', source: null, note: 'none: devsh asks for it' },
    ],
  });
  expect(stdout + stderr).not.toContain('admin-secret');
  expect(devices.flatMap(({ log }) => log)).toEqual([]);
  const given = await devsh('credentials sim1 --json', { env: { DEVSH_TOKEN: 'tok-secret' } });
  expect(JSON.parse(given.stdout)).toMatchObject({
    credentials: [{ source: 'environment', kind: 'token' }],
  });
  expect(given.stdout).not.toContain('tok-secret');
});

test('login --check tries each login once and reports the result', async () => {
  const { devsh, devices } = await startFleet({ devices: 2 });
  await devsh('device add gone 127.0.0.1:9');
  const { stdout, exitCode } = await devsh('login --check sim1 sim2 gone --json');
  expect(JSON.parse(stdout)).toMatchObject({
    logins: [
      { device: 'sim1', source: 'environment', user: 'admin', kind: 'basic', result: 'ok' },
      { device: 'sim2', result: 'ok' },
      { device: 'gone', result: 'unreachable' },
    ],
  });
  expect(exitCode).toBe(3);
  expect(devices.map(({ log }) => log.map(({ method }) => method))).toEqual([['GET'], ['GET']]);
});

test('login --check sends a refused login to two devices of five', async () => {
  const { devsh, devices } = await startFleet({
    devices: 5,
    env: { DEVSH_USER: 'admin', DEVSH_PASSWORD: 'wrong' },
  });
  const { stdout, exitCode } = await devsh('login --check @lab --json');
  const { logins } = JSON.parse(stdout) as { logins: { result: string }[] };
  const results = logins.map(({ result }) => result).sort();
  expect(results).toEqual(['not tried', 'not tried', 'not tried', 'refused', 'refused']);
  expect(devices.filter(({ log }) => log.length > 0)).toHaveLength(2);
  expect(exitCode).toBe(4);
});

test('login --check does not prompt', async () => {
  const { devsh } = await startFleet({ env: {} });
  const { stdout, exitCode } = await devsh('login --check sim1', {
    tty: ['admin', 'admin-secret'],
  });
  expect(stdout).toContain('no login');
  expect(exitCode).toBe(4);
});

const PASSPHRASE = 'correct horse battery';

/** A vault with a fast key derivation, so that tests do not wait. */
async function makeVault(folder: string): Promise<void> {
  const vault = new Vault(join(folder, 'data', 'devsh', 'vault.age'), { workFactor: 10 });
  await vault.create(PASSPHRASE);
}

test('where no keychain answers, logins are kept in the vault, and found there', async () => {
  const { devsh, device } = await startFleet({ env: {} });
  await makeVault(devsh.folder);
  const kept = await devsh('login sim1 --user admin', { tty: ['admin-secret', PASSPHRASE] });
  expect(kept.stderr).toContain('sim1: admin is accepted and kept in the vault');
  expect(kept.stderr).not.toContain('keychain answers');
  const typed = await devsh('user list --on sim1', { tty: [PASSPHRASE] });
  expect(typed.exitCode).toBe(0);
  const piped = await devsh('user list --on sim1 --passphrase-stdin', { stdin: PASSPHRASE });
  expect(piped.exitCode).toBe(0);
  const silent = await devsh('user list --on sim1');
  expect(silent.exitCode).toBe(4);
  expect(silent.stderr).toContain('--passphrase-stdin');
  const list = await devsh('vault list --json --passphrase-stdin', { stdin: PASSPHRASE });
  expect(JSON.parse(list.stdout)).toMatchObject({
    vault: [{ device: 'sim1', address: device(1).address, user: 'admin', kind: 'basic' }],
  });
  expect(list.stdout).not.toContain('admin-secret');
  const gone = await devsh('logout sim1 --passphrase-stdin', { stdin: PASSPHRASE });
  expect(gone.stderr).toContain('removed 1 login for sim1 from the vault');
  const after = await devsh('credentials sim1 --json --passphrase-stdin', { stdin: PASSPHRASE });
  expect(JSON.parse(after.stdout)).toMatchObject({ credentials: [{ source: 'vault' }] });
});

test('a session prompts for the passphrase once, and again after "vault lock"', async () => {
  const { devsh } = await startFleet({ devices: 2, env: {} });
  await makeVault(devsh.folder);
  for (const name of ['sim1', 'sim2']) {
    await devsh(`login ${name} --user admin`, { tty: ['admin-secret', PASSPHRASE] });
  }
  const { stderr, exitCode } = await devsh('--plain', {
    tty: [
      'user list --on @lab',
      PASSPHRASE,
      'credentials @lab',
      'vault lock',
      'vault list',
      'wrong passphrase',
      PASSPHRASE,
      'quit',
    ],
  });
  expect(exitCode).toBe(0);
  expect(stderr.split('Passphrase of the vault:').length - 1).toBe(3);
  expect(stderr).toContain('That is not the passphrase.');
  expect(stderr).not.toContain(PASSPHRASE);
});

test('a login that waits behind the vault is answered with its passphrase', async () => {
  const { devsh } = await startFleet({ env: {} });
  await makeVault(devsh.folder);
  await devsh('login sim1 --user admin', { tty: ['admin-secret', PASSPHRASE] });
  const { stderr, exitCode } = await devsh('--plain', {
    tty: ['questions --on sim1', 'questions accept', PASSPHRASE, 'user list --on sim1', 'quit'],
  });
  expect(exitCode).toBe(0);
  expect(stderr.split('Passphrase of the vault:').length - 1).toBe(1);
  expect(stderr).not.toContain('User name');
  expect(stderr).not.toContain(PASSPHRASE);
});

test('a damaged vault is named, and stays as it is', async () => {
  const { devsh } = await startFleet({ env: {} });
  const vault = join(devsh.folder, 'data', 'devsh', 'vault.age');
  await writeFile(vault, 'damaged\n');
  const { stderr, exitCode } = await devsh('user list --on sim1 --passphrase-stdin', {
    stdin: PASSPHRASE,
  });
  expect(exitCode).toBe(4);
  expect(stderr).toContain(`the vault ${vault} is damaged`);
  expect(await readFile(vault, 'utf8')).toBe('damaged\n');
});

test('a passphrase that is wrong, missing or declined sends nothing', async () => {
  const { devsh, device } = await startFleet({ env: {} });
  await makeVault(devsh.folder);
  const wrong = await devsh('user list --on sim1 --passphrase-stdin', { stdin: 'not this one' });
  expect(wrong.exitCode).toBe(4);
  expect(wrong.stderr).toContain('does not open');
  const missing = await devsh('vault list');
  expect(missing.exitCode).toBe(4);
  expect(missing.stderr).toContain('--passphrase-stdin');
  const declined = await devsh('vault unlock', { tty: [''] });
  expect(declined.exitCode).toBe(4);
  expect(device(1).log.filter(({ authorization }) => authorization !== 'none')).toEqual([]);
});

test('vault init requires the same passphrase twice, and creates no second vault', async () => {
  const { devsh } = await startFleet({ env: {} });
  const differing = await devsh('vault init', { tty: [PASSPHRASE, `${PASSPHRASE} `] });
  expect(differing.exitCode).toBe(6);
  expect((await devsh('vault list')).stderr).toContain('there is no vault');
  const stdin = `${PASSPHRASE}\n`;
  const made = await devsh('vault init --passphrase-stdin', { stdin });
  expect(made).toMatchObject({ exitCode: 0 });
  expect(made.stderr).toContain('created the vault');
  expect((await devsh('vault init', { tty: [PASSPHRASE, PASSPHRASE] })).exitCode).toBe(6);
});

test('login --token keeps a token in place of the password of the same account', async () => {
  const { devsh, device } = await startFleet({ env: {} });
  await makeVault(devsh.folder);
  await devsh('login sim1 --user admin', { tty: ['admin-secret', PASSPHRASE] });
  const line = 'login sim1 --user admin --token';
  const { stderr } = await devsh(line, { tty: [device(1).accounts.admin.token, PASSPHRASE] });
  expect(stderr).toContain('sim1: the token of admin is accepted and kept in the vault');
  expect(stderr).not.toContain(device(1).accounts.admin.token);
  const list = await devsh('vault list --json --passphrase-stdin', { stdin: PASSPHRASE });
  expect(JSON.parse(list.stdout)).toMatchObject({ vault: [{ user: 'admin', kind: 'token' }] });
  await devsh('user list --on sim1 --passphrase-stdin', { stdin: PASSPHRASE });
  expect(device(1).log.at(-1)?.authorization).toBe('token');
});

test('a token typed behind login --token is repeated nowhere', async () => {
  const { devsh, device } = await startFleet();
  const { token } = device(1).accounts.admin;
  const { stderr, exitCode } = await devsh(`login sim1 --token ${token}`);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('--token takes no value');
  expect(stderr).not.toContain(token);
});

test('a user name that Basic cannot send is refused with the reason, before anything is sent', async () => {
  const { devsh, device } = await startFleet({ env: {} });
  const { stderr, exitCode } = await devsh('user list --on sim1 --user a:b --password-stdin', {
    stdin: 'x\n',
  });
  expect(exitCode).toBe(4);
  expect(stderr).toContain('must not contain ":"');
  expect(device(1).log).toEqual([]);
});

test('without a terminal the secret and the passphrase come in two lines', async () => {
  const { devsh } = await startFleet({ env: {} });
  await makeVault(devsh.folder);
  const line = 'login sim1 --user admin --password-stdin --passphrase-stdin';
  const { stderr, exitCode } = await devsh(line, { stdin: `admin-secret\n${PASSPHRASE}\n` });
  expect(stderr).toContain('kept in the vault');
  expect(exitCode).toBe(0);
  expect((await devsh(line, { stdin: 'admin-secret\n' })).exitCode).toBe(4);
});

test('a script and a secret cannot come from one standard input', async () => {
  const { devsh } = await startFleet({ env: {} });
  expect((await devsh('run - --passphrase-stdin', { stdin: 'info\n' })).exitCode).toBe(2);
});

test('a declined vault can still store a typed login', async () => {
  const { devsh } = await startFleet({ env: {} });
  await makeVault(devsh.folder);
  const { stderr, exitCode } = await devsh('user list --on sim1', {
    tty: ['', 'admin', 'admin-secret', 'y', PASSPHRASE],
  });
  expect(exitCode).toBe(0);
  expect(stderr).toContain('kept the login for sim1 in the vault');
});

test('a missing keychain is no news beside a device that refuses the connection', async () => {
  const { devsh, device } = await startFleet({ devices: 1, env: {} });
  device(1).setFault('refuse');
  const { stderr, exitCode } = await devsh('user list --on sim1');
  expect(stderr).toContain('refuses the connection');
  expect(stderr).not.toContain('keychain');
  expect(exitCode).toBe(5);
});

test('a missing keychain is reported once, in one line, after the login that works', async () => {
  const { devsh } = await startFleet({ devices: 1, env: {} });
  const { stderr } = await devsh('user list --on sim1', { tty: ['admin', 'admin-secret'] });
  const [before = '', after, ...more] = stderr.split('this machine has no keychain');
  expect(before).toContain('Password of admin on sim1');
  expect(after).toContain('each session asks for the login');
  expect(more).toEqual([]);
  expect(stderr).not.toContain('no OS keychain responds');
});

test('login: a missing keychain is reported before the login is typed that it cannot keep', async () => {
  const { devsh } = await startFleet({ devices: 1, env: {} });
  const { stderr } = await devsh('login sim1', { tty: ['admin', 'admin-secret'] });
  const [before, after] = stderr.split('no OS keychain responds');
  expect(before).not.toContain('User name');
  expect(after).toContain('User name on sim1');
  expect(stderr.match(/warning: no OS keychain/g)).toBeNull();
});
