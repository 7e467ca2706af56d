import { execFile } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { armor, Decrypter, generateIdentity, identityToRecipient } from 'age-encryption';
import { expect, test } from 'vitest';
import { type EscrowLine, writeEscrow } from '../../src/credentials/escrow-file.ts';
import { RefusedError, SettingsError, UsageError } from '../../src/errors.ts';
import { makeTempFolder } from '../settings/temp-folder.ts';

const run = promisify(execFile);
const hasAge = await run('age', ['--version']).then(
  () => true,
  () => false,
);

async function makeKey() {
  const identity = await generateIdentity();
  return { identity, recipient: await identityToRecipient(identity) };
}

const line = (device: string, secret: string): EscrowLine => ({
  device,
  address: '10.0.0.5:443',
  account: 'admin',
  kind: 'basic',
  secret,
});

async function opened(path: string, identity: string): Promise<unknown[]> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  const text = await decrypter.decrypt(armor.decode(await readFile(path, 'utf8')), 'text');
  return text
    .trim()
    .split('\n')
    .map((one): unknown => JSON.parse(one));
}

test('each recipient opens the file, and only the user can read it', async () => {
  const path = join(await makeTempFolder(), 'escrow.age');
  const [one, other] = [await makeKey(), await makeKey()];
  const recipients = [one.recipient, other.recipient];
  const lines = [line('fw1', 'päss-"word"'), line('fw2', 'x')];
  await writeEscrow({ path, recipients }, 'r1', lines);
  expect(await opened(path, one.identity)).toEqual(lines);
  expect(await opened(path, other.identity)).toEqual(lines);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readFile(path, 'utf8')).not.toMatch(/fw1|word/);
});

test.skipIf(!hasAge)('age itself opens it', async () => {
  const folder = await makeTempFolder();
  const path = join(folder, 'escrow.age');
  const { identity, recipient } = await makeKey();
  await writeFile(join(folder, 'key'), `${identity}\n`);
  await writeEscrow({ path, recipients: [recipient] }, '20261122-1', [line('fw1', 'new-one')]);
  const { stdout } = await run('age', ['-d', '-i', join(folder, 'key'), path]);
  expect(JSON.parse(stdout)).toEqual(line('fw1', 'new-one'));
});

test('the same run writes it again; the file of another run or program stays', async () => {
  const path = join(await makeTempFolder(), 'escrow.age');
  const { identity, recipient } = await makeKey();
  const escrow = { path, recipients: [recipient] };
  await writeEscrow(escrow, 'r1', [line('fw1', 'one')]);
  await writeEscrow(escrow, 'r1', [line('fw1', 'one'), line('fw1', 'two')]);
  expect(await opened(path, identity)).toHaveLength(2);
  const before = await readFile(path, 'utf8');
  const attempt = writeEscrow(escrow, 'r10', [line('fw1', 'three')]);
  await expect(attempt).rejects.toThrow(RefusedError);
  await expect(attempt).rejects.toThrow(path);
  expect(await readFile(path, 'utf8')).toBe(before);
  for (const text of ['', 'notes of the week\n']) {
    await writeFile(path, text);
    await expect(writeEscrow(escrow, 'r1', [])).rejects.toThrow(RefusedError);
    expect(await readFile(path, 'utf8')).toBe(text);
  }
});

test('what is no public key, and a full disk, are errors that say so', async () => {
  const path = join(await makeTempFolder(), 'escrow.age');
  const { recipient } = await makeKey();
  for (const wrong of ['', 'age1nothing', 'ssh-ed25519 AAAA', `${recipient}x`]) {
    const attempt = writeEscrow({ path, recipients: [recipient, wrong] }, 'r1', []);
    await expect(attempt).rejects.toThrow(UsageError);
    await expect(attempt).rejects.toThrow('--recipient');
  }
  const full = { path: '/proc/none/escrow.age', recipients: [recipient] };
  await expect(writeEscrow(full, 'r1', [])).rejects.toThrow(SettingsError);
});
