import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { KeychainUnavailableError } from '../../src/credentials/keychain-process.ts';
import { accountName, OsKeychain, parseAccount } from '../../src/credentials/keychain.ts';
import { CredentialError } from '../../src/errors.ts';
import { contention } from '../contention.ts';

const refusal = await new OsKeychain({ env: process.env, service: 'devsh-test' }).list().then(
  () => undefined,
  (error: unknown) => String(error),
);

/** A keychain with a service of its own, emptied after the test. */
function makeKeychain() {
  const service = `devsh-test-${randomUUID()}`;
  // A loaded machine may need seconds to start each child.
  const keychain = new OsKeychain({ env: process.env, service, limitMs: 15_000 });
  onTestFinished(async () => {
    for (const { address } of await keychain.list()) await keychain.forget(address);
  });
  return keychain;
}

const ADDRESS = '10.0.0.5:443';

// Without a Secret Service the title says why these did not run.
const why = refusal === undefined ? '' : ` (skipped: ${refusal})`;
describe.skipIf(refusal !== undefined)(`the keychain of this system${why}`, () => {
  test('returns what was stored, one entry per account', async () => {
    const keychain = makeKeychain();
    const admin = { kind: 'basic', user: 'admin', secret: 'päss "word"\n🔑' } as const;
    const viewer = { kind: 'token', user: 'viewer', secret: 'abc' } as const;
    await keychain.store(ADDRESS, admin);
    expect(await keychain.find(ADDRESS)).toEqual(admin);
    await keychain.store(ADDRESS, viewer);
    await keychain.store('10.0.0.6:443', { kind: 'token', secret: 'bare' });
    expect(await keychain.find(ADDRESS, 'admin')).toEqual(admin);
    expect(await keychain.find(ADDRESS, 'viewer')).toEqual(viewer);
    expect(await keychain.find(ADDRESS, 'nobody')).toBeUndefined();
    expect(await keychain.find('10.0.0.6:443')).toEqual({ kind: 'token', secret: 'bare' });
    expect(await keychain.find('10.0.0.6:443', '')).toEqual({ kind: 'token', secret: 'bare' });
    expect(await keychain.find(ADDRESS, '')).toBeUndefined();
    expect(await keychain.find('10.0.0.7:443')).toBeUndefined();
    expect(await keychain.list()).toHaveLength(3);
  });

  test('tells with a login what is kept of its rotation', async () => {
    const keychain = makeKeychain();
    const login = { kind: 'basic', user: 'admin', secret: 'old' } as const;
    await keychain.store(ADDRESS, login);
    const account = `admin@${ADDRESS}`;
    await keychain.writeRotations([{ account, text: '{}' }]);
    expect(await keychain.find(ADDRESS)).toEqual({ ...login, rotation: '{}' });
    expect(await keychain.list()).toHaveLength(1);
    await keychain.writeRotations([{ account, text: undefined }]);
    expect(await keychain.find(ADDRESS)).toEqual(login);
  });

  test('asks for the user when a device has several accounts', async () => {
    const keychain = makeKeychain();
    await keychain.store(ADDRESS, { kind: 'basic', user: 'admin', secret: 'x' });
    await keychain.store(ADDRESS, { kind: 'basic', user: 'root', secret: 'y' });
    await expect(keychain.find(ADDRESS)).rejects.toThrow('2 accounts (admin, root)');
  });

  test('a new token replaces the password of the same account', async () => {
    const keychain = makeKeychain();
    await keychain.store(ADDRESS, { kind: 'basic', user: 'admin', secret: 'x' });
    await keychain.store(ADDRESS, { kind: 'token', user: 'admin', secret: 't' });
    expect(await keychain.list()).toEqual([{ address: ADDRESS, user: 'admin', kind: 'token' }]);
    await keychain.store(ADDRESS, { kind: 'basic', user: 'admin', secret: 'y' });
    expect(await keychain.find(ADDRESS)).toMatchObject({ secret: 'y' });
  });

  test('a user called token and a token without a user are two accounts', async () => {
    const keychain = makeKeychain();
    await keychain.store(ADDRESS, { kind: 'basic', user: 'token', secret: 'x' });
    await keychain.store(ADDRESS, { kind: 'token', secret: 't' });
    expect(await keychain.list()).toHaveLength(2);
  });

  test('forgets one account or all of a device', async () => {
    const keychain = makeKeychain();
    for (const user of ['a', 'b', 'c']) {
      await keychain.store(ADDRESS, { kind: 'basic', user, secret: 'x' });
    }
    expect(await keychain.forget(ADDRESS, 'a')).toBe(1);
    expect(await keychain.forget(ADDRESS, 'a')).toBe(0);
    expect(await keychain.forget(ADDRESS)).toBe(2);
    expect(await keychain.list()).toEqual([]);
  });
});

