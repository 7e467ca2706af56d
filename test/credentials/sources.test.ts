import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect, test, vi } from 'vitest';
import { OsKeychain } from '../../src/credentials/keychain.ts';
import type { CredentialStore, StoredCredential } from '../../src/credentials/store.ts';
import { Credentials, type CredentialOptions } from '../../src/credentials/sources.ts';
import { Vault } from '../../src/credentials/vault.ts';
import { CredentialError } from '../../src/errors.ts';
import { makeTempFolder } from '../settings/temp-folder.ts';

/** There is none. */
const vault = new Vault('/nowhere/vault.age');

const device = { name: 'fw1', address: '10.0.0.5:443' };
const basic = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** A keychain in memory: one credential for every device, counted calls. */
function makeKeychain(stored?: StoredCredential) {
  const calls: (string | undefined)[] = [];
  const keychain: CredentialStore = {
    find: (_address, user) => {
      calls.push(user);
      return Promise.resolve(stored);
    },
    store: () => Promise.resolve(),
    forget: () => Promise.resolve(0),
    list: () => Promise.resolve([]),
  };
  return { keychain, calls };
}

async function find(options: Partial<CredentialOptions>, user?: string) {
  const { keychain } = makeKeychain();
  const found = await new Credentials({ env: {}, vault, keychain, ...options }).find({
    device,
    user,
  });
  return found && [found.source, found.credential.user, found.credential.header()];
}

const stdin = (kind: 'token' | 'password', text: string) => ({
  kind,
  read: () => Promise.resolve(text),
});

test.each<[string, Partial<CredentialOptions>, string | undefined, unknown]>([
  ['nothing', {}, undefined, undefined],
  ['a token on stdin', { stdin: stdin('token', 'abc\nrest') }, 'x', ['stdin', 'x', 'Token abc']],
  [
    'a password on stdin, its blanks kept',
    { stdin: stdin('password', ' p w \r\n') },
    'admin',
    ['stdin', 'admin', basic('admin', ' p w ')],
  ],
  [
    '--user before the inventory',
    { stdin: stdin('password', 'x'), user: 'root' },
    'admin',
    ['stdin', 'root', basic('root', 'x')],
  ],
  [
    'stdin before the environment',
    { stdin: stdin('token', 'abc'), env: { DEVSH_TOKEN: 'other' } },
    undefined,
    ['stdin', undefined, 'Token abc'],
  ],
  [
    'DEVSH_USER for a password on stdin',
    { stdin: stdin('password', 'x'), env: { DEVSH_USER: 'ops' } },
    undefined,
    ['stdin', 'ops', basic('ops', 'x')],
  ],
  [
    'DEVSH_TOKEN before DEVSH_PASSWORD',
    { env: { DEVSH_TOKEN: 'abc', DEVSH_USER: 'ops', DEVSH_PASSWORD: 'x' } },
    undefined,
    ['environment', 'ops', 'Token abc'],
  ],
  [
    'DEVSH_USER with DEVSH_PASSWORD',
    { env: { DEVSH_TOKEN: '', DEVSH_USER: 'ops', DEVSH_PASSWORD: 'x' } },
    'admin',
    ['environment', 'ops', basic('ops', 'x')],
  ],
  [
    'DEVSH_PASSWORD for the user of the inventory',
    { env: { DEVSH_PASSWORD: 'x' } },
    'admin',
    ['environment', 'admin', basic('admin', 'x')],
  ],
  [
    'the password of DEVSH_USER never for another --user',
    { env: { DEVSH_USER: 'ops', DEVSH_PASSWORD: 'x' }, user: 'root' },
    undefined,
    undefined,
  ],
])('%s', async (_title, options, user, expected) => {
  expect(await find(options, user)).toEqual(expected);
});

test.each<[Partial<CredentialOptions>, string]>([
  [{ stdin: stdin('password', 'hunter2') }, '--password-stdin has a password, but no user'],
  [{ stdin: stdin('token', '\n') }, '--token-stdin: standard input contains no token'],
  [{ stdin: stdin('token', 'hunter2 x') }, '--token-stdin: a token is one word'],
  [{ env: { DEVSH_PASSWORD: 'hunter2' } }, 'fw1: DEVSH_PASSWORD has a password, but no user'],
  [{ env: { DEVSH_TOKEN: 'hunter2\nx' } }, 'DEVSH_TOKEN: a token is one word'],
  [{ env: { DEVSH_TOKEN: ' hunter2' } }, 'DEVSH_TOKEN: a token is one word'],
  [{ stdin: stdin('token', 'hunter2 \n') }, '--token-stdin: a token is one word'],
])('%j is unusable, and the error has no secret', async (options, message) => {
  await expect(find(options)).rejects.toThrow(message);
  await expect(find(options)).rejects.toThrow(CredentialError);
  await find(options).catch((error: unknown) => {
    expect(inspect(error)).not.toContain('hunter2');
  });
});

