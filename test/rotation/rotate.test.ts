import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { know, writesOf } from '../main/devsh.ts';
import { allText, escrowIn, lastLogin, OLD, PASSPHRASE, startRotation } from './fleet.ts';

const NEW = 'Fresh-Harbour-4711';

test('the login in use is rotated on every device, and devsh goes on with the new one', async () => {
  const { rotate, devices, devsh, vault } = await startRotation({ devices: 3 });
  const escrow = await escrowIn(devsh.folder);
  const run = await rotate(`rotate password admin --on @lab --new-stdin ${escrow}`, NEW);
  expect(run.stdout + run.stderr).toContain('3 done');
  expect(run.stderr.match(/undo cannot restore password of user/g)).toHaveLength(1);
  expect(run.exitCode).toBe(0);
  const again = await rotate('user list --on @lab --count-by lang');
  expect(again.exitCode, again.stderr).toBe(0);
  for (const device of devices) {
    expect(await vault.find(device.address, 'admin')).toMatchObject({ secret: NEW });
    expect(lastLogin(device, 'admin', NEW)).toBe(true);
    // The old one was not tried after the change.
    expect(device.logins.filter(({ isAccepted }) => !isAccepted)).toEqual([]);
  }
  const text = run.stdout + run.stderr + (await allText(devsh.folder));
  expect(text).not.toContain(NEW);
  expect(text).not.toContain(OLD);
});

test('a lost answer is settled by one try of each password, and nothing is sent twice', async () => {
  const { rotate, devices, device, devsh } = await startRotation({ devices: 2 });
  device(2).setFault('store-and-drop', 1, { method: 'PATCH' });
  const escrow = await escrowIn(devsh.folder);
  const run = await rotate(`rotate password admin --on @lab --new-stdin ${escrow}`, NEW);
  expect(run.stdout, run.stderr).toContain('2 done');
  for (const { log } of devices)
    expect(log.filter(({ method }) => method === 'PATCH')).toHaveLength(1);
});

test('a request that is lost before it takes effect leaves the old login, and can be settled later', async () => {
  const { rotate, device, devsh } = await startRotation({ devices: 2 });
  device(2).setFault('reset', 1, { method: 'PATCH' });
  const escrow = await escrowIn(devsh.folder);
  const run = await rotate(`rotate password admin --on @lab --new-stdin ${escrow}`, NEW);
  expect(run.stdout).toContain('the old one still works');
  expect((await rotate('user list --on @lab')).exitCode).toBe(0);
  const settled = await rotate('resume');
  expect(settled.stdout + settled.stderr).toContain('✓ admin  ');
  expect(lastLogin(device(2), 'admin', NEW)).toBe(true);
  expect((await rotate('user list --on @lab')).exitCode).toBe(0);
});

test('a delayed effect is waited for, without a locked account', async () => {
  const { rotate, device, devsh } = await startRotation({ devices: 1 });
  device(1).setFault('store-late', 1, { method: 'PATCH' });
  const escrow = await escrowIn(devsh.folder);
  const run = await rotate(`rotate password admin --on @lab --new-stdin ${escrow}`, NEW);
  expect(run.stdout, run.stderr).toContain('1 done');
  const other = await startRotation({ devices: 1 });
  other.device(1).setFault('store-late', 1, { method: 'PATCH' });
  const viewer = await other.rotate('rotate password viewer --on @lab --new-stdin', NEW);
  expect(viewer.stdout, viewer.stderr).toContain('1 done');
});

test.each(['--new-stdin', '--generate'])(
  '%s: a password that the canary refuses stops the run, and the old one stays',
  async (source) => {
    const { rotate, devices, device, devsh } = await startRotation({ devices: 3 });
    device(1).setFault('password-refused', true, { method: 'PATCH' });
    const escrow = await escrowIn(devsh.folder);
    const run = await rotate(`rotate password admin --on @lab ${source} ${escrow}`, NEW);
    expect(run.exitCode).toBe(1);
    expect(run.stdout + run.stderr).toContain('too common');
    expect(run.stderr).toContain('stopped: the canary failed on sim1');
    expect(devices.map(({ log }) => log.filter(({ method }) => method === 'PATCH').length)).toEqual(
      [1, 0, 0],
    );
    expect((await rotate('user list --on @lab')).exitCode).toBe(0);
  },
);

