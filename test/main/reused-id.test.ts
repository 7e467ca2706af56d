import { expect, test } from 'vitest';
import type { SimulatedDevice } from '../simulator/simulator.ts';
import { startFleet, writesOf } from './devsh.ts';

const DOWN = 'refuse';

/** Somebody deletes the viewer and makes an account of the same name and uuid that shows no person. */
async function madeAgain(device: SimulatedDevice, between: () => Promise<unknown>): Promise<void> {
  const { uuid } = device.users.find(({ username }) => username === 'viewer') ?? { uuid: '' };
  device.removeUser('viewer');
  await between();
  device.putUser({ uuid, username: 'viewer', first_name: '', lastname: '', lang: 'fr' });
}

const nothing = () => Promise.resolve();

test('undo asks whose account it is if its id was gone in a reading since', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  await devsh('user set viewer lang=fr --on @lab --yes');
  await madeAgain(device(1), () => devsh('user list --on @lab'));
  // Nobody has seen that it was gone.
  await madeAgain(device(2), nothing);

  const undone = await devsh('undo --yes');
  expect(undone.exitCode).toBe(3);
  expect(undone.stdout + undone.stderr).toMatch(
    /user viewer was not in the list in between, and nothing known shows whose it is.*sim1/,
  );
  const langs = [1, 2].map((number) => {
    return device(number).users.find(({ username }) => username === 'viewer')?.lang;
  });
  expect(langs).toEqual(['fr', 'en']);
});

test('resume asks whose account it is if its id was gone in a reading since', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  await devsh('user list --on @lab');
  device(2).setFault(DOWN, true);
  await devsh('user delete viewer --on @lab --yes');
  device(2).setFault(DOWN, false);
  await madeAgain(device(2), () => devsh('user list --on sim2'));

  const resumed = await devsh('resume --yes');
  expect(resumed.exitCode).toBe(6);
  expect(resumed.stdout + resumed.stderr).toContain('user viewer was not in the list in between');
  expect(writesOf(device(2))).toEqual([]);
});

test('restore asks whose account it is if its id was gone in a reading since', async () => {
  const { devsh, device } = await startFleet({ devices: 1 });
  await devsh('user list --on sim1');
  const at = new Date().toISOString();
  await madeAgain(device(1), () => devsh('user list --on sim1'));

  const restored = await devsh(`user restore viewer --at ${at} --on sim1 --yes`);
  expect(restored.exitCode).toBe(6);
  expect(restored.stdout + restored.stderr).toContain('user viewer was not in the list in between');
  expect(writesOf(device(1))).toEqual([]);
});

test('an id counts again once a run has made the record again', async () => {
  const { devsh, device } = await startFleet({ devices: 1 });
  await devsh('user set viewer first_name= lastname= --on sim1 --yes');
  await devsh('user set viewer lang=fr --on sim1 --yes');
  const { stdout } = await devsh('runs --json');
  const [newest] = (JSON.parse(stdout) as { runs: { run: string }[] }).runs;
  await devsh('user delete viewer --on sim1 --yes');
  await devsh('user list --on sim1');
  await devsh('undo --yes --allow loss');
  await devsh('user list --on sim1');
  expect(await devsh(`undo ${newest?.run} --yes`)).toMatchObject({ exitCode: 0 });
  expect(device(1).users.find(({ username }) => username === 'viewer')?.lang).toBe('en');
});