test('stdin is read once for all devices', async () => {
  let reads = 0;
  const read = () => Promise.resolve(`token${++reads}`);
  const credentials = new Credentials({
    env: {},
    vault,
    stdin: { kind: 'token', read },
    keychain: makeKeychain().keychain,
  });
  const found = await Promise.all(
    [1, 2, 3].map(() => credentials.find({ device, user: undefined })),
  );
  expect(found.map((each) => each?.credential.header())).toEqual(Array(3).fill('Token token1'));
});

test('the keychain comes last, and is asked for the requested user', async () => {
  const { keychain, calls } = makeKeychain({ kind: 'token', user: 'admin', secret: 'abc' });
  const credentials = new Credentials({ env: { DEVSH_USER: 'ops' }, vault, keychain });
  const found = await credentials.find({ device, user: 'admin' });
  await credentials.find({ device, user: undefined });
  expect(found).toMatchObject({ source: 'keychain', credential: { user: 'admin' } });
  expect(found?.credential.header()).toBe('Token abc');
  expect(calls).toEqual(['admin', 'ops']);
});

test('a token without a user will do for the user of the inventory, but not for --user', async () => {
  const token = { kind: 'token', secret: 'abc' } as const;
  const { keychain } = makeKeychain();
  const unnamed = {
    ...keychain,
    find: (_: string, user?: string) => Promise.resolve(user === '' ? token : undefined),
  };
  const request = { device, user: 'admin' };
  const found = await new Credentials({ env: {}, vault, keychain: unnamed }).find(request);
  expect(found?.credential.header()).toBe('Token abc');
  const asked = new Credentials({ env: {}, vault, keychain: unnamed, user: 'admin' });
  expect(await asked.find(request)).toBeUndefined();
});