test('a device that accepts and forgets is no effect, and keeps both passwords', async () => {
  const { rotate, device, devsh } = await startRotation({ devices: 1 });
  device(1).setFault('accept-and-forget', true, { method: 'PATCH' });
  const escrow = await escrowIn(devsh.folder);
  const run = await rotate(`rotate password admin --on @lab --new-stdin ${escrow}`, NEW);
  expect(run.stdout).toContain('no effect');
  expect((await rotate('user list --on @lab')).exitCode).toBe(0);
  device(1).clearFaults();
  const retried = await rotate('resume');
  expect(retried.stdout, retried.stderr).toContain('1 done');
});

test('a device that refuses what it has stored is done: the login decides', async () => {
  const { rotate, device, devsh } = await startRotation({ devices: 1 });
  device(1).setFault('400-after-storing', 1, { method: 'PATCH' });
  const escrow = await escrowIn(devsh.folder);
  const run = await rotate(`rotate password admin --on @lab --new-stdin ${escrow}`, NEW);
  expect(run.stdout, run.stderr).toContain('1 done');
});

test('a device that goes away after the request is unknown, and resume finds the password that works', async () => {
  const { rotate, device, devsh } = await startRotation({ devices: 2 });
  device(1).setFault('store-and-drop', 1, { method: 'PATCH' });
  device(1).setFault('reset', true, { method: 'GET', afterWrite: true });
  const escrow = await escrowIn(devsh.folder);
  const run = await rotate(`rotate password admin --on @lab --new-stdin ${escrow}`, NEW);
  expect(run.stdout + run.stderr).toContain('both are kept');
  expect(run.stderr).toContain('stopped: no password of admin is known to work on sim1');
  expect(device(2).log.some(({ method }) => method === 'PATCH')).toBe(false);
  device(1).clearFaults();
  // Nothing else logs in meanwhile: a refused old password counts towards a lock of the account.
  const { length } = device(1).logins;
  for (const line of ['user list --on sim1', 'user set viewer lang=fr --on sim1']) {
    const other = await rotate(line);
    expect(other.stderr + other.stdout).toMatch(/"resume \S+" finds out which login works/);
    expect(other.exitCode).toBe(4);
  }
  // A typed login would be tried: only resume may do that.
  const asked = await devsh('questions --on sim1 --json --passphrase-stdin', { stdin: PASSPHRASE });
  expect(asked.stdout, asked.stderr).toContain('"questions":[]');
  expect(device(1).logins).toHaveLength(length);
  const [, id = ''] =
    /"resume (\S+)" finds/.exec((await rotate('user list --on sim1')).stderr) ?? [];
  const resumed = await rotate(`resume ${id}`);
  expect(resumed.stdout, resumed.stderr).toContain('2 done');
  expect((await rotate('user list --on @lab')).exitCode).toBe(0);
});

test('every local account is rotated by another one, which comes last', async () => {
  const { rotate, device, devsh } = await startRotation({ devices: 2, users: 5 });
  const escrow = await escrowIn(devsh.folder);
  const run = await rotate(
    `rotate password --where username!=nobody --on @lab --generate --each ${escrow}`,
  );
  expect(run.stdout, run.stderr).toContain('10 done');
  const paths = device(1).log.flatMap(({ method, path }) => (method === 'PATCH' ? [path] : []));
  const { uuid = '' } = device(1).users.find(({ username }) => username === 'admin') ?? {};
  expect(paths.findIndex((path) => path.includes(uuid))).toBe(4);
  expect((await rotate('user list --on @lab')).exitCode).toBe(0);
});

test('--user logs in as the account that sets the passwords of others', async () => {
  const { rotate, device, vault } = await startRotation({ devices: 1 });
  const { address } = device(1);
  await vault.store(address, { kind: 'basic', user: 'viewer', secret: 'viewer-secret' });
  const refused = await rotate('rotate password viewer --on sim1 --new-stdin', NEW);
  expect(refused.stdout + refused.stderr).toContain('choose one with --user');
  const run = await rotate('rotate password viewer --on sim1 --user admin --new-stdin', NEW);
  expect(run.stdout, run.stderr).toContain('1 done');
  // An ordinary login of the account is replaced, too.
  expect(await vault.find(address, 'viewer')).toMatchObject({ secret: NEW });
});