test('without a Secret Service it is unavailable, and nothing is stored in the kernel keyring', async () => {
  if (process.platform !== 'linux') return;
  const keychain = new OsKeychain({
    env: { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' },
    service: 'devsh-test',
  });
  const attempt = keychain.store(ADDRESS, { kind: 'token', secret: 't' });
  await expect(attempt).rejects.toThrow(KeychainUnavailableError);
  await expect(attempt).rejects.toThrow('DEVSH_TOKEN');
  await expect(attempt).rejects.toThrow('no OS keychain responds');
});

/** A keychain that takes connections and never says a word. */
async function startSilentKeychain() {
  const folder = await mkdtemp(join(tmpdir(), 'devsh-test-'));
  const socket = join(folder, 'bus');
  let isClosed: Promise<void> | undefined;
  const server = createServer((connection) => {
    isClosed = new Promise((resolve) => {
      connection
        .resume()
        .on('close', resolve)
        .on('error', () => undefined);
    });
  }).listen(socket);
  onTestFinished(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });
  return {
    env: { DBUS_SESSION_BUS_ADDRESS: `unix:path=${socket}` },
    /** Resolves when the one who asked is gone. */
    isClosed: () => isClosed,
  };
}

test('a keychain that never responds times out, and its process is gone', async () => {
  if (process.platform !== 'linux') return;
  const { env, isClosed } = await startSilentKeychain();
  const startedAt = performance.now();
  await expect(new OsKeychain({ env, limitMs: 1_500 }).find(ADDRESS)).rejects.toThrow(
    'did not respond within 1.5 s',
  );
  expect(performance.now() - startedAt).toBeLessThan(5_000 * contention());
  expect(isClosed()).toBeDefined();
  await isClosed();
});

test('over SSH a keychain that would ask on the desktop is not waited for', async () => {
  if (process.platform !== 'linux') return;
  const { env } = await startSilentKeychain();
  const remote = { ...env, SSH_CONNECTION: '10.0.0.9 50000 10.0.0.1 22' };
  const keychain = new OsKeychain({ env: remote, limitMs: 60_000 });
  await expect(keychain.store(ADDRESS, { kind: 'token', secret: 't' })).rejects.toThrow(
    'did not respond within 1.5 s',
  );
});

test('refuses a user that Basic authentication cannot send', () => {
  expect(() => accountName({ address: ADDRESS, kind: 'basic', user: 'a:b' })).toThrow(
    CredentialError,
  );
  expect(() => accountName({ address: ADDRESS, kind: 'basic', user: '' })).toThrow(CredentialError);
});

test('no two accounts have the same name, and each name can be read back', () => {
  const user = fc.string({ unit: fc.constantFrom(...'token:@admin[]:443'.split(/(?:)/)) });
  const account = fc.record({
    address: fc.constantFrom(ADDRESS, '[fe80::1]:443', 'fw1.example.net:8443'),
    kind: fc.constantFrom('basic' as const, 'token' as const),
    user,
  });
  fc.assert(
    fc.property(account, (drawn) => {
      fc.pre(drawn.kind === 'token' || (drawn.user !== '' && !drawn.user.includes(':')));
      const { user, ...rest } = drawn;
      expect(parseAccount(accountName(drawn))).toEqual(user === '' ? rest : drawn);
    }),
  );
});

test.each(['', 'admin', '@10.0.0.5:443', 'other:x@10.0.0.5:443'])(
  '%j is not one of ours',
  (name) => {
    expect(parseAccount(name)).toBeUndefined();
  },
);
