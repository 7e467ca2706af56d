import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startFleet, type TestFleet, usernames, writesOf } from './devsh.ts';
import { settleAtOnce } from '../settle.ts';

settleAtOnce();

/** The plain output without ids of runs and times. */
function plain(text: string): string {
  return text
    .replace(/\d{8}-\d{6}-\w{6}/g, '{run}')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '{time}')
    .replace(/(?:yesterday )?\d\d:\d\d UTC(?:[+-][\d:]+\d)?/g, '{clock}')
    .replace(/127\.0\.0\.1:\d+/g, '{address}');
}

async function pendingRows({ devsh }: TestFleet): Promise<readonly Record<string, unknown>[]> {
  const { stdout } = await devsh('pending --json');
  return (JSON.parse(stdout) as { pending: Record<string, unknown>[] }).pending;
}

const DOWN = 'refuse';

test('a device that was down gets the deletion once when it answers', async () => {
  const fleet = await startFleet({ devices: 3 });
  const { devsh, device, writes } = fleet;
  device(2).setFault(DOWN, true);
  const run = await devsh('user delete viewer --on @lab --yes');
  expect(run.exitCode).toBe(3);
  expect(run.stdout).toContain('not reached: sim2 · pending there');
  expect(run.stderr).toMatch(/"resume \S+" continues/);
  expect(await pendingRows(fleet)).toMatchObject([
    { device: 'sim2', change: 'delete user viewer' },
  ]);

  const early = await devsh('resume --yes');
  expect(early.exitCode).toBe(5);
  expect(early.stderr).toContain('sim2');
  expect(await pendingRows(fleet)).toHaveLength(1);

  device(2).setFault(DOWN, false);
  const before = writes().length;
  const settled = await devsh('resume --yes');
  expect(settled).toMatchObject({ exitCode: 0 });
  expect(settled.stdout).toContain('✓ viewer  deleted  sim2');
  expect(await pendingRows(fleet)).toEqual([]);
  expect(writes().length - before).toBe(1);
  expect(usernames(device(2))).not.toContain('viewer');

  const report = await devsh('report --since 1h --json');
  const { report: told } = JSON.parse(report.stdout) as { report: { runs: readonly object[] } };
  expect(told.runs[0]).toMatchObject({ state: 'ended', counts: { done: 3 } });

  expect((await devsh('resume --yes')).stderr).toContain('nothing is pending\n');
  for (const line of ['pending --on sim2', 'resume --on sim2 --yes'])
    expect((await devsh(line)).stderr).toContain('nothing is pending on the named devices');
  expect(writes().length - before).toBe(1);
});

test('one line says what is pending, and that the same "resume" tries what failed', async () => {
  const { devsh, device } = await startFleet({ devices: 3 });
  device(1).setFault('500', true, { method: 'DELETE' });
  device(2).setFault(DOWN);
  const { stderr } = await devsh('user delete viewer --on @lab --yes');
  const told = plain(stderr).match(/.*\bresume\b.*/g);
  expect(told).toEqual(['pending: "resume {run}" continues, and tries the failed steps again']);
});

test('after "add bob" and "delete bob" "resume" never creates bob', async () => {
  const fleet = await startFleet({ devices: 2 });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  await devsh('user add username=bob lang=de first_name=B lastname=B --on @lab --yes');
  expect(await pendingRows(fleet)).toHaveLength(1);
  await devsh('user delete bob --on @lab --yes');
  expect(await pendingRows(fleet)).toMatchObject([{ change: 'delete user bob' }]);
  device(2).setFault(DOWN, false);
  const settled = await devsh('resume --yes');
  expect(settled.stdout).toContain('unchanged');
  expect(writesOf(device(2))).toEqual([]);
  expect(await pendingRows(fleet)).toEqual([]);
});

test('an addition and a later change are settled in their order', async () => {
  const fleet = await startFleet({ devices: 2 });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  await devsh('user add username=bob lang=de first_name=B lastname=B --on @lab --yes');
  await devsh('user set bob lang=fr --on @lab --yes');
  expect(await pendingRows(fleet)).toHaveLength(2);
  device(2).setFault(DOWN, false);
  expect(await devsh('resume --yes')).toMatchObject({ exitCode: 0 });
  expect(writesOf(device(2))).toHaveLength(2);
  expect(await pendingRows(fleet)).toEqual([]);
});