const ACTION = `extends: drf
resources:
  user:
    rotate: {path: '{item}password/', field: new_password, repeat: again_password, old: old_password, min: 12}
    rotate_token: {path: '{item}token/', answer: data.key}
`;

/** With a profile for the actions of the simulated devices. */
async function withActions(options: Parameters<typeof startRotation>[0] = {}) {
  const fleet = await startRotation(options);
  const { folder } = fleet.devsh;
  await mkdir(join(folder, 'config/devsh/profiles'), { recursive: true });
  await writeFile(join(folder, 'config/devsh/profiles/actions.yaml'), ACTION);
  await know(fleet.devsh, fleet.devices, { profile: 'actions' });
  return fleet;
}

test('an action takes the old password, and the new one twice, as the profile says', async () => {
  const { rotate, devsh, device } = await withActions({ devices: 2 });
  const escrow = await escrowIn(devsh.folder);
  const short = await rotate(`rotate password admin --on @lab --new-stdin ${escrow}`, 'short-1');
  expect(short.stdout + short.stderr).toContain('fewer than 8 characters');
  expect(device(1).log.filter(({ method }) => method === 'POST')).toEqual([]);
  const run = await rotate(`rotate password admin --on @lab --new-stdin ${escrow}`, NEW);
  expect(run.stdout, run.stderr).toContain('2 done');
  const other = await rotate('rotate password viewer --on @lab --new-stdin', NEW);
  expect(other.stdout).toContain('it wants the old password of viewer, which is not kept');
});

test('a token that the device makes is kept, and refused with the token itself as login', async () => {
  const { rotate, devsh, device, vault } = await withActions({ devices: 2 });
  const escrow = await escrowIn(devsh.folder);
  const run = await rotate(`rotate token viewer --on @lab ${escrow}`);
  expect(run.stdout, run.stderr).toContain('2 done');
  const entries = await vault.readRotations();
  const tokens = entries.map(({ secret }) => (JSON.parse(secret) as { current: string }).current);
  expect(tokens).toEqual([
    expect.stringMatching(/^[0-9a-f]{40}$/),
    expect.stringMatching(/^[0-9a-f]{40}$/),
  ]);
  const text = run.stdout + run.stderr + (await allText(devsh.folder));
  for (const token of tokens) expect(text).not.toContain(token);
  const { address } = device(1);
  // A token without a name may be anybody's.
  for (const user of ['viewer', undefined]) {
    await vault.forget(address);
    await vault.store(address, { kind: 'token', user, secret: tokens[0] ?? '' });
    const sent = device(1).log.length;
    const refused = await rotate(`rotate token viewer --on sim1 ${escrow}`);
    expect(refused.stderr).toContain('a lost response would lose the token in use');
    expect(refused.exitCode).toBe(6);
    expect(
      device(1)
        .log.slice(sent)
        .filter(({ method }) => method !== 'GET'),
    ).toEqual([]);
  }
});

test('a lost token is made again by resume', async () => {
  const { rotate, devsh, device } = await withActions({ devices: 1 });
  const escrow = await escrowIn(devsh.folder);
  device(1).setFault('store-and-drop', 1, { method: 'POST' });
  const run = await rotate(`rotate token viewer --on @lab ${escrow}`);
  expect(run.stdout).toContain('unknown');
  const resumed = await rotate('resume');
  expect(resumed.stdout, resumed.stderr).toContain('1 done');
});

test('a rotation logs in with the previous password where a device is back from a backup', async () => {
  const { rotate, devsh, device, devices } = await startRotation({ devices: 2 });
  const escrow = await escrowIn(devsh.folder);
  await rotate(`rotate password admin --on @lab --new-stdin ${escrow}`, NEW);
  device(2).restoreLogins();
  expect((await rotate('user list --on @lab')).exitCode).toBe(3);
  const again = escrow.replace('new.age', 'again.age');
  const run = await rotate(`rotate password admin --on sim2 --new-stdin ${again}`, NEW);
  expect(run.stdout, run.stderr).toContain('✓ admin  ');
  expect((await rotate('user list --on @lab')).exitCode).toBe(0);
  for (const one of devices) expect(lastLogin(one, 'admin', NEW)).toBe(true);
});

