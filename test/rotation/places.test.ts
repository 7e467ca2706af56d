import { armor, Decrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SimulatedDevice } from '../simulator/simulator.ts';
import { writesOf } from '../main/devsh.ts';
import { lastLogin, OLD, PASSPHRASE, startRotation } from './fleet.ts';

const NEW = 'Fresh-Harbour-4711';
const ROTATE = 'rotate password admin --on @lab';

const writes = (devices: readonly SimulatedDevice[]): number => devices.flatMap(writesOf).length;

test('the escrow file opens every device with its own generated password', async () => {
  const { rotate, devices, devsh } = await startRotation({ devices: 3 });
  const identity = await generateX25519Identity();
  const path = join(devsh.folder, 'new.age');
  const escrow = `--escrow ${path} --recipient ${await identityToRecipient(identity)}`;
  const run = await rotate(`${ROTATE} --generate --each --length 20 ${escrow}`);
  expect(run.stdout, run.stderr).toContain('3 done');
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  const text = await decrypter.decrypt(armor.decode(await readFile(path, 'utf8')), 'text');
  const lines = text.trim().split('\n');
  const secrets = lines.map((line) => JSON.parse(line) as { address: string; secret: string });
  expect(new Set(secrets.map(({ secret }) => secret)).size).toBe(3);
  for (const device of devices) {
    const { secret = '' } = secrets.findLast(({ address }) => address === device.address) ?? {};
    expect(secret).toHaveLength(20);
    expect(lastLogin(device, 'admin', secret)).toBe(true);
    expect(run.stdout + run.stderr).not.toContain(secret);
  }
  // The file of this run is not that of another.
  const again = await rotate(`${ROTATE} --generate ${escrow}`);
  expect(again).toMatchObject({ exitCode: 6 });
  expect(again.stderr).toContain('is not of this run');
  expect(writes(devices)).toBe(3);
});

test.each<[string, string, string, number]>([
  ['a generated password without a second place', '--generate', 'on this machine alone', 6],
  ['the password in use without a second place', '--new-stdin', 'on this machine alone', 6],
  ['a weak password', '--new-stdin --escrow FILE --recipient KEY', 'fewer than 8 characters', 6],
  ['a wrong key', '--generate --escrow FILE --recipient age1x', 'not a public key of age', 2],
  ['a full disk', '--generate --escrow /proc/x/y.age --recipient KEY', '/proc/x', 1],
  ['no source', '--escrow FILE --recipient KEY', 'say where the new secret comes from', 2],
])('%s is refused before anything is sent', async (_title, options, message, exitCode) => {
  const { rotate, devices, devsh } = await startRotation({ devices: 2 });
  const key = await identityToRecipient(await generateX25519Identity());
  const line = options.replace('FILE', join(devsh.folder, 'new.age')).replace('KEY', key);
  const run = await rotate(`${ROTATE} ${line}`, 'short');
  expect(run.stderr).toContain(message);
  expect(run.exitCode).toBe(exitCode);
  expect(writes(devices)).toBe(0);
});

test('a login from the environment is not rotated', async () => {
  const { devsh, devices } = await startRotation({ devices: 2 });
  const run = await devsh(`${ROTATE} --new-stdin --passphrase-stdin --yes`, {
    stdin: `${PASSPHRASE}\n${NEW}\n`,
    env: { DEVSH_USER: 'admin', DEVSH_PASSWORD: OLD },
  });
  expect(run.stderr).toContain('its login comes from the environment');
  expect(run.exitCode).toBe(6);
  expect(writes(devices)).toBe(0);
});

/** The logins of all devices in files that one program reads and another writes. */
async function startWithPrograms(options: Parameters<typeof startRotation>[0], writer: string) {
  const started = await startRotation(options);
  const folder = join(started.devsh.folder, 'logins');
  await mkdir(folder);
  for (const { name } of started.devices) {
    await writeFile(join(folder, name), `username=admin\npassword=${OLD}\n`);
  }
  const settings = {
    credential_command: ['cat', `${folder}/{device}`],
    credential_store_command: ['/bin/sh', '-c', writer, 'sh', `${folder}/{device}`],
  };
  const inventory = join(started.devsh.folder, 'config', 'devsh', 'devices.yaml');
  await appendFile(inventory, `\ngroups:\n  lab: ${JSON.stringify(settings)}\n`);
  const login = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');
  return { ...started, login };
}

test('a program that keeps the logins gets the new one, and devsh goes on with it', async () => {
  const { rotate, devices, login } = await startWithPrograms({ devices: 2 }, 'cat > "$1"');
  const run = await rotate(`${ROTATE} --new-stdin`, NEW);
  expect(run.stdout, run.stderr).toContain('2 done');
  expect(await login('sim2')).toBe(`username=admin\npassword=${NEW}\n`);
  expect((await rotate('user list --on @lab')).exitCode).toBe(0);
  for (const device of devices) expect(lastLogin(device, 'admin', NEW)).toBe(true);
});

test('a device whose program does not take the new password is not written', async () => {
  const script = 'case "$1" in *sim2) echo full >&2; exit 3;; esac; cat > "$1"';
  const { rotate, device, login } = await startWithPrograms({ devices: 2 }, script);
  const run = await rotate(`${ROTATE} --new-stdin`, NEW);
  expect(run.stdout + run.stderr).toContain('ended with 3; it reports: full');
  expect(run.exitCode).not.toBe(0);
  expect(writesOf(device(1))).toHaveLength(1);
  expect(writesOf(device(2))).toHaveLength(0);
  expect(await login('sim2')).toContain(OLD);
  expect((await rotate('user list --on @lab')).exitCode).toBe(0);
});

test('a program gets the old password back if the device refuses the new one', async () => {
  const { rotate, device, login } = await startWithPrograms({ devices: 2 }, 'cat > "$1"');
  device(1).setFault('password-refused', true, { method: 'PATCH' });
  const run = await rotate(`${ROTATE} --new-stdin`, NEW);
  expect(run.stdout).toContain('the old one still works');
  expect(await login('sim1')).toContain(OLD);
  expect(await login('sim2')).toContain(OLD);
  expect((await rotate('user list --on @lab')).exitCode).toBe(0);
});

test('a program has the password that works while a rotation is pending', async () => {
  const { rotate, device, login } = await startWithPrograms({ devices: 1 }, 'cat > "$1"');
  device(1).setFault('reset', 1, { method: 'PATCH' });
  const run = await rotate(`${ROTATE} --new-stdin`, NEW);
  expect(run.stdout).toContain('the old one still works');
  expect(await login('sim1')).toContain(OLD);
  expect((await rotate('user list --on @lab')).exitCode).toBe(0);
  const settled = await rotate('resume');
  expect(settled.stdout + settled.stderr).toContain('✓ admin  ');
  expect(await login('sim1')).toContain(NEW);
  expect((await rotate('user list --on @lab')).exitCode).toBe(0);
});

test('logout forgets what a rotation has kept', async () => {
  const { rotate, devsh, vault } = await startRotation({ devices: 1 });
  const run = await rotate('rotate password viewer --on @lab --new-stdin', NEW);
  expect(run.stdout, run.stderr).toContain('1 done');
  await vault.unlock(PASSPHRASE);
  expect(await vault.readRotations()).toHaveLength(1);
  const gone = await devsh('logout @lab --passphrase-stdin', { stdin: PASSPHRASE });
  expect(gone.stdout + gone.stderr).toContain('removed the secrets of 1 rotated account');
  expect(await vault.readRotations()).toEqual([]);
});
