import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startFleet, usernames } from '../main/devsh.ts';
import { escrowIn, startRotation } from '../rotation/fleet.ts';

interface Answer {
  readonly pending: readonly { readonly device: string; readonly change: string }[];
  readonly lockout: readonly { readonly device: string; readonly verdict: string }[];
}

test('No device that was not reached is forgotten.', { timeout: 120_000 }, async () => {
  const { devsh, device } = await startFleet({ devices: 4, users: 4 });
  const pendingRows = async (): Promise<Answer['pending']> =>
    (JSON.parse((await devsh('pending --json')).stdout) as Answer).pending;
  device(3).setFault('refuse', true);
  device(4).setFault('refuse', true);
  const run = await devsh('user delete viewer --on @lab --yes');
  expect(run.exitCode).toBe(3);
  expect(run.stdout).toContain('not reached: sim3, sim4 · pending there');

  // One comes back, the other one does not: only what was seen to be done is no longer pending.
  device(3).setFault('refuse', false);
  await devsh('resume --yes');
  expect(usernames(device(3))).not.toContain('viewer');
  expect(await pendingRows()).toMatchObject([{ device: 'sim4', change: 'delete user viewer' }]);

  device(4).setFault('refuse', false);
  await devsh('resume --yes');
  expect(usernames(device(4))).not.toContain('viewer');
  expect(await pendingRows()).toEqual([]);
});

test('A lockout never claims more than it proved.', { timeout: 120_000 }, async () => {
  const fleet = await startFleet({ devices: 4, profile: 'generic-rest' });
  const { devsh, device } = fleet;
  device(2).setFault('accept-and-forget');
  device(3).setFault('refuse');
  const { stdout, stderr, exitCode } = await devsh('lockout viewer --yes --now --json');
  expect(exitCode).toBe(3);
  const { lockout } = JSON.parse(stdout) as Answer;
  const verdicts = Object.fromEntries(lockout.map(({ device, verdict }) => [device, verdict]));
  expect(verdicts).toEqual({
    sim1: 'disabled',
    sim2: 'no effect',
    sim3: 'not read',
    sim4: 'disabled',
  });
  expect(stderr).toContain('open sessions and API tokens: not known to be ended');
  expect(stdout + stderr).not.toContain('locked out');
});

test('What devsh keeps of a reading holds no secret that devsh can recognise, and never names a run that did not do it.', async () => {
  const { devsh, device } = await startFleet({ devices: 1, users: 3 });
  const canary = 'Canary-7421-secret';
  const set = await devsh(`user set viewer password=${canary} --on @lab --yes`);
  expect(set.exitCode, set.stderr).toBeLessThan(2);
  await devsh('user list --on @lab');
  device(1).putUser({ username: 'rogue', lang: 'de' });
  await devsh('user list --on @lab');
  const folder = join(devsh.folder, 'state/devsh/readings');
  for (const name of await readdir(folder)) {
    const text = await readFile(join(folder, name), 'utf8');
    expect([name, text.includes(canary), text.includes('admin-secret')]).toEqual([
      name,
      false,
      false,
    ]);
  }
  const { stdout } = await devsh('changes rogue --since 1h');
  expect(stdout).toContain('rogue');
  expect(stdout).toMatch(/not by a run of this devsh/);
});

test(
  'Rotation never leaves you without a login that works, or says at once where it could not.',
  {
    timeout: 120_000,
  },
  async () => {
    const { rotate, devices, device, devsh, vault } = await startRotation({ devices: 8 });
    const escrow = await escrowIn(devsh.folder);
    const write = { method: 'PATCH' };
    device(2).setFault('store-and-drop', 1, write);
    device(3).setFault('reset', 1, write);
    device(4).setFault('store-late', 1, write);
    device(5).setFault('password-refused', 1, write);
    device(6).setFault('400-after-storing', 1, write);
    device(7).setFault('accept-and-forget', 1, write);
    // The last one takes the password and does not answer any more.
    device(8).setFault('store-and-drop', 1, write);
    device(8).setFault('reset', true, { method: 'GET', afterWrite: true });
    const line = `rotate password admin --on @lab --generate --each ${escrow}`;
    const { stdout, stderr } = await rotate(line);
    for (const { name, address } of devices.slice(0, 7)) {
      const kept = await vault.find(address, 'admin');
      const tried = await rotate(`user list --on ${name}`);
      expect([name, kept?.user, tried.exitCode]).toEqual([name, 'admin', 0]);
    }
    expect(stdout).toContain('admin  set unknown');
    expect(stderr).toContain('stopped: no password of admin is known to work on sim8');
    device(8).clearFaults();
    expect((await rotate('resume')).stdout).toContain('admin  ');
    expect((await rotate('user list --on sim8')).exitCode).toBe(0);
  },
);
