import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startFleet, type TestFleet, usernames, writesOf } from './devsh.ts';

/** The plain output without ids of runs and times. */
function plain(text: string): string {
  return text
    .replace(/\d{8}-\d{6}-\w{6}/g, '{run}')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '{time}')
    .replace(/\d\d:\d\d UTC(?:[+-][\d:]+\d)?/g, '{clock}')
    .replace(/127\.0\.0\.1:\d+/g, '{address}');
}

async function owed({ devsh }: TestFleet): Promise<readonly Record<string, unknown>[]> {
  const { stdout } = await devsh('owed --json');
  return (JSON.parse(stdout) as { owed: Record<string, unknown>[] }).owed;
}

const DOWN = 'refuse';

test('a device that was down gets the deletion once when it answers', async () => {
  const fleet = await startFleet({ devices: 3 });
  const { devsh, device, writes } = fleet;
  device(2).setFault(DOWN, true);
  const run = await devsh('user delete viewer --on @lab --yes');
  expect(run.exitCode).toBe(3);
  expect(run.stdout).toContain('not covered: sim2 (unreachable) · owed there');
  expect(run.stderr).toContain('"owed settle"');
  expect(await owed(fleet)).toMatchObject([
    { devices: ['sim2'], change: 'delete user viewer', state: 'open' },
  ]);

  const early = await devsh('owed settle --yes');
  expect(early.exitCode).toBe(5);
  expect(early.stderr).toContain('sim2');
  expect(await owed(fleet)).toHaveLength(1);

  device(2).setFault(DOWN, false);
  const before = writes().length;
  const settled = await devsh('owed settle --yes');
  expect(settled).toMatchObject({ exitCode: 0 });
  expect(settled.stdout).toContain('✓ sim2  delete user viewer: done');
  expect(await owed(fleet)).toEqual([]);
  expect(writes().length - before).toBe(1);
  expect(usernames(device(2))).not.toContain('viewer');

  expect((await devsh('owed settle --yes')).stderr).toContain('nothing is owed\n');
  for (const line of ['owed --on sim2', 'owed settle --on sim2 --yes'])
    expect((await devsh(line)).stderr).toContain('nothing is owed to the named devices');
  expect(writes().length - before).toBe(1);
});

test('after "add bob" and "delete bob" settling never creates bob', async () => {
  const fleet = await startFleet({ devices: 2 });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  await devsh('user add username=bob lang=de first_name=B lastname=B --on @lab --yes');
  expect(await owed(fleet)).toHaveLength(1);
  await devsh('user delete bob --on @lab --yes');
  expect(await owed(fleet)).toMatchObject([{ change: 'delete user bob' }]);
  device(2).setFault(DOWN, false);
  const settled = await devsh('owed settle --yes');
  expect(settled.stdout).toContain('unchanged');
  expect(writesOf(device(2))).toEqual([]);
  expect(await owed(fleet)).toEqual([]);
});

test('an addition and a later change are settled in their order', async () => {
  const fleet = await startFleet({ devices: 2 });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  await devsh('user add username=bob lang=de first_name=B lastname=B --on @lab --yes');
  await devsh('user set bob lang=fr --on @lab --yes');
  expect(await owed(fleet)).toHaveLength(2);
  device(2).setFault(DOWN, false);
  expect(await devsh('owed settle --yes')).toMatchObject({ exitCode: 0 });
  expect(writesOf(device(2))).toHaveLength(2);
  expect(await owed(fleet)).toEqual([]);
});

test('undoing the run cancels what it owes, and undoing that brings it back', async () => {
  const fleet = await startFleet({ devices: 2 });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  await devsh('user add username=bob lang=de first_name=B lastname=B --on @lab --yes');
  const { stderr } = await devsh('undo --yes');
  expect(plain(stderr)).toContain('afterwards nothing of it is owed on sim2');
  expect(await owed(fleet)).toEqual([]);
  await devsh('undo --yes --allow loss');
  expect(await owed(fleet)).toMatchObject([{ change: 'add user bob' }]);
});

test('a filter owes the keys that it matched elsewhere, and nothing if no device was read', async () => {
  const fleet = await startFleet({ devices: 2 });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  await devsh('user delete --where username=viewer --on @lab --yes');
  expect(await owed(fleet)).toMatchObject([{ change: 'delete user viewer' }]);
  device(1).setFault(DOWN, true);
  const none = await devsh('user delete --where lang=xx --on @lab --yes');
  expect(plain(none.stderr)).toContain('"lang=xx" matches no record of the devices that were read');
  expect(none.stdout).not.toContain('owed');
  expect(await owed(fleet)).toHaveLength(1);
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
  expect(await owed(fleet)).toEqual([]);

  device(3).setFault(DOWN, true);
  await devsh('user set viewer lastname=New --on @lab --yes');
  device(3).setFault(DOWN, false);
  const env = { XDG_STATE_HOME: join(devsh.folder, 'somebody-else') };
  await devsh('user set viewer lastname=Other --on sim3 --yes', { env });
  const drift = await devsh('owed settle --yes');
  expect(drift.exitCode).toBe(7);
  expect(await owed(fleet)).toHaveLength(1);
  // Its first name differs, too: that needs the mark.
  const forced = await devsh('owed settle --yes --allow drift --also sim3=viewer');
  expect(forced.exitCode).toBe(0);
  expect(await owed(fleet)).toEqual([]);
});