test('a login that all devices refuse is tried on two of them, whatever previous passwords are kept', async () => {
  const { rotate, devsh, devices } = await startRotation({ devices: 5 });
  const escrow = await escrowIn(devsh.folder);
  await rotate(`rotate password admin --on @lab --new-stdin ${escrow}`, NEW);
  const before = devices.map(({ logins }) => logins.length);
  for (const device of devices) device.restoreLogins();
  const again = escrow.replace('new.age', 'again.age');
  await rotate(`rotate password admin --on @lab --new-stdin ${again}`, `${NEW}-again`);
  const refusedBy = devices.filter(({ logins }, at) =>
    logins.slice(before[at]).some(({ password, isAccepted }) => password === NEW && !isAccepted),
  );
  expect(refusedBy.length).toBe(2);
});

test('an absent device is pending the password, and its debt holds no secret', async () => {
  const { rotate, devsh, device } = await startRotation({ devices: 3 });
  device(3).setFault('refuse');
  const escrow = await escrowIn(devsh.folder);
  const run = await rotate(`rotate password admin --on @lab --new-stdin ${escrow}`, NEW);
  expect(run.stdout + run.stderr).toContain('not reached: sim3 · pending there');
  expect(await allText(devsh.folder)).not.toContain(NEW);
  device(3).setFault('refuse', false);
  const settled = await rotate('resume');
  expect(settled.stdout, settled.stderr).toContain('✓ admin  ');
  expect(lastLogin(device(3), 'admin', NEW)).toBe(true);
});

test('devsh says what it does not know: how a device sets passwords, and that reading needs no login', async () => {
  const plain = await startRotation({ devices: 1, profile: 'documented', quirk: [] });
  await know(plain.devsh, plain.devices, { profile: 'documented' });
  const unknown = await plain.rotate('rotate password viewer --on sim1 --new-stdin', NEW);
  expect(unknown.stdout).toContain('resources: {user: {fields: {password: hidden}}}');
  const open = await startRotation({ devices: 1, quirk: ['open-reads'] });
  const refused = await open.rotate('rotate password viewer --on sim1 --new-stdin', NEW);
  expect(refused.stdout).toContain('without a login, so that no login proves a password');
  expect(open.device(1).log.filter(({ method }) => method === 'PATCH')).toEqual([]);
});

test.each([
  [
    'rotate password --user bob',
    'as arguments: USER…, or --where FILTER; --user bob is only the login',
  ],
  ['rotate token --user bob', '; --user bob is only the login'],
  ['rotate password bob --where lang=de', 'takes KEY or --where, not both: leave out "bob"'],
])('%s is refused before a device is asked', async (line, message) => {
  const { rotate, device } = await startRotation({ devices: 1 });
  const { exitCode, stderr } = await rotate(`${line} --on sim1`);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  expect(device(1).log).toEqual([]);
});

test('a login from the environment, and a generated password in one place, are refused at first', async () => {
  const { rotate, devsh, device } = await startRotation({ devices: 1 });
  const escrow = await escrowIn(devsh.folder);
  const one = await rotate('rotate password admin --on sim1 --generate');
  expect([one.exitCode, one.stderr]).toEqual([6, expect.stringContaining('--escrow FILE')]);
  const line = `rotate password admin --on sim1 --generate ${escrow} --passphrase-stdin --yes`;
  const env = { DEVSH_USER: 'admin', DEVSH_PASSWORD: OLD };
  const two = await devsh(line, { env, stdin: PASSPHRASE });
  expect([two.exitCode, two.stderr]).toEqual([6, expect.stringContaining('environment')]);
  expect(device(1).log.filter(({ method }) => method === 'PATCH')).toEqual([]);
});

test('a break-glass account is named in full, and an undo says that it cannot go back', async () => {
  const { rotate, devsh, device } = await startRotation({ devices: 1 });
  const file = join(devsh.folder, 'config/devsh/devices.yaml');
  await writeFile(file, `break_glass: [viewer]\n${await readFile(file, 'utf8')}`);
  const refused = await rotate('rotate password viewer --on sim1 --new-stdin', NEW);
  expect(refused.stderr).toContain('break-glass=viewer');
  const line = 'rotate password viewer --on sim1 --new-stdin --allow break-glass=viewer';
  expect((await rotate(line, NEW)).stdout).toContain('1 done');
  const undone = await rotate('undo');
  expect(undone.stdout + undone.stderr).toContain('cannot be restored: password');
  expect(device(1).log.filter(({ method }) => method === 'PATCH')).toHaveLength(1);
});

