import { expect, test } from 'vitest';
import { allText, escrowIn, lastLogin, OLD, startRotation } from './fleet.ts';

const NEW = 'Fresh-Harbour-4711';

test('the login in use is rotated on every device, and devsh goes on with the new one', async () => {
  const { rotate, devices, devsh, vault } = await startRotation({ devices: 3 });
  const escrow = await escrowIn(devsh.folder);
  const run = await rotate(`rotate password admin --on @lab --new-stdin ${escrow}`, NEW);
  expect(run.stdout + run.stderr).toContain('3 done');
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
  const settled = await rotate('owed settle');
  expect(settled.stdout + settled.stderr).toContain('set user admin: done');
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

test('a given password that a device refuses stops the run, and the old one stays', async () => {
  const { rotate, devices, device, devsh } = await startRotation({ devices: 3 });
  device(1).setFault('password-refused', true, { method: 'PATCH' });
  const escrow = await escrowIn(devsh.folder);
  const run = await rotate(`rotate password admin --on @lab --new-stdin ${escrow}`, NEW);
  expect(run.exitCode).toBe(1);
  expect(run.stdout + run.stderr).toContain('too common');
  expect(run.stderr).toContain('stopped: sim1 refused the new password of admin');
  expect(devices.map(({ log }) => log.filter(({ method }) => method === 'PATCH').length)).toEqual([
    1, 0, 0,
  ]);
  expect((await rotate('user list --on @lab')).exitCode).toBe(0);
});

test('a generated password that a device refuses is made anew once', async () => {
  const { rotate, device, devsh } = await startRotation({ devices: 1 });
  device(1).setFault('password-refused', 1, { method: 'PATCH' });
  const escrow = await escrowIn(devsh.folder);
  const run = await rotate(`rotate password admin --on @lab --generate ${escrow}`);
  expect(run.stdout, run.stderr).toContain('1 done');
  expect(device(1).log.filter(({ method }) => method === 'PATCH')).toHaveLength(2);
  expect((await rotate('user list --on @lab')).exitCode).toBe(0);
});

test('a device that accepts and forgets is no effect, and keeps both passwords', async () => {
  const { rotate, device, devsh } = await startRotation({ devices: 1 });
  device(1).setFault('accept-and-forget', true, { method: 'PATCH' });
  const escrow = await escrowIn(devsh.folder);
  const run = await rotate(`rotate password admin --on @lab --new-stdin ${escrow}`, NEW);
  expect(run.stdout).toContain('no effect');
  expect((await rotate('user list --on @lab')).exitCode).toBe(0);
  device(1).clearFaults();
  const retried = await rotate('retry');
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
  const resumed = await rotate('resume');
  expect(resumed.stdout, resumed.stderr).toContain('2 done');
  expect((await rotate('user list --on @lab')).exitCode).toBe(0);
});
