import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { expect, onTestFinished, test } from 'vitest';
import { RefusedError, UsageError } from '../../../src/errors.ts';
import { type DeviceEntry, selectDevices } from '../../../src/fleet/inventory.ts';
import {
  newSecrets,
  devicesWithSameLogin,
  openSecondPlace,
} from '../../../src/shell/access/new-secrets.ts';
import { Call } from '../../../src/shell/command.ts';
import { Arguments } from '../../../src/text/words.ts';
import type { DeviceOption, Given, NewSecretOption } from '../../../src/shell/grammar/options.ts';
import { makeTempFolder } from '../../settings/temp-folder.ts';
import { openSession } from '../session.ts';

const NO_KEYCHAIN = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' };

async function makeCall(
  given: Given,
  {
    env = {},
    stdin = '',
    inventory = '',
  }: { env?: object; stdin?: string; inventory?: string } = {},
) {
  const { PATH } = process.env;
  const session = await openSession({ env: { PATH, ...NO_KEYCHAIN, ...env }, stdin });
  onTestFinished(() => session.close());
  const { path } = session.services.inventory;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, inventory);
  const io = {
    signal: new AbortController().signal,
    readInput: () => Promise.resolve(stdin),
    trace: () => undefined,
  };
  const args = new Arguments(new Map(), 0);
  const grammar = { commands: [], resourceFor: () => undefined };
  const line = { args, line: '', given };
  return new Call<DeviceOption | NewSecretOption>(line, session, io, grammar);
}

const target = (device: string, user = 'admin') => {
  const address = `${device}.example:443`;
  return { device: { name: device, address }, account: { address, user, kind: 'basic' } as const };
};

test('without --each an account gets one generated secret on all devices', async () => {
  const secrets = newSecrets(await makeCall({ generate: true, length: 16 }));
  const [one, same, other] = await Promise.all([
    secrets.secretFor(target('fw1')),
    secrets.secretFor(target('fw2')),
    secrets.secretFor(target('fw1', 'jdoe')),
  ]);
  expect(one).toHaveLength(16);
  expect(same).toBe(one);
  expect(other).not.toBe(one);
  expect(secrets.isGenerated).toBe(true);
});

test('with --each a device gets its own, and asking again gives the same', async () => {
  const secrets = newSecrets(await makeCall({ generate: true, each: true }));
  const one = await secrets.secretFor(target('fw1'));
  expect(await secrets.secretFor(target('fw1'))).toBe(one);
  expect(await secrets.secretFor(target('fw2'))).not.toBe(one);
});

test.each<[Given, string, string]>([
  [{}, 'one-secret-1\n', 'one-secret-1'],
  [{ passwordStdin: true }, 'old-one\nnew-secret\n', 'new-secret'],
  [{ passwordStdin: true, passphraseStdin: true }, 'old\nphrase\n new-secret\r\n', ''],
  [{ tokenStdin: true, passphraseStdin: true }, 'old\nphrase\nnew-secret\r\n', 'new-secret'],
])('--new-stdin with %j reads the line after the other secrets', async (more, stdin, expected) => {
  const secrets = newSecrets(await makeCall({ newStdin: true, ...more }, { stdin }));
  const read = secrets.secretFor(target('fw1'));
  if (expected === '') await expect(read).rejects.toThrow('begins or ends with a space');
  else expect(await read).toBe(expected);
  expect(secrets.isGenerated).toBe(false);
});

test('the login takes no line of the new secret, and reports none as unused', async () => {
  const stdin = 'old-one\nphrase\nnew-secret\n';
  const given = { passwordStdin: true, passphraseStdin: true, newStdin: true, user: 'admin' };
  const call = await makeCall(given, { stdin });
  const found = await call.credentials.find({ device: target('fw1').device, user: undefined });
  expect(found?.credential.revealed().secret).toBe('old-one');
  expect(call.credentials.problems).toEqual([]);
});

test('a line that is not there, and a second account, are errors that say so', async () => {
  const none = newSecrets(
    await makeCall({ newStdin: true, passwordStdin: true }, { stdin: 'x\n' }),
  );
  await expect(none.secretFor(target('fw1'))).rejects.toThrow('line 2 of standard input');
  const one = newSecrets(await makeCall({ newStdin: true }, { stdin: 'one-secret-1\n' }));
  await one.secretFor(target('fw1'));
  await one.secretFor(target('fw2'));
  await expect(one.secretFor(target('fw1', 'jdoe'))).rejects.toThrow('jdoe is another account');
});

test.each<[Given, string]>([
  [{}, 'say where the new secret comes from'],
  [{ generate: true, newStdin: true }, 'give one of'],
  [{ newStdin: true, length: 20 }, 'is for --generate'],
  [{ newStdin: true, each: true }, 'leave out --each'],
])('%j is a mistake that is explained', async (given, message) => {
  const call = await makeCall(given);
  expect(() => newSecrets(call)).toThrow(UsageError);
  expect(() => newSecrets(call)).toThrow(message);
});

const entry = (name: string, more: Partial<DeviceEntry> = {}) => ({
  entry: { name, address: `${name}.example:443`, groups: [], ...more },
});