test('an absent keychain is asked once, and its problem is kept', async () => {
  const keychain = new OsKeychain({ env: { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' } });
  const asked = vi.spyOn(keychain, 'find');
  const credentials = new Credentials({ env: {}, vault, keychain });
  if (process.platform !== 'linux') return;
  expect(credentials.problems).toEqual([]);
  expect(await credentials.find({ device, user: undefined })).toBeUndefined();
  expect(await credentials.find({ device, user: undefined })).toBeUndefined();
  expect(asked).toHaveBeenCalledTimes(1);
  expect(credentials.problems).toEqual([expect.stringContaining('no OS keychain responds')]);
  await expect(credentials.store(device, { kind: 'token', secret: 't' })).rejects.toThrow(
    CredentialError,
  );
});

/** A vault that is open, with one token. */
async function makeVault() {
  const open = new Vault(join(await makeTempFolder(), 'vault.age'), { workFactor: 10 });
  await open.create('correct horse');
  await open.store(device.address, { kind: 'token', user: 'admin', secret: 'from-vault' });
  return open;
}

const saying = (lines: string) => [process.execPath, '-p', JSON.stringify(lines)];

test('a credential_command comes before the keychain, and gives way to what was given', async () => {
  const { keychain, calls } = makeKeychain({ kind: 'token', secret: 'kept' });
  const command = saying('username=admin\npassword=told');
  const credentials = new Credentials({ env: {}, vault, keychain });
  const found = await credentials.find({ device, user: undefined, command });
  expect(found).toMatchObject({ source: 'credential_command', credential: { user: 'admin' } });
  expect(found?.credential.header()).toBe(basic('admin', 'told'));
  expect(calls).toEqual([]);
  const given = new Credentials({ env: { DEVSH_TOKEN: 'given' }, vault, keychain });
  expect(await given.find({ device, user: undefined, command })).toMatchObject({
    source: 'environment',
  });
});

test('a login of a program belongs to its user: never tried for another --user', async () => {
  const { keychain } = makeKeychain();
  const credentials = new Credentials({ env: {}, vault, keychain, user: 'root' });
  const of = (lines: string) =>
    credentials.find({ device, user: undefined, command: saying(lines) });
  expect(await of('username=admin\npassword=told')).toBeUndefined();
  expect((await of('password=told'))?.credential.header()).toBe(basic('root', 'told'));
});

test('a program is run once for all devices with the same command, and again after a refresh', async () => {
  const folder = await makeTempFolder();
  const command = ['/bin/sh', '-c', `echo x >> '${folder}/runs'; echo abc`];
  const credentials = new Credentials({ env: {}, vault, keychain: makeKeychain().keychain });
  const ask = () =>
    Promise.all(
      [1, 2, 3].map((n) =>
        credentials.find({
          device: { name: `fw${n}`, address: `10.0.0.${n}:443` },
          user: undefined,
          command,
        }),
      ),
    );
  await ask();
  expect(await readFile(join(folder, 'runs'), 'utf8')).toBe('x\n');
  credentials.refresh();
  await ask();
  expect(await readFile(join(folder, 'runs'), 'utf8')).toBe('x\nx\n');
});

test('at most eight programs run at a time', async () => {
  const folder = await makeTempFolder();
  const script = `cd '${folder}'; mkdir $1; ls | wc -l; sleep 0.05; rmdir $1`;
  const credentials = new Credentials({
    env: process.env,
    vault,
    keychain: makeKeychain().keychain,
  });
  const found = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      credentials.find({
        device: { name: `fw${n}`, address: `10.0.0.${n}:443` },
        user: undefined,
        command: ['/bin/sh', '-c', script, 'sh', '{device}'],
      }),
    ),
  );
  const running = found.map((each) => Number(each?.credential.header().slice('Token '.length)));
  expect(Math.max(...running)).toBeLessThanOrEqual(8);
  expect(Math.max(...running)).toBeGreaterThan(1);
});

test('the vault comes after the keychain', async () => {
  const open = await makeVault();
  const request = { device, user: undefined };
  const kept = makeKeychain({ kind: 'token', secret: 'kept' }).keychain;
  const { keychain } = makeKeychain();
  const find = (options: Pick<CredentialOptions, 'keychain' | 'vault'>) =>
    new Credentials({ env: {}, ...options }).find(request);
  expect(await find({ keychain: kept, vault: open })).toMatchObject({ source: 'keychain' });
  expect(await find({ keychain, vault: open })).toMatchObject({
    source: 'vault',
    credential: { user: 'admin' },
  });
  expect(await find({ keychain, vault })).toBeUndefined();
});

test('a locked vault is reported only if nothing else has a login', async () => {
  const closed = await makeVault();
  closed.lock();
  const { keychain } = makeKeychain();
  const credentials = new Credentials({ env: {}, keychain, vault: closed });
  const request = { device, user: 'admin' };
  expect(await credentials.find({ ...request, command: saying('password=x') })).toBeDefined();
  expect(credentials.problems).toEqual([]);
  expect(await credentials.find(request)).toBeUndefined();
  expect(credentials.problems).toEqual([expect.stringContaining('vault unlock')]);
});

test('a login stored in the vault is removed from the keychain', async () => {
  const forgotten: (string | undefined)[][] = [];
  const { keychain } = makeKeychain();
  const noting = {
    ...keychain,
    forget: (address: string, user?: string) => Promise.resolve(forgotten.push([address, user])),
  };
  const open = await makeVault();
  const credentials = new Credentials({ env: {}, keychain: noting, vault: open });
  const login = { kind: 'basic', user: 'admin', secret: 'x' } as const;
  expect(await credentials.store(device, login, { to: 'vault' })).toBe('vault');
  expect(forgotten).toEqual([[device.address, 'admin']]);
  expect(await credentials.store(device, login)).toBe('keychain');
});

test('the origin of a login is known without the login, and without running a program', async () => {
  const folder = await makeTempFolder();
  const command = ['/bin/sh', '-c', `echo x > '${folder}/run'`];
  const { keychain } = makeKeychain();
  const open = await makeVault();
  const origin = (options: Partial<CredentialOptions>, request = {}) =>
    new Credentials({ env: {}, keychain, vault, ...options }).origin({
      device,
      user: undefined,
      ...request,
    });
  expect(await origin({}, { command })).toMatchObject({ source: 'credential_command' });
  await expect(readFile(join(folder, 'run'))).rejects.toThrow('ENOENT');
  expect(await origin({ stdin: stdin('token', 'abc') })).toMatchObject({
    source: 'stdin',
    kind: 'token',
  });
  expect(await origin({ vault: open })).toEqual({
    source: 'vault',
    user: 'admin',
    kind: 'token',
  });
  open.lock();
  expect(await origin({ vault: open })).toMatchObject({
    source: 'vault',
    note: expect.stringContaining('locked') as string,
  });
  expect(await origin({})).toEqual({ source: undefined });
});

test('devices that share a login share one credential, others do not', async () => {
  const env = { DEVSH_PASSWORD: 'secret' };
  const { keychain } = makeKeychain();
  const credentials = new Credentials({ env, vault, keychain });
  const found = async (name: string, user: string) => {
    const request = { device: { name, address: `${name}:443` }, user };
    return (await credentials.find(request))?.credential;
  };
  const first = await found('fw1', 'admin');
  expect(await found('fw2', 'admin')).toBe(first);
  const other = await found('fw3', 'root');
  expect(other?.user).toBe('root');
  env.DEVSH_PASSWORD = 'changed';
  expect((await found('fw4', 'root'))?.header()).toBe(basic('root', 'changed'));
});
