import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { know, startFleet, trust, usernames, writesOf, type TestFleet } from './devsh.ts';
import { settleAtOnce } from '../settle.ts';

settleAtOnce();

const DOWN = 'refuse';

async function rows({ devsh }: TestFleet): Promise<readonly Record<string, unknown>[]> {
  const { stdout } = await devsh('pending --json');
  return (JSON.parse(stdout) as { pending: Record<string, unknown>[] }).pending;
}

function runOf([row]: readonly Record<string, unknown>[]): string {
  return String(row?.['id']);
}

test('what a run did not reach because it stopped is pending until it is continued', async () => {
  const fleet = await startFleet({ devices: 4 });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  const run = await devsh('user delete viewer --on @lab --yes --max-failures 0');
  expect(run.stderr, run.stdout).toContain('stopped: ');
  const before = await rows(fleet);
  const cause = '1 of 4 devices not read; --max-failures allows 0';
  expect(before).toMatchObject([
    { device: 'sim1', cause },
    { device: 'sim2', change: 'delete user viewer', cause: 'not reached' },
    { device: 'sim3', cause },
    { device: 'sim4', cause },
  ]);
  device(2).setFault(DOWN, false);
  await devsh(`resume ${runOf(before)} --yes`);
  expect(fleet.devices.map((one) => writesOf(one).length)).toEqual([1, 1, 1, 1]);
  expect(await rows(fleet)).toEqual([]);
});

test('what a run did not reach can be dropped with a reason', async () => {
  const fleet = await startFleet({ devices: 3 });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  await devsh('user delete viewer --on @lab --yes --max-failures 0');
  const id = runOf(await rows(fleet));
  await devsh(`pending drop ${id} --on sim1,sim3 --reason replaced`);
  expect(await rows(fleet)).toMatchObject([{ device: 'sim2', change: 'delete user viewer' }]);
});

test('"resume" of a filter changes the records that it matched then, and no others', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  await devsh('user set viewer lastname=Temp --on @lab --yes');
  device(2).setFault(DOWN, true);
  await devsh('user delete --where lastname=Temp --on @lab --yes');
  device(2).setFault(DOWN, false);
  device(2).putUser({ username: 'late', first_name: 'L', lastname: 'Temp', lang: 'de' });
  const retried = await devsh('resume --yes');
  expect(retried.stdout).toContain('✓ viewer  deleted  sim2');
  expect(retried.stderr).toContain('also matches late, which the run did not mean');
  expect(usernames(device(2))).toContain('late');
  expect(usernames(device(2))).not.toContain('viewer');
});

test('"resume" of a filter that matched nothing then changes nothing', async () => {
  const { devsh, device } = await startFleet({ devices: 2 });
  device(2).setFault(DOWN, true);
  const line = await devsh('user delete --where lastname=Temp --on @lab --yes');
  expect(line.stderr).toContain('repeat the line with --on sim2');
  device(2).setFault(DOWN, false);
  device(2).putUser({ username: 'late', first_name: 'L', lastname: 'Temp', lang: 'de' });
  const { stderr } = await devsh('resume --yes');
  expect(stderr).toContain('nothing is pending');
  expect(usernames(device(2))).toContain('late');
});

test('what is pending on a device that moved goes there only with --also', async () => {
  const fleet = await startFleet({ devices: 3 });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  await devsh('user delete viewer --on sim1,sim2 --yes');
  const { address } = device(3);
  await know(devsh, [device(1), { name: 'sim2', address }]);
  const moved = await devsh('resume --yes');
  expect(moved.exitCode).toBe(6);
  expect(moved.stdout).toContain('sim2 has another certificate than then; --also sim2=viewer');
  expect(writesOf(device(3))).toEqual([]);
  expect(await rows(fleet)).toHaveLength(1);
  expect(await devsh('resume --yes --allow drift')).toMatchObject({ exitCode: 6 });
  expect(await devsh('resume --yes --also sim2=viewer')).toMatchObject({ exitCode: 0 });
  expect(writesOf(device(3))).toHaveLength(1);
  expect(await rows(fleet)).toEqual([]);
});

test('what is pending on a box with a new certificate goes there only with --also', async () => {
  const fleet = await startFleet({ devices: 2 });
  const { devsh, device, devices } = fleet;
  device(2).setFault(DOWN, true);
  await devsh('user delete viewer --on @lab --yes');
  device(2).setFault(DOWN, false);
  const other = `SHA256:${'ab'.repeat(32)}`;
  const journal = join(devsh.folder, 'state/devsh/runs', `${runOf(await rows(fleet))}.jsonl`);
  const text = await readFile(journal, 'utf8');
  await writeFile(journal, text.replace(device(2).fingerprint, other));
  await trust(devsh, devices);
  const replaced = await devsh('resume --yes');
  expect(replaced.exitCode).toBe(6);
  expect(replaced.stdout).toContain('sim2 has another certificate than then');
  expect(writesOf(device(2))).toEqual([]);
  expect(await devsh('resume --yes --also sim2=viewer')).toMatchObject({ exitCode: 0 });
  expect(writesOf(device(2))).toHaveLength(1);
  expect(await rows(fleet)).toEqual([]);
});