test('the only copy of new secrets is refused', async () => {
  const sessions = [entry('fw1', { credentialStoreCommand: ['true'] }), entry('fw2')];
  const call = await makeCall({});
  const options = { run: 'r1', isNeeded: true };
  expect(() => openSecondPlace(call, { ...options, sessions })).toThrow(RefusedError);
  expect(() => openSecondPlace(call, { ...options, sessions })).toThrow(
    'the new secrets of fw2 would be on this machine alone',
  );
  openSecondPlace(call, { ...options, sessions: sessions.slice(0, 1) });
  openSecondPlace(call, { ...options, sessions, isNeeded: false });
  const half = await makeCall({ escrow: 'x' });
  expect(() => openSecondPlace(half, { ...options, sessions })).toThrow('belong together');
});

test('the escrow file keeps the earlier values of its run', async () => {
  const path = join(await makeTempFolder(), 'escrow.age');
  const identity = await generateIdentity();
  const recipients = [await identityToRecipient(identity)];
  const call = await makeCall({ escrow: path, recipients });
  const second = openSecondPlace(call, { run: 'r1', sessions: [entry('fw1')], isNeeded: true });
  await second.keep([{ ...target('fw1'), secret: 'first' }]);
  await second.keep([{ ...target('fw1'), secret: 'second' }]);
  const { armor, Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  const text = await decrypter.decrypt(armor.decode(await readFile(path, 'utf8')), 'text');
  expect(text.match(/"secret":"\w+"/g)).toEqual(['"secret":"first"', '"secret":"second"']);
});

test('one entry of a program never gets the secrets of two devices', async () => {
  const log = join(await makeTempFolder(), 'log');
  const command = ['/bin/sh', '-c', 'cat >> "$1"', 'sh', log];
  const sessions = ['fw1', 'fw2'].map((name) => entry(name, { credentialStoreCommand: command }));
  const call = await makeCall({});
  const second = openSecondPlace(call, { run: 'r1', sessions, isNeeded: true });
  await second.hand({ ...target('fw1'), secret: 'one' });
  await second.hand({ ...target('fw2'), secret: 'one' });
  const attempt = second.hand({ ...target('fw2'), secret: 'two' });
  await expect(attempt).rejects.toThrow('leave out --each');
  await expect(attempt).rejects.not.toThrow('two');
  expect(await readFile(log, 'utf8')).toBe('username=admin\npassword=one\n'.repeat(2));
});

test('the old secret goes back to a program if the device refuses the new one', async () => {
  const log = join(await makeTempFolder(), 'log');
  const command = ['/bin/sh', '-c', 'cat > "$1"', 'sh', log];
  const sessions = ['fw1', 'fw2'].map((name) => entry(name, { credentialStoreCommand: command }));
  const second = openSecondPlace(await makeCall({}), { run: 'r1', sessions, isNeeded: true });
  await second.hand({ ...target('fw1'), secret: 'new' });
  await second.hand({ ...target('fw1'), secret: 'made-again' });
  await second.handBack(target('fw1').account, 'old');
  expect(await readFile(log, 'utf8')).toBe('username=admin\npassword=old\n');
  // Another device has the new one, and its login is the same entry.
  await second.hand({ ...target('fw1'), secret: 'new' });
  await second.hand({ ...target('fw2'), secret: 'new' });
  await second.handBack(target('fw2').account, 'old');
  expect(await readFile(log, 'utf8')).toBe('username=admin\npassword=new\n');
});

const INVENTORY = `
devices:
  - { name: fw1, address: fw1.example, groups: [shared] }
  - { name: fw2, address: fw2.example, groups: [shared] }
  - { name: fw3, address: fw3.example }
groups:
  shared: { user: admin }
`;

async function firstDevice(call: Awaited<ReturnType<typeof makeCall>>) {
  const [entry] = selectDevices(['@all'], await call.shell.services.inventory.load());
  return entry === undefined ? [] : [{ entry }];
}

test('a login from the environment would be used on: refused', async () => {
  const env = { DEVSH_USER: 'admin', DEVSH_PASSWORD: 'shared' };
  const call = await makeCall({}, { env, inventory: INVENTORY });
  const attempt = devicesWithSameLogin(call, await firstDevice(call));
  await expect(attempt).rejects.toThrow(RefusedError);
  await expect(attempt).rejects.toThrow('fw1: its login comes from the environment');
});

test('a program that prints the login needs one that keeps it', async () => {
  const command = "credential_command: [echo, 'password=shared']";
  const alone = await makeCall(
    {},
    { inventory: INVENTORY.replace('user: admin', `user: admin, ${command}`) },
  );
  await expect(devicesWithSameLogin(alone, await firstDevice(alone))).rejects.toThrow(
    'give a credential_store_command',
  );
  const both = await makeCall(
    {},
    {
      inventory: INVENTORY.replace(
        'user: admin',
        `user: admin, ${command}, credential_store_command: ['true']`,
      ),
    },
  );
  expect(await devicesWithSameLogin(both, await firstDevice(both))).toEqual(['fw2']);
});
