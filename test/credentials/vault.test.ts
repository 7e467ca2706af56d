import { execFile } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { spawn } from '@lydell/node-pty';
import { Encrypter, armor } from 'age-encryption';
import { expect, onTestFinished, test } from 'vitest';
import { Vault, VaultKey, VaultLockedError } from '../../src/credentials/vault.ts';
import { WrongPassphraseError } from '../../src/credentials/store.ts';
import { CredentialError, RefusedError, SettingsError } from '../../src/errors.ts';
import { makeTempFolder } from '../settings/temp-folder.ts';

const ADDRESS = '10.0.0.5:443';
const PASSPHRASE = 'correct hörse 🐴 battery';
/** A low work factor, so that tests are fast. */
const workFactor = 10;

async function makeVault() {
  const path = join(await makeTempFolder(), 'data', 'vault.age');
  const vault = new Vault(path, { workFactor });
  await vault.create(PASSPHRASE);
  return { vault, path, again: () => new Vault(path, { workFactor }) };
}

const hasAge = await promisify(execFile)('age', ['--version']).then(
  () => true,
  () => false,
);

/** What `age` says when the passphrase is typed on its terminal, as often as it asks. */
function ageOnTerminal(args: readonly string[], typed: string): Promise<string> {
  return new Promise((resolve) => {
    const terminal = spawn('age', [...args], { cols: 200, rows: 50 });
    let text = '';
    let asked = 0;
    terminal.onData((chunk) => {
      text += chunk;
      const questions = text.split('passphrase').length - 1;
      if (questions > asked) terminal.write(`${typed}\r`);
      asked = questions;
    });
    terminal.onExit(() => {
      resolve(text);
    });
  });
}

test('a stored login is found after unlocking, also by another process', async () => {
  const { vault, again } = await makeVault();
  const admin = { kind: 'basic', user: 'admin', secret: 'päss "word"\n🔑' } as const;
  await vault.store(ADDRESS, admin);
  await vault.store('10.0.0.6:443', { kind: 'token', secret: 'bare' });
  const other = again();
  await other.unlock(PASSPHRASE);
  expect(await other.find(ADDRESS)).toEqual(admin);
  expect(await other.find(ADDRESS, 'nobody')).toBeUndefined();
  expect(await other.find('10.0.0.6:443', '')).toEqual({ kind: 'token', secret: 'bare' });
  expect(await other.list()).toEqual([
    { address: ADDRESS, user: 'admin', kind: 'basic' },
    { address: '10.0.0.6:443', kind: 'token' },
  ]);
});