test('undoing the run cancels what is pending of it, and undoing that brings it back', async () => {
  const fleet = await startFleet({ devices: 2 });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  await devsh('user add username=bob lang=de first_name=B lastname=B --on @lab --yes');
  const { stderr } = await devsh('undo --yes');
  expect(plain(stderr)).toContain('once undone, nothing of it is pending on sim2');
  expect(await pendingRows(fleet)).toEqual([]);
  await devsh('undo --yes --allow loss');
  expect(await pendingRows(fleet)).toMatchObject([
    { change: 'add user bob username=bob lang=de first_name=B lastname=B' },
  ]);
});

test('of a filter the keys are pending that it matched elsewhere, and nothing if no device was read', async () => {
  const fleet = await startFleet({ devices: 2 });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  await devsh('user delete --where username=viewer --on @lab --yes');
  expect(await pendingRows(fleet)).toMatchObject([{ change: 'delete user viewer' }]);
  device(1).setFault(DOWN, true);
  const none = await devsh('user delete --where lang=xx --on @lab --yes');
  expect(plain(none.stderr)).toContain('"lang=xx" matches nothing elsewhere');
  expect(none.stdout).not.toContain('pending');
  expect(await pendingRows(fleet)).toHaveLength(1);
});

test('a value that differs from the one before the run is drift and needs --allow drift', async () => {
  const fleet = await startFleet({ devices: 3 });
  const { devsh, device } = fleet;
  await devsh('user set viewer lang=en --on @lab --yes');
  device(3).setFault(DOWN, true);
  await devsh('user set viewer lang=de --on @lab --yes');
  device(3).setFault(DOWN, false);
  await devsh('user set viewer lang=fr first_name=V --on sim3 --yes');
  // That newer value is what the user wants now.
  expect(await pendingRows(fleet)).toEqual([]);

  device(3).setFault(DOWN, true);
  await devsh('user set viewer lastname=New --on @lab --yes');
  device(3).setFault(DOWN, false);
  const env = { XDG_STATE_HOME: join(devsh.folder, 'somebody-else') };
  await devsh('user set viewer lastname=Other --on sim3 --yes', { env });
  const drift = await devsh('resume --yes');
  expect(drift.exitCode).toBe(7);
  expect(await pendingRows(fleet)).toHaveLength(1);
  const forced = await devsh('resume --yes --allow drift');
  expect(forced.exitCode).toBe(0);
  expect(await pendingRows(fleet)).toEqual([]);
});

test('a secret is not kept: it is asked for, and refused without a terminal', async () => {
  const fleet = await startFleet({ devices: 2 });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  await devsh('user set viewer password=horse-battery-9 --on @lab --yes');
  expect(await pendingRows(fleet)).toMatchObject([{ cause: 'not reached; needs password' }]);
  const folder = join(devsh.folder, 'state/devsh/runs');
  for (const name of await readdir(folder)) {
    expect(await readFile(join(folder, name), 'utf8')).not.toContain('horse-battery-9');
  }
  device(2).setFault(DOWN, false);
  const refused = await devsh('resume --yes');
  expect(refused.exitCode).toBe(6);
  expect(refused.stderr).toContain('password of user viewer is secret');
  const given = await devsh('resume --yes', { tty: ['horse-battery-9'] });
  expect(given.exitCode).toBe(0);
  expect(await pendingRows(fleet)).toEqual([]);
});

