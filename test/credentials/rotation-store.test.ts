import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { accountName, OsKeychain } from '../../src/credentials/keychain.ts';
import { RotationStore, runInDoubt } from '../../src/credentials/rotation-store.ts';
import type { RotatedAccount } from '../../src/device/credential.ts';
import { Vault, VaultLockedError } from '../../src/credentials/vault.ts';
import { CredentialError, RefusedError, SettingsError } from '../../src/errors.ts';
import { bundleProgram, type Bundle } from '../pty/bundle.ts';
import { makeTempFolder } from '../settings/temp-folder.ts';

const ADDRESS = '10.0.0.5:443';
const PASSPHRASE = 'correct horse battery';
const admin: RotatedAccount = { address: ADDRESS, user: 'admin', kind: 'basic' };
/** No Secret Service. */
const noKeychain = new OsKeychain({ env: { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' } });

async function makeVault() {
  const folder = await makeTempFolder();
  const vault = new Vault(join(folder, 'vault.age'), { workFactor: 10 });
  await vault.create(PASSPHRASE);
  return { vault, folder };
}

interface Setup {
  readonly keychain?: OsKeychain;
  readonly vault: Vault;
  readonly folder: string;
}

const open = ({ keychain = noKeychain, vault, folder }: Setup) =>
  RotationStore.open({
    keychain,
    vault,
    unlockVault: () => Promise.resolve(vault.isUnlocked),
    lockPath: join(folder, 'rotation'),
  });

const refusal = await new OsKeychain({ env: process.env, service: 'devsh-test' }).list().then(
  () => undefined,
  (error: unknown) => String(error),
);

/** A keychain with services of its own, emptied after the test. */
function makeKeychain(service = `devsh-test-${randomUUID()}`): OsKeychain {
  const keychain = new OsKeychain({ env: process.env, service, limitMs: 15_000 });
  onTestFinished(async () => {
    for (const { address } of await keychain.list()) await keychain.forget(address);
    const entries = await keychain.readRotations();
    await keychain.writeRotations(
      entries.map((entry) => ({ account: accountName(entry), text: undefined })),
    );
  });
  return keychain;
}

const places: [string, boolean, () => Promise<Setup & { logins: OsKeychain | Vault }>][] = [
  [
    'the vault',
    false,
    async () => {
      const made = await makeVault();
      return { ...made, logins: made.vault };
    },
  ],
  [
    `the keychain of this system${refusal === undefined ? '' : ` (skipped: ${refusal})`}`,
    refusal !== undefined,
    async () => {
      const folder = await makeTempFolder();
      const keychain = makeKeychain();
      return { keychain, vault: new Vault(join(folder, 'none')), folder, logins: keychain };
    },
  ],
];

describe.each(places)('in %s', (_title, isSkipped, setUp) => {
  test.skipIf(isSkipped)('a pending secret is found by no ordinary look-up', async () => {
    const setup = await setUp();
    const { logins } = setup;
    await logins.store(ADDRESS, { kind: 'basic', user: 'admin', secret: 'old-one' });
    const store = await open(setup);
    await store.keepPending(admin, 'new-one', { run: 'r1', replaces: 'old-one' });
    expect(await logins.find(ADDRESS)).toMatchObject({ secret: 'old-one' });
    expect(await logins.list()).toEqual([{ address: ADDRESS, user: 'admin', kind: 'basic' }]);
    const again = await open(setup);
    expect(inspect([store, again], { depth: 9, showHidden: true })).not.toMatch(/(?:new|old)-one/);
    expect(await again.read(admin)).toEqual({
      pending: 'new-one',
      run: 'r1',
      replaces: 'old-one',
      current: 'old-one',
    });
  });

  test.skipIf(isSkipped)('the login of devsh goes over, and the old one is previous', async () => {
    const setup = await setUp();
    const { logins } = setup;
    await logins.store(ADDRESS, { kind: 'basic', user: 'admin', secret: 'old-one' });
    const store = await open(setup);
    await store.keepPending(admin, 'new-one', { run: 'r1', replaces: 'old-one' });
    await store.promote(admin, { isLogin: true });
    await store.promote(admin, { isLogin: true });
    expect(await logins.find(ADDRESS)).toMatchObject({ secret: 'new-one' });
    expect(await store.read(admin)).toEqual({
      run: 'r1',
      current: 'new-one',
      previous: 'old-one',
    });
  });

  test.skipIf(isSkipped)('another account gets no ordinary login', async () => {
    const setup = await setUp();
    const { logins } = setup;
    await logins.store(ADDRESS, { kind: 'basic', user: 'admin', secret: 'x' });
    const jdoe = { ...admin, user: 'jdoe' };
    const token = { ...jdoe, kind: 'token' as const };
    const store = await open(setup);
    await store.keepPending(jdoe, 'first', { run: 'r1' });
    await store.keepPending(token, 'its-token', { run: 'r1' });
    await store.promote(jdoe, { isLogin: false });
    await store.keepPending(jdoe, 'second', { run: 'r1' });
    await store.promote(jdoe, { isLogin: false });
    expect(await logins.list()).toHaveLength(1);
    expect(await store.read(jdoe)).toMatchObject({
      current: 'second',
      previous: 'first',
    });
    expect(await store.read(token)).toEqual({ pending: 'its-token', run: 'r1' });
  });

  test.skipIf(isSkipped)('many secrets are kept together, and forgotten again', async () => {
    const setup = await setUp();
    const store = await open(setup);
    const accounts = Array.from({ length: 45 }, (_, at) => ({
      ...admin,
      address: `10.0.0.${at}:443`,
    }));
    await Promise.all(
      accounts.map((account) => store.keepPending(account, 'secret-value', { run: 'r1' })),
    );
    expect(await store.list()).toHaveLength(45);
    await Promise.all(accounts.map((account) => store.dropPending(account)));
    expect(await store.list()).toEqual([]);
  });

  test.skipIf(isSkipped)('two devsh at once: only one sends a new secret', async () => {
    const setup = await setUp();
    const [one, other] = [await open(setup), await open(setup)];
    await one.keepPending(admin, 'of-one', { run: 'r1' });
    await other.keepPending(admin, 'of-other', { run: 'r2' });
    const both = await Promise.allSettled([one.markSent(admin, 'r1'), other.markSent(admin, 'r2')]);
    expect(both).toMatchObject([
      { status: 'rejected', reason: expect.any(RefusedError) as unknown },
      { status: 'fulfilled' },
    ]);
    const late = one.keepPending(admin, 'of-one', { run: 'r1' });
    await expect(late).rejects.toThrow('"resume r2" first');
    await expect(late).rejects.not.toThrow(/of-one|of-other/);
    await other.keepPending(admin, 'made-again', { run: 'r2' });
    expect(await one.read(admin)).toEqual({ pending: 'made-again', run: 'r2' });
  });

  test.skipIf(isSkipped)('the entry of a later devsh is neither read nor replaced', async () => {
    const setup = await setUp();
    const secret = '{"schema":"devsh-rotation/9","pending":"hunter2"}';
    await setup.logins.writeRotations([{ account: accountName(admin), text: secret }]);
    const store = await open(setup);
    await expect(store.read(admin)).rejects.toThrow('of a later devsh');
    await expect(store.keepPending(admin, 'x', { run: 'r1' })).rejects.toThrow(CredentialError);
    expect(await setup.logins.readRotations()).toEqual([{ ...admin, secret }]);
  });
});

test('a token that is kept without its user is replaced as such', async () => {
  const setup = await makeVault();
  await setup.vault.store(ADDRESS, { kind: 'token', secret: 'old-token' });
  const account = { ...admin, kind: 'token' as const };
  const store = await open(setup);
  await store.keepPending(account, 'new-token', { run: 'r1', replaces: 'old-token' });
  await store.promote(account, { isLogin: true });
  expect(await setup.vault.list()).toEqual([{ address: ADDRESS, kind: 'token' }]);
  expect(await setup.vault.find(ADDRESS)).toMatchObject({ secret: 'new-token' });
});

test('a typed login becomes an ordinary one', async () => {
  const setup = await makeVault();
  const store = await open(setup);
  await store.keepPending(admin, 'new-one', { run: 'r1', replaces: 'typed' });
  await store.promote(admin, { isLogin: true });
  expect(await setup.vault.find(ADDRESS)).toMatchObject({ user: 'admin', secret: 'new-one' });
});

test('a refused secret goes, and the previous one stays', async () => {
  const setup = await makeVault();
  const store = await open(setup);
  await store.keepPending(admin, 'one', { run: 'r1', replaces: 'zero' });
  await store.promote(admin, { isLogin: false });
  await store.keepPending(admin, 'two', { run: 'r1', replaces: 'one' });
  await store.dropPending(admin);
  expect(await store.read(admin)).toMatchObject({ current: 'one', previous: 'zero' });
  await store.dropPending(admin);
  expect(await store.list()).toMatchObject([{ user: 'admin', current: 'one' }]);
});

test('a previous secret that an earlier devsh kept with an end is read', async () => {
  const setup = await makeVault();
  const kept = { current: 'new', previous: { secret: 'old', until: '2026-03-31T00:00:00.000Z' } };
  const text = JSON.stringify({ schema: 'devsh-rotation/1', ...kept });
  await setup.vault.writeRotations([{ account: accountName(admin), text }]);
  expect(await (await open(setup)).read(admin)).toEqual({ current: 'new', previous: 'old' });
});

test('everything of an account is forgotten, but not what a device may have', async () => {
  const setup = await makeVault();
  const store = await open(setup);
  const jdoe = { ...admin, user: 'jdoe' };
  for (const account of [admin, jdoe]) {
    await store.keepPending(account, 'new', { run: 'r1', replaces: 'old' });
    await store.promote(account, { isLogin: false });
  }
  await store.keepPending(jdoe, 'newer', { run: 'r2' });
  expect(await store.forget(({ address }) => address === '10.0.0.6:443')).toBe(0);
  expect(await store.forget(({ address }) => address === ADDRESS)).toBe(1);
  expect(await store.list()).toMatchObject([{ user: 'jdoe', pending: 'newer', current: 'new' }]);
});

test('a locked vault, no vault and a full disk are errors before anything is kept', async () => {
  const setup = await makeVault();
  const store = await open(setup);
  setup.vault.lock();
  await expect(open(setup)).rejects.toThrow(VaultLockedError);
  await expect(store.keepPending(admin, 'x', { run: 'r1' })).rejects.toThrow('is locked');
  const none = new Vault(join(setup.folder, 'none.age'));
  await expect(open({ ...setup, vault: none })).rejects.toThrow('there is neither: "vault init"');
  const full = { ...setup, folder: '/dev/full' };
  await setup.vault.unlock(PASSPHRASE);
  await expect((await open(full)).keepPending(admin, 'x', { run: 'r1' })).rejects.toThrow(
    SettingsError,
  );
  expect(await setup.vault.readRotations()).toEqual([]);
});

/** What a devsh without rotation does with the file: it parses, changes and seals the entries. */
test('a devsh without rotation keeps the entries', async () => {
  const setup = await makeVault();
  await (await open(setup)).keepPending(admin, 'new-one', { run: 'r1' });
  const { openVault, sealVault } = await import('../../src/credentials/vault-file.ts');
  const { path } = setup.vault;
  const { entries } = await openVault(await readFile(path, 'utf8'), PASSPHRASE, path);
  const added = { address: ADDRESS, kind: 'basic', user: 'root', secret: 'y' } as const;
  await writeFile(path, await sealVault([...entries, added], PASSPHRASE, 10));
  expect(await (await open(setup)).read(admin)).toEqual({ pending: 'new-one', run: 'r1' });
  expect(await setup.vault.forget(ADDRESS)).toBe(1);
  expect(await (await open(setup)).read(admin)).toEqual({ pending: 'new-one', run: 'r1' });
});

describe('a devsh that promotes a secret,', () => {
  let program: Bundle;
  beforeAll(async () => {
    program = await bundleProgram(new URL('promote-and-die.ts', import.meta.url));
  });
  afterAll(() => program.remove());

  test.each([0, 1, 2])('killed at write %i: a login that works is kept', async (at) => {
    const setup = await makeVault();
    const { vault, folder } = setup;
    await vault.store(ADDRESS, { kind: 'basic', user: 'admin', secret: 'old-one' });
    await (await open(setup)).keepPending(admin, 'new-one', { run: 'r1', replaces: 'old-one' });
    const args = [program.path, folder, PASSPHRASE, JSON.stringify(admin), String(at)];
    const child = spawn(process.execPath, args, { stdio: 'inherit' });
    expect(await once(child, 'exit')).toEqual(at === 2 ? [0, null] : [null, 'SIGKILL']);

    // The device accepts only new-one: a resumed run tries what is kept, in this order.
    const store = await open(setup);
    const { pending, current } = await store.read(admin);
    expect([pending, current]).toContain('new-one');
    await store.promote(admin, { isLogin: true });
    expect(await vault.find(ADDRESS)).toMatchObject({ secret: 'new-one' });
    expect(await store.read(admin)).toMatchObject({
      current: 'new-one',
      previous: 'old-one',
    });
    expect((await store.read(admin)).pending).toBeUndefined();
  });
});

test('a secret is kept where the login of its account is, which shows that it is in doubt', async () => {
  const first = await makeVault();
  const second = await makeVault();
  await second.vault.store(ADDRESS, { kind: 'basic', user: 'admin', secret: 'old-one' });
  const keychain = first.vault as unknown as OsKeychain;
  const store = await open({ keychain, ...second });
  const options = { run: 'r1', replaces: 'old-one' };
  await store.keepPending(admin, 'new-one', options);
  await store.keepPending({ ...admin, user: 'jdoe' }, 'new-one', options);
  await store.markSent(admin, 'r1');
  const { rotation = '', secret = '' } = (await second.vault.find(ADDRESS)) ?? {};
  expect(runInDoubt(rotation, secret)).toBe('r1');
  expect(await first.vault.readRotations()).toMatchObject([{ user: 'jdoe' }]);
});

test.skipIf(refusal !== undefined)('after a refusal the keychain is asked anew', async () => {
  const service = `devsh-test-${randomUUID()}`;
  const [keychain, other] = [makeKeychain(service), makeKeychain(service)];
  await other.store(ADDRESS, { kind: 'basic', user: 'admin', secret: 'old-one' });
  expect((await keychain.find(ADDRESS))?.rotation).toBeUndefined();
  await other.writeRotations([{ account: accountName(admin), text: 'kept' }]);
  keychain.refresh();
  expect((await keychain.find(ADDRESS))?.rotation).toBe('kept');
});

test('what was tried last is known until no outcome is open', async () => {
  const made = await makeVault();
  await made.vault.store(ADDRESS, { kind: 'basic', user: 'admin', secret: 'old-one' });
  const killed = await open(made);
  await killed.keepPending(admin, 'new-one', { run: 'r1', replaces: 'old-one' });
  await killed.markSent(admin, 'r1');
  await killed.trying(admin, 'old');
  await killed.trying(admin, 'new');
  const path = join(made.folder, 'rotation-tries');
  await appendFile(path, '["admin@'); // cut off by a power failure
  const store = await open(made);
  expect(await store.lastTried(admin)).toBe('new');
  expect(await store.lastTried({ ...admin, user: 'jdoe' })).toBeUndefined();
  await store.promote(admin, { isLogin: true });
  expect(await store.lastTried(admin)).toBeUndefined();
  await expect(readFile(path)).rejects.toThrow('ENOENT');
});