test('the file can be read by its owner only, and holds no secret or name in clear', async () => {
  const { vault, path } = await makeVault();
  await vault.store(ADDRESS, { kind: 'basic', user: 'admin', secret: 'hunter2-secret' });
  const text = await readFile(path, 'utf8');
  expect(text).toMatch(/^-----BEGIN AGE ENCRYPTED FILE-----\n/);
  expect(text).not.toMatch(/hunter2|admin|10\.0\.0\.5/);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test.skipIf(!hasAge)('age opens the vault with the same passphrase', async () => {
  const { vault, path } = await makeVault();
  await vault.store(ADDRESS, { kind: 'token', user: 'admin', secret: 'abc-123' });
  const text = await ageOnTerminal(['-d', path], PASSPHRASE);
  expect(JSON.parse(text.slice(text.indexOf('{')))).toEqual({
    schema: 'devsh-vault/1',
    entries: [{ address: ADDRESS, kind: 'token', user: 'admin', secret: 'abc-123' }],
  });
});

test.skipIf(!hasAge)(
  'a file that age itself has sealed opens as a vault',
  async () => {
    const { path, again } = await makeVault();
    const plain = `${path}.json`;
    await writeFile(plain, '{"schema":"devsh-vault/1","entries":[]}');
    await ageOnTerminal(['-p', '-a', '-o', path, plain], PASSPHRASE);
    const vault = again();
    await vault.unlock(PASSPHRASE);
    expect(await vault.list()).toEqual([]);
  },
  30_000,
);

test('a wrong passphrase is distinguished from a damaged file', async () => {
  const { again } = await makeVault();
  const vault = again();
  await expect(vault.unlock('something else')).rejects.toThrow(WrongPassphraseError);
  expect(vault.isUnlocked).toBe(false);
});

test('a locked vault can be neither read nor written', async () => {
  const { vault, path } = await makeVault();
  vault.lock();
  const before = await readFile(path, 'utf8');
  await expect(vault.find(ADDRESS)).rejects.toThrow(VaultLockedError);
  await expect(vault.store(ADDRESS, { kind: 'token', secret: 'x' })).rejects.toThrow(
    'vault unlock',
  );
  await expect(vault.forget(ADDRESS)).rejects.toThrow(VaultLockedError);
  expect(await readFile(path, 'utf8')).toBe(before);
});

test('a second vault is not made over the first', async () => {
  const { path, again } = await makeVault();
  const before = await readFile(path, 'utf8');
  await expect(again().create('another passphrase')).rejects.toThrow(RefusedError);
  expect(await readFile(path, 'utf8')).toBe(before);
});

test('a short passphrase is refused', async () => {
  const path = join(await makeTempFolder(), 'vault.age');
  await expect(new Vault(path).create('short')).rejects.toThrow('at least 8 characters');
  expect(await new Vault(path).exists()).toBe(false);
});

const cut = (text: string): string => text.slice(0, text.length / 2);
const flipped = (text: string): string =>
  // In the payload: behind the header of about 150 bytes.
  text.replace(/\n([A-Za-z0-9+/=]+)\n(-----END)/, (_, line: string, end: string) => {
    const letter = line.startsWith('A') ? 'B' : 'A';
    return `\n${letter}${line.slice(1)}\n${end}`;
  });

test.each<[string, (text: string) => string | Promise<string>]>([
  ['cut off', cut],
  ['empty', () => ''],
  ['with a flipped bit', flipped],
  ['no age file', () => 'hello\n'],
  [
    'sealed for a key instead of a passphrase',
    async () => {
      const { generateIdentity, identityToRecipient } = await import('age-encryption');
      const encrypter = new Encrypter();
      encrypter.addRecipient(await identityToRecipient(await generateIdentity()));
      return armor.encode(await encrypter.encrypt('x'));
    },
  ],
  ['of another program', () => sealed('{"schema":"other"}')],
  ['no JSON inside', () => sealed('hello')],
  ['of a later devsh', () => sealed('{"schema":"devsh-vault/9","entries":[]}')],
])('a vault that is %s is named, and never overwritten', async (_title, damage) => {
  const { vault, path, again } = await makeVault();
  await vault.store(ADDRESS, { kind: 'token', secret: 'abc' });
  const text = await damage(await readFile(path, 'utf8'));
  await writeFile(path, text);
  const attempt = again().unlock(PASSPHRASE);
  await expect(attempt).rejects.toThrow(SettingsError);
  await expect(attempt).rejects.toThrow(path);
  // One that was open before sees that it has changed.
  await expect(vault.store(ADDRESS, { kind: 'token', secret: 'new' })).rejects.toThrow(path);
  await expect(again().create('another passphrase')).rejects.toThrow(RefusedError);
  expect(await readFile(path, 'utf8')).toBe(text);
});

async function sealed(content: string): Promise<string> {
  const encrypter = new Encrypter();
  encrypter.setPassphrase(PASSPHRASE);
  encrypter.setScryptWorkFactor(workFactor);
  return armor.encode(await encrypter.encrypt(content));
}

test('two processes that store logins at the same time lose none', async () => {
  const { again } = await makeVault();
  const vaults = [again(), again(), again()];
  await Promise.all(vaults.map((vault) => vault.unlock(PASSPHRASE)));
  await Promise.all(
    vaults.flatMap((vault, at) =>
      [1, 2, 3].map((number) =>
        vault.store(`10.0.${at}.${number}:443`, { kind: 'token', secret: 'x' }),
      ),
    ),
  );
  for (const vault of vaults) expect(await vault.list()).toHaveLength(9);
});

test('an open vault reads what another process has stored, without asking again', async () => {
  const { vault, again } = await makeVault();
  const other = again();
  await other.unlock(PASSPHRASE);
  await vault.store(ADDRESS, { kind: 'token', secret: 'abc' });
  expect(await other.find(ADDRESS)).toMatchObject({ secret: 'abc' });
});

test('a token takes the place of the password of the same account, and forgetting takes either', async () => {
  const { vault } = await makeVault();
  await vault.store(ADDRESS, { kind: 'basic', user: 'admin', secret: 'x' });
  await vault.store(ADDRESS, { kind: 'token', user: 'admin', secret: 't' });
  await vault.store(ADDRESS, { kind: 'token', secret: 'unnamed' });
  expect(await vault.list()).toHaveLength(2);
  await expect(vault.find(ADDRESS)).rejects.toThrow('the vault has 2 accounts');
  expect(await vault.forget(ADDRESS, 'admin')).toBe(1);
  expect(await vault.forget(ADDRESS)).toBe(1);
  expect(await vault.list()).toEqual([]);
});

test('callers at the same time share one question for the passphrase', async () => {
  const { again } = await makeVault();
  let asked = 0;
  const key = new VaultKey(again());
  const ask = () => {
    asked += 1;
    return Promise.resolve(PASSPHRASE);
  };
  expect(await Promise.all([key.open(ask), key.open(ask), key.open(ask)])).toEqual([
    true,
    true,
    true,
  ]);
  expect(asked).toBe(1);
});

test('a wrong passphrase is asked for again, three times in all', async () => {
  const { again } = await makeVault();
  const complaints: (string | undefined)[] = [];
  const ask = (complaint?: string) => {
    complaints.push(complaint);
    return Promise.resolve('wrong wrong');
  };
  await expect(new VaultKey(again()).open(ask)).rejects.toThrow(CredentialError);
  expect(complaints).toEqual([
    undefined,
    'That is not the passphrase.',
    'That is not the passphrase.',
  ]);
});

test('a user who declines is not asked again until an explicit unlock', async () => {
  const { again } = await makeVault();
  let asked = 0;
  const key = new VaultKey(again());
  const decline = () => {
    asked += 1;
    return Promise.resolve(undefined);
  };
  expect(await key.open(decline)).toBe(false);
  expect(await key.open(decline)).toBe(false);
  expect(asked).toBe(1);
  key.reset();
  expect(await key.open(() => Promise.resolve(PASSPHRASE))).toBe(true);
});

test('without a user to ask the vault stays locked', async () => {
  const { again } = await makeVault();
  expect(await new VaultKey(again()).open(undefined)).toBe(false);
});

test('the passphrase may come from standard input', async () => {
  const { again } = await makeVault();
  const vault = again();
  expect(await new VaultKey(vault, () => Promise.resolve(PASSPHRASE)).open(undefined)).toBe(true);
  vault.lock();
  await expect(new VaultKey(vault, () => Promise.resolve('')).open(undefined)).rejects.toThrow(
    'contains no passphrase',
  );
});

test('opening a vault does not block the thread', async () => {
  const path = join(await makeTempFolder(), 'vault.age');
  const vault = new Vault(path, { workFactor: 17 });
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  onTestFinished(() => {
    clearInterval(timer);
  });
  const startedAt = performance.now();
  await vault.create(PASSPHRASE);
  const took = performance.now() - startedAt;
  expect(longest).toBeLessThan(Math.max(100, took * 0.8));
});