test('dropping needs a reason and keeps it; a device that left the inventory has nothing pending', async () => {
  const fleet = await startFleet({ devices: 3 });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  device(3).setFault(DOWN, true);
  await devsh('user delete viewer --on @lab --yes');
  const [row] = await pendingRows(fleet);
  const id = String(row?.['id']);
  expect((await devsh(`pending drop ${id} --on sim2`)).exitCode).toBe(2);
  expect(await devsh(`pending drop ${id} --on sim2 --reason scrapped`)).toMatchObject({
    exitCode: 0,
  });
  expect(await pendingRows(fleet)).toMatchObject([{ device: 'sim3' }]);
  await devsh('device remove sim3');
  expect(await pendingRows(fleet)).toEqual([]);
  const why = await devsh(`pending drop ${id} --reason again`);
  expect(why.exitCode).toBe(1);
  expect(why.stderr).toContain('scrapped');
  expect(why.stderr).toContain('left the inventory');
});

test('connecting names what is pending', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  device(2).setFault(DOWN, true);
  await devsh('user delete viewer --on @lab --yes');
  device(2).setFault(DOWN, false);
  const { stderr } = await devsh('connect sim2', { stdin: 'quit\n' });
  expect(plain(stderr)).toContain('pending on sim2: delete user viewer · since {clock}: "resume"');
});

test('--wait tries again until the device answers, and Ctrl-C says what is pending', async () => {
  const fleet = await startFleet({ devices: 2 });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  await devsh('user delete viewer --on @lab --yes');
  const stopped = await devsh('resume --wait --yes', {
    stopAt: { text: 'tries again', signal: 'SIGINT' },
  });
  expect(stopped.exitCode).toBe(130);
  expect(stopped.stderr).toContain('pending, not reached: sim2');
  const waiting = devsh('resume --wait --yes');
  device(2).setFault(DOWN, false);
  expect((await waiting).exitCode).toBe(0);
  expect(await pendingRows(fleet)).toEqual([]);
});

test('a device that moved to another address is settled once, and "delete bob" there counts', async () => {
  const fleet = await startFleet({ devices: 3 });
  const { devsh, device } = fleet;
  await devsh('device remove sim3');
  const path = join(devsh.folder, 'config/devsh/devices.yaml');
  const text = await readFile(path, 'utf8');
  device(2).setFault(DOWN, true);
  const add = 'user add username=bob lang=de first_name=B lastname=B --on @lab --yes';
  await devsh(add);
  await writeFile(path, text.replace(device(2).address, device(3).address));
  device(3).clearFaults();
  expect((await devsh('resume --yes')).stdout).toContain('--also sim2=bob takes it');
  await devsh('resume --yes --also sim2=bob');
  expect(usernames(device(3))).toContain('bob');
  expect(await pendingRows(fleet)).toEqual([]);
  await devsh('user delete bob --on @lab --yes');
  expect((await devsh('resume --yes')).stderr).toContain('nothing is pending');
  expect(usernames(device(3))).not.toContain('bob');
});

test('what a file wants of an absent device is said to need the line again, not a settling', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  device(2).setFault(DOWN, true);
  const file = join(devsh.folder, 'users.csv');
  await writeFile(file, 'username,lang\nviewer,de\n');
  const run = await devsh(['import', file, '--on', '@lab', '--yes']);
  expect(run.stderr).toContain('pending: repeat the line there later');
  expect(run.stderr).not.toContain('"resume"');
});

test('what is pending of a pruning import names the deletes, and the same line again replaces it', async () => {
  const fleet = await startFleet({ devices: 2, profile: 'drf' });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  const file = join(devsh.folder, 'users.csv');
  await writeFile(file, 'username,lang\nviewer,de\nadmin,de\n');
  const importOn = (on: string) =>
    devsh(['import', file, '--prune', '--on', on, '--yes', '--allow', 'prune', '--allow', 'loss']);
  const first = await importOn('@lab');
  const cause =
    'not reached; repeat the line of the run, which also deletes what is not in the file';
  const wanted = [
    { change: 'set user viewer', cause },
    { change: 'set user admin', cause },
  ];
  expect(await pendingRows(fleet), first.stderr).toMatchObject(wanted);
  await importOn('sim2');
  expect(await pendingRows(fleet)).toMatchObject(wanted);
  device(2).clearFaults();
  const later = await importOn('sim2');
  expect(usernames(device(2)), later.stderr).toEqual(['admin', 'viewer']);
  expect(await pendingRows(fleet)).toEqual([]);
});
