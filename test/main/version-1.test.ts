import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDevsh, startFleet, usernames, type TestFleet } from './devsh.ts';

/**
 * Files in the formats `devsh-…/1`, written when `- add: user zoe` and `- set: user viewer lang=fr` were applied to sim1 to
 * sim4: the plan, the results of its two shards (sim3 was unreachable; the second was killed after sending
 * its first step), the journal of that shard, and the journal of the whole plan, killed after sim1 was done
 * and the first step of sim2 sent.
 */
const WRITTEN = join(import.meta.dirname, 'written-by-version-1');
const FILES = ['monday.plan', '1.result', '2.result', 'part.journal', 'whole.journal'] as const;

function written(name: (typeof FILES)[number]): Promise<string> {
  return readFile(join(WRITTEN, name), 'utf8');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Rewrites the files for these devices and this folder, signatures included. */
async function brought({ devsh, device }: TestFleet): Promise<(name: string) => string> {
  const port = device(1).address.split(':').at(-1) ?? '';
  const whole = await written('monday.plan');
  const lines = whole.slice(0, whole.lastIndexOf('{'));
  const moved = (text: string): string =>
    text
      .replaceAll(/(127\.0\.0\.\d):\d+/g, `$1:${port}`)
      .replaceAll(/\/tmp\/devsh-test-\w+/g, devsh.folder)
      .replace(/"expiresAt":"[^"]*"/, '"expiresAt":"2999-01-01T00:00:00.000Z"');
  await mkdir(join(devsh.folder, 'state/devsh/runs'), { recursive: true });
  for (const name of FILES) {
    const text = (await written(name)).replaceAll(sha256(lines), sha256(moved(lines)));
    await writeFile(join(devsh.folder, name), moved(text));
  }
  return (name) => join(devsh.folder, name);
}

/** Puts a journal into the state folder and returns the id of its run. */
async function interrupted(fleet: TestFleet, name: 'part.journal' | 'whole.journal') {
  const file = await brought(fleet);
  const journal = await readFile(file(name), 'utf8');
  const [, run = ''] = /"run":"([^"]+)"/.exec(journal) ?? [];
  await writeFile(file(`state/devsh/runs/${run}.jsonl`), journal);
  return { file, run };
}

test('a plan file of version 1 is applied', async () => {
  const fleet = await startFleet({ devices: 4 });
  const file = await brought(fleet);
  const { stdout, exitCode } = await fleet.devsh(['apply', file('monday.plan'), '--yes']);
  expect(stdout).toContain('8 done');
  expect(exitCode).toBe(0);
  for (const device of fleet.devices) expect(usernames(device)).toContain('zoe');
});

test('a plan file of version 1 that was altered is refused', async () => {
  const fleet = await startFleet({ devices: 4 });
  const file = await brought(fleet);
  const plan = await readFile(file('monday.plan'), 'utf8');
  await writeFile(file('monday.plan'), plan.replace('"lang":"fr"', '"lang":"de"'));
  const { stderr, exitCode } = await fleet.devsh(['apply', file('monday.plan'), '--yes']);
  expect(stderr).toContain('was altered or cut since it was written');
  expect(exitCode).toBe(6);
  expect(fleet.writes()).toEqual([]);
});

test('an interrupted run of version 1 is resumed, shown and undone', async () => {
  const fleet = await startFleet({ devices: 4 });
  const { devsh, device, writes } = fleet;
  const { run } = await interrupted(fleet, 'whole.journal');
  // The steps that it had done or sent before it was killed.
  device(1).putUser({ username: 'zoe', first_name: 'Zoe', lang: 'de' });
  device(1).putUser({ username: 'viewer', lang: 'fr' });
  device(2).putUser({ username: 'zoe', first_name: 'Zoe', lang: 'de' });
  expect((await devsh(`run show ${run}`)).stdout).toContain('2 done · 1 unknown · 5 skipped');
  const { stdout, exitCode } = await devsh(`resume ${run} --yes`);
  expect(stdout).toContain('sim2  add user zoe: done - it was sent before the interruption');
  expect(exitCode).toBe(0);
  expect(writes()).toHaveLength(5);
  expect((await devsh(`run show ${run}`)).stdout).toContain('8 done');
  expect((await devsh(`undo ${run} --yes --allow drift`)).exitCode).toBe(0);
  for (const one of fleet.devices) expect(usernames(one)).not.toContain('zoe');
});

test('results of version 1 are merged', async () => {
  const devsh = await makeDevsh();
  const argv = ['1.result', '2.result'].map((name) => join(WRITTEN, name));
  const plan = join(WRITTEN, 'monday.plan');
  const { stdout, stderr, exitCode } = await devsh(['runs', 'merge', ...argv, '--plan', plan]);
  expect(stdout).toContain('sim1  add user zoe: done');
  expect(stdout).toContain('refuses the connection');
  expect(stdout).toContain('2 done · 2 failed · 4 unknown');
  expect(stderr).toContain('shard 2/2');
  expect(stderr).toContain('did not end');
  expect(exitCode).toBe(3);
});

test('a shard of version 1 is resumed from its result file and from its journal', async () => {
  for (const isHere of [true, false]) {
    const fleet = await startFleet({ devices: 4 });
    const { devsh, device, writes } = fleet;
    const file = isHere ? (await interrupted(fleet, 'part.journal')).file : await brought(fleet);
    device(2).putUser({ username: 'zoe', first_name: 'Zoe', lang: 'de' });
    const argv = ['apply', file('monday.plan'), '--shard', '2/2', '--yes'];
    const { stderr, exitCode } = await devsh([...argv, '--result', file('2.result')]);
    expect(stderr).toContain('2.result: resuming run');
    expect(exitCode).toBe(0);
    expect(writes()).toHaveLength(3);
    const merge = await devsh([
      ...['runs', 'merge', file('1.result'), file('2.result')],
      ...['--plan', file('monday.plan')],
    ]);
    expect(merge.stdout).toContain('6 done · 2 failed');
  }
});
