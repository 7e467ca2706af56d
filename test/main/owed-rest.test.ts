import { expect, test } from 'vitest';
import { know, startFleet, trust, usernames, writesOf, type TestFleet } from './devsh.ts';

const DOWN = 'refuse';

async function rows({ devsh }: TestFleet): Promise<readonly Record<string, unknown>[]> {
  const { stdout } = await devsh('owed --json');
  return (JSON.parse(stdout) as { owed: Record<string, unknown>[] }).owed;
}

function runOf([row]: readonly Record<string, unknown>[]): string {
  return String(row?.['id']);
}

test('devices that a run did not reach because it stopped are listed with "resume" until it continues', async () => {
  const fleet = await startFleet({ devices: 4 });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  const run = await devsh('user delete viewer --on @lab --yes --max-failures 0');
  expect(run.stderr, run.stdout).toContain('stopped: ');
  const before = await rows(fleet);
  expect(before).toMatchObject([
    { devices: ['sim1', 'sim3', 'sim4'], state: `stopped early: "resume ${runOf(before)}"` },
    { devices: ['sim2'], change: 'delete user viewer' },
  ]);
  device(2).setFault(DOWN, false);
  const settled = await devsh('owed settle --yes');
  expect(settled.stderr).toContain(
    `stopped early before sim1, sim3, sim4: "resume ${runOf(before)}"`,
  );
  expect(await rows(fleet)).toMatchObject([{ devices: ['sim1', 'sim3', 'sim4'] }]);
  await devsh(`resume ${runOf(before)} --yes --max-failures 9`);
  expect(fleet.devices.map((one) => writesOf(one).length)).toEqual([1, 1, 1, 1]);
  expect(await rows(fleet)).toEqual([]);
});

test('what a run did not reach can be dropped with a reason', async () => {
  const fleet = await startFleet({ devices: 3 });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  await devsh('user delete viewer --on @lab --yes --max-failures 0');
  const id = runOf(await rows(fleet));
  await devsh(`owed drop ${id} --on sim1,sim3 --reason replaced`);
  expect(await rows(fleet)).toMatchObject([{ devices: ['sim2'], change: 'delete user viewer' }]);
});

test('"retry" of a filter changes the records that it matched then, and no others', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  await devsh('user set viewer lastname=Temp --on @lab --yes');
  device(2).setFault(DOWN, true);
  await devsh('user delete --where lastname=Temp --on @lab --yes');
  device(2).setFault(DOWN, false);
  device(2).putUser({ username: 'late', first_name: 'L', lastname: 'Temp', lang: 'de' });
  const retried = await devsh('retry --yes');
  expect(retried.stdout).toContain('✓ sim2  delete user viewer: done');
  expect(usernames(device(2))).toContain('late');
  expect(usernames(device(2))).not.toContain('viewer');
});

test('"retry" of a filter that matched nothing then changes nothing, and says how to go on', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  device(2).setFault(DOWN, true);
  await devsh('user delete --where lastname=Temp --on @lab --yes');
  device(2).setFault(DOWN, false);
  device(2).putUser({ username: 'late', first_name: 'L', lastname: 'Temp', lang: 'de' });
  const { stderr } = await devsh('retry --yes');
  expect(stderr).toContain('repeat the line of the run with --on only for it');
  expect(usernames(device(2))).toContain('late');
});

test('two debts for one record, by its key and by its id, are settled one after the other', async () => {
  const fleet = await startFleet({ devices: 2 });
  const { devsh, device } = fleet;
  const id = String(device(2).users.find(({ username }) => username === 'viewer')?.uuid);
  device(2).setFault(DOWN, true);
  await devsh('user set viewer lang=fr --on sim2 --yes');
  await devsh(`user set ${id} lastname=New --on sim2 --yes`);
  expect(await rows(fleet)).toHaveLength(2);
  device(2).setFault(DOWN, false);
  expect(await devsh('owed settle --yes')).toMatchObject({ exitCode: 0 });
  const viewer = device(2).users.find(({ username }) => username === 'viewer');
  expect(viewer).toMatchObject({ lang: 'fr', lastname: 'New' });
  expect(writesOf(device(2))).toHaveLength(2);
  expect(await rows(fleet)).toEqual([]);
});

test('a device that moved keeps its debt until --allow drift', async () => {
  const fleet = await startFleet({ devices: 3 });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  await devsh('user delete viewer --on sim1,sim2 --yes');
  const { address } = device(3);
  await know(devsh, [device(1), { name: 'sim2', address }]);
  const moved = await devsh('owed settle --yes');
  expect(moved.exitCode).toBe(6);
  expect(moved.stderr).toContain(`sim2 is at ${address} now`);
  expect(moved.stderr).toContain('--allow drift');
  expect(writesOf(device(3))).toEqual([]);
  expect(await rows(fleet)).toHaveLength(1);
  expect(await devsh('owed settle --yes --allow drift')).toMatchObject({ exitCode: 0 });
  expect(writesOf(device(3))).toHaveLength(1);
  expect(await rows(fleet)).toEqual([]);
});

test('a box whose certificate was accepted after the run gets its debt only with --allow drift', async () => {
  const fleet = await startFleet({ devices: 2 });
  const { devsh, device, devices } = fleet;
  device(2).setFault(DOWN, true);
  await devsh('user delete viewer --on @lab --yes');
  device(2).setFault(DOWN, false);
  // The pins are written again: they are newer than the run.
  await trust(devsh, devices);
  const replaced = await devsh('owed settle --yes');
  expect(replaced.exitCode).toBe(6);
  expect(replaced.stderr).toContain('it may be another device');
  expect(writesOf(device(2))).toEqual([]);
  expect(await devsh('owed settle --yes --allow drift')).toMatchObject({ exitCode: 0 });
  expect(writesOf(device(2))).toHaveLength(1);
  expect(await rows(fleet)).toEqual([]);
});