test('the login of an account that another one rotates waits, too, while the outcome is unknown', async () => {
  const { rotate, device, vault } = await startRotation({ devices: 1 });
  const { address, logins } = device(1);
  await vault.store(address, { kind: 'basic', user: 'viewer', secret: 'viewer-secret' });
  device(1).setFault('store-and-drop', 1, { method: 'PATCH' });
  device(1).setFault('reset', true, { method: 'GET', afterWrite: true });
  const run = await rotate('rotate password viewer --user admin --on sim1 --new-stdin', NEW);
  expect(run.stdout).toContain('both are kept');
  device(1).clearFaults();
  const other = await rotate('user list --on sim1 --user viewer');
  expect(other.stderr).toMatch(/"resume \S+" finds out which login works/);
  expect(logins.filter(({ isAccepted }) => !isAccepted)).toEqual([]);
  expect((await rotate('resume --user admin')).stdout).toContain('1 done');
  expect((await rotate('user list --on sim1 --user viewer')).exitCode).toBe(0);
});

test('a login that the device accepts ends the wait, also if the run is gone', async () => {
  const { rotate, device, devsh } = await startRotation({ devices: 1 });
  device(1).setFault('store-and-drop', 1, { method: 'PATCH' });
  device(1).setFault('reset', true, { method: 'GET', afterWrite: true });
  await rotate(`rotate password admin --on @lab --new-stdin ${await escrowIn(devsh.folder)}`, NEW);
  device(1).clearFaults();
  device(1).restoreLogins();
  await rm(join(devsh.folder, 'state/devsh/runs'), { recursive: true });
  const argv = 'login sim1 --user admin --password-stdin --passphrase-stdin'.split(' ');
  const kept = await devsh(argv, { stdin: `${OLD}\n${PASSPHRASE}\n` });
  expect(kept.stderr).toContain('accepted and kept');
  expect((await rotate('user list --on sim1')).exitCode).toBe(0);
});

test('a rotation that reaches no device is pending, and resume sets the secret that it has kept', async () => {
  const { rotate, device, devsh } = await startRotation({ devices: 1 });
  device(1).setFault('refuse', true);
  const run = await rotate('rotate password viewer --on @lab --new-stdin', NEW);
  expect(run.stderr).toMatch(/pending: "resume \S+" continues/);
  expect(run.exitCode).toBe(5);
  expect(await allText(devsh.folder)).not.toContain(NEW);
  device(1).setFault('refuse', false);
  const settled = await rotate('resume --also sim1=viewer');
  expect(settled.stdout, settled.stderr).toContain('1 done');
  expect(lastLogin(device(1), 'viewer', NEW)).toBe(true);
});

test('a step of a resumed rotation is refused alone where its account may be the login in use', async () => {
  const { rotate, device, devsh, vault } = await startRotation({ devices: 1 });
  device(1).putUser({ username: 'Admin' });
  const [other = ''] = device(1).users.flatMap(({ username }) =>
    /^(?:admin|viewer)$/i.test(username) ? [] : [username],
  );
  await vault.store(device(1).address, { kind: 'basic', user: other, secret: OLD });
  device(1).setFault('refuse', true);
  const escrow = await escrowIn(devsh.folder);
  const line = `rotate password Admin viewer --on sim1 --user ${other} --generate --each ${escrow}`;
  const run = await rotate(line);
  expect(run.stderr, run.stdout).toMatch(/pending: "resume \S+" continues/);
  device(1).setFault('refuse', false);
  const settled = await rotate('resume --user admin --also sim1=viewer --also sim1=Admin');
  expect(settled.stdout).toContain('Admin is not admin, the login in use');
  expect(settled.stdout).toContain('1 done');
  expect(settled.exitCode).toBe(3);
  expect(device(1).logins.findLast(({ username }) => username === 'viewer')?.isAccepted).toBe(true);
  expect(writesOf(device(1))).toHaveLength(1);
});