test('a secret is not kept: it is asked for, and refused without a terminal', async () => {
  const fleet = await startFleet({ devices: 2 });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  await devsh('user set viewer password=horse-battery-9 --on @lab --yes');
  expect(await owed(fleet)).toMatchObject([{ state: 'needs password' }]);
  const folder = join(devsh.folder, 'state/devsh/runs');
  for (const name of await readdir(folder)) {
    expect(await readFile(join(folder, name), 'utf8')).not.toContain('horse-battery-9');
  }
  device(2).setFault(DOWN, false);
  const refused = await devsh('owed settle --yes');
  expect(refused.exitCode).toBe(6);
  expect(refused.stderr).toContain('password of user viewer is secret');
  const given = await devsh('owed settle --yes', { tty: ['horse-battery-9'] });
  expect(given.exitCode).toBe(0);
  expect(await owed(fleet)).toEqual([]);
});

test('dropping needs a reason and keeps it; a device that left the inventory is owed nothing', async () => {
  const fleet = await startFleet({ devices: 3 });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  device(3).setFault(DOWN, true);
  await devsh('user delete viewer --on @lab --yes');
  const [row] = await owed(fleet);
  const id = String(row?.['id']);
  expect((await devsh(`owed drop ${id} --on sim2`)).exitCode).toBe(2);
  expect(await devsh(`owed drop ${id} --on sim2 --reason scrapped`)).toMatchObject({ exitCode: 0 });
  expect(await owed(fleet)).toMatchObject([{ devices: ['sim3'] }]);
  await devsh('device remove sim3');
  expect(await owed(fleet)).toEqual([]);
  const why = await devsh(`owed drop ${id} --reason again`);
  expect(why.exitCode).toBe(1);
  expect(why.stderr).toContain('scrapped');
  expect(why.stderr).toContain('left the inventory');
});

test('connecting names what is owed', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  device(2).setFault(DOWN, true);
  await devsh('user delete viewer --on @lab --yes');
  device(2).setFault(DOWN, false);
  const { stderr } = await devsh('connect sim2', { stdin: 'quit\n' });
  expect(plain(stderr)).toContain(
    'owed to sim2: delete user viewer · since {clock}: "owed settle"',
  );
});

test('--wait tries again until the device answers, and Ctrl-C says what is still owed', async () => {
  const fleet = await startFleet({ devices: 2 });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  await devsh('user delete viewer --on @lab --yes');
  const stopped = await devsh('owed settle --wait --yes', {
    stopAt: { text: 'tries again', signal: 'SIGINT' },
  });
  expect(stopped.exitCode).toBe(130);
  expect(stopped.stderr).toContain('still owed, not reached: sim2');
  const waiting = devsh('owed settle --wait --yes');
  device(2).setFault(DOWN, false);
  expect((await waiting).exitCode).toBe(0);
  expect(await owed(fleet)).toEqual([]);
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
  expect((await devsh('owed settle --yes')).stderr).toContain('use --allow drift to override');
  await devsh('owed settle --yes --allow drift');
  expect(usernames(device(3))).toContain('bob');
  expect(await owed(fleet)).toEqual([]);
  await devsh('user delete bob --on @lab --yes');
  expect((await devsh('owed settle --yes --allow drift')).stderr).toContain('nothing is owed');
  expect(usernames(device(3))).not.toContain('bob');
});

test('what a file wants of an absent device is said to need the line again, not a settling', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  device(2).setFault(DOWN, true);
  const file = join(devsh.folder, 'users.csv');
  await writeFile(file, 'username,lang\nviewer,de\n');
  const run = await devsh(['import', file, '--on', '@lab', '--yes']);
  expect(run.stderr).toContain('still owed: repeat the line there later');
  expect(run.stderr).not.toContain('"owed settle"');
});

test('what a pruning import owes names the deletes, and the same line again replaces it', async () => {
  const fleet = await startFleet({ devices: 2, profile: 'drf' });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  const file = join(devsh.folder, 'users.csv');
  await writeFile(file, 'username,lang\nviewer,de\nadmin,de\n');
  const importOn = (on: string) =>
    devsh(['import', file, '--prune', '--on', on, '--yes', '--allow', 'prune', '--allow', 'loss']);
  const first = await importOn('@lab');
  const state = 'repeat the line of the run, which also deletes what is not in the file';
  const owes = [
    { change: 'set user viewer', state },
    { change: 'set user admin', state },
  ];
  expect(await owed(fleet), first.stderr).toMatchObject(owes);
  await importOn('sim2');
  expect(await owed(fleet)).toMatchObject(owes);
  device(2).clearFaults();
  const later = await importOn('sim2');
  expect(usernames(device(2)), later.stderr).toEqual(['admin', 'viewer']);
  expect(await owed(fleet)).toEqual([]);
});