test('what an older devsh left open is asked about: it did not record which device it was', async () => {
  const fleet = await startFleet({ devices: 2 });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  await devsh('user delete viewer --on @lab --yes');
  device(2).setFault(DOWN, false);
  const journal = join(devsh.folder, 'state/devsh/runs', `${runOf(await rows(fleet))}.jsonl`);
  await writeFile(journal, (await readFile(journal, 'utf8')).replace('devsh-run/4', 'devsh-run/2'));
  const asked = await devsh('resume --yes');
  expect(asked.stdout).toContain('an older devsh left it');
  expect(asked.exitCode).toBe(6);
  expect(await devsh('resume --yes --also sim2=viewer')).toMatchObject({ exitCode: 0 });
  expect(writesOf(device(2))).toHaveLength(1);
});

test('"resume --json" names the new run of each result', async () => {
  const fleet = await startFleet({ devices: 2 });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  await devsh('user set viewer lang=it --on @lab --yes');
  await devsh('user set viewer lastname=Late --on @lab --yes');
  const runs = (await rows(fleet)).map(({ id }) => id);
  device(2).setFault(DOWN, false);
  const { stdout } = await devsh('resume --yes --json');
  const { results } = JSON.parse(stdout) as { results: readonly { run?: string }[] };
  expect(new Set([...runs, ...results.map(({ run }) => run)]).size).toBe(4);
});

test('an undo of the newer run revives nothing that the run replaced', async () => {
  const fleet = await startFleet({ devices: 2 });
  const { devsh, device } = fleet;
  device(2).setFault(DOWN, true);
  await devsh('user set viewer lang=fr --on @lab --yes');
  device(2).setFault(DOWN, false);
  await devsh('user set viewer lang=it --on @lab --yes');
  expect(await rows(fleet)).toEqual([]);
  await devsh('undo --yes');
  expect(await rows(fleet)).toEqual([]);
});

test('a run that ended is not written to again, and is shown and undone with what continued it', async () => {
  const fleet = await startFleet({ devices: 3 });
  const { devsh, devices, device } = fleet;
  device(2).setFault(DOWN, true);
  device(3).setFault(DOWN, true);
  await devsh('user set viewer lang=fr --on @lab --yes');
  const folder = join(devsh.folder, 'state/devsh/runs');
  const journals = async () => {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl')).toSorted();
    return Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  };
  const [first = ''] = await journals();
  const id = /"run":"([^"]+)"/.exec(first)?.[1] ?? '';
  for (const number of [2, 3]) {
    device(number).setFault(DOWN, false);
    await devsh('resume --yes');
  }
  const all = await journals();
  expect([all.length, all[0]]).toEqual([3, first]);
  expect(all.slice(1).every((text) => text.includes(`"of":{"run":"${id}"`))).toBe(true);
  expect((await devsh(`runs show ${id}`)).stdout).toContain('3 done');
  expect(await rows(fleet)).toEqual([]);
  // The newest run is the one that did the last device: all of the line goes back.
  expect((await devsh('undo --yes')).stdout).toContain('3 done');
  for (const { users } of devices) {
    expect(users.find(({ username }) => username === 'viewer')?.lang).toBe('en');
  }
});

test.each([
  'refuse',
  '401',
  '403',
  '500',
  'reset',
  'silence',
  'store-and-drop',
  'accept-and-forget',
] as const)(
  'the summary names the devices of which something is pending, with the fault %s',
  async (fault) => {
    const fleet = await startFleet({ devices: 2 });
    const { devsh, device } = fleet;
    device(2).setFault(fault, true, ...(fault === 'refuse' ? [] : [{ method: 'POST' }]));
    const line = 'user set viewer lang=fr --on @lab --yes --timeout 1';
    const { stdout } = await devsh(line);
    const summary = stdout.trim().split('\n').at(-1) ?? '';
    const listed = (await rows(fleet)).map(({ device: name }) => String(name));
    expect([summary, /pending (?:there|on sim2)/.test(summary)]).toEqual([
      summary,
      listed.length > 0,
    ]);
    expect(listed.every((name) => name === 'sim2')).toBe(true);
  },
);
