import { createHash } from 'node:crypto';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DevshError } from '../../src/errors.ts';
import { valueText } from '../../src/device/record.ts';
import { eventsOf } from '../../src/history/events.ts';
import { eventText } from '../../src/history/fold-events.ts';
import { HistoryFiles } from '../../src/history/history-files.ts';
import { History } from '../../src/history/history.ts';
import { ADMIN, makeDevsh, startFleet, trust, writesOf } from '../main/devsh.ts';
import type { SimulatedDevice } from '../simulator/simulator.ts';

/*
 * Files of an older devsh, as it left them: each folder is named for its day. `devices.json` tells which devices there
 * were and what they held in the end. No file here is ever changed; a new format gets a new folder.
 */

interface SampleDevice {
  readonly name: string;
  readonly address: string;
  readonly fingerprint: string;
  readonly users: readonly { username: string }[];
}

const [SAMPLE, STATES] = ['2026-11-28', '2026-11-29'].map((name) =>
  join(import.meta.dirname, name),
) as [string, string];
const KILLED = [
  'user add username=yan first_name=Z lastname=Z lang=de --on @lab --yes',
  'user add username=zoe first_name=Z lastname=Z lang=de --on @lab --yes',
];

/** devsh with the files of the sample. @param edit changes the text of each file */
async function withSample(edit = (text: string): string => text, sample = SAMPLE) {
  const devsh = await makeDevsh(ADMIN);
  await cp(sample, devsh.folder, { recursive: true });
  for (const entry of await readdir(devsh.folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    await writeFile(path, edit(await readFile(path, 'utf8')), { mode: 0o600 });
  }
  return devsh;
}

async function devicesOf(sample = SAMPLE): Promise<readonly SampleDevice[]> {
  return JSON.parse(await readFile(join(sample, 'devices.json'), 'utf8')) as SampleDevice[];
}

/** The sample on live devices that hold what those of the sample held. */
async function onLiveDevices(sample = SAMPLE) {
  const { devices } = await startFleet({ devices: 3, users: 6, seed: 3 });
  const olds = await devicesOf(sample);
  for (const [index, device] of devices.entries()) {
    // The next ids are those that the sample had.
    for (const used of ['a', 'b', 'c', 'd']) device.putUser({ username: used });
    const held = olds[index]?.users ?? [];
    for (const { username } of device.users) {
      if (!held.some((user) => user.username === username)) device.removeUser(username);
    }
    for (const user of held) device.putUser(user);
  }
  const devsh = await withSample(
    (text) =>
      olds.reduce((edited, { address, fingerprint }, index) => {
        const { address: now = '', fingerprint: pin = '' } = devices[index] ?? {};
        return edited.replaceAll(address, now).replaceAll(fingerprint, pin);
      }, text),
    sample,
  );
  await trust(devsh, devices);
  return { devsh, devices };
}

async function jsonOf<Result>(
  devsh: Awaited<ReturnType<typeof makeDevsh>>,
  line: string,
): Promise<Result> {
  const { stdout, stderr } = await devsh(`${line} --json`);
  expect(stdout, stderr).not.toBe('');
  return JSON.parse(stdout) as Result;
}

test('settings, inventory, pins, runs and what is pending are read', async () => {
  const devsh = await withSample();
  expect((await devsh('config get timeoutMs')).stdout).toBe('9000\n');
  const { inventory } = await jsonOf<{ inventory: { name: string }[] }>(devsh, 'device list');
  expect(inventory.map(({ name }) => name)).toEqual(['sim1', 'sim2', 'sim3']);
  expect((await devsh('trust list')).stdout).toContain((await devicesOf())[2]?.fingerprint);

  const { stdout: runs } = await devsh('runs');
  const rows = runs.trim().split('\n').slice(1);
  expect(rows.map((row) => row.split('\t').slice(4, 6).join(': '))).toEqual([
    'ended: 1 failed',
    'ended: 2 done',
    'ended: 2 done',
    'unfinished: 1 done, 1 unknown, 1 skipped',
    'unfinished: 2 skipped, 1 unknown',
    'ended: 2 done, 1 not reached',
    'ended: 1 done',
    'ended: 3 done',
    'ended: 3 done',
  ]);
  for (const row of rows) {
    const { stdout, exitCode } = await devsh(`runs show ${row.split('\t')[0] ?? ''}`);
    expect([stdout === '', exitCode]).toEqual([false, 0]);
  }
  const { pending } = await jsonOf<{ pending: { device: string; command: string }[] }>(
    devsh,
    'pending',
  );
  const commands = pending.map(({ device, command }) => `${device} ${command}`);
  expect(commands.sort()).toEqual(
    [
      'sim2 user set viewer lang=it --on @lab --yes',
      ...['sim1', 'sim2', 'sim3'].map((name) => `${name} ${KILLED[1] ?? ''}`),
      ...['sim2', 'sim3'].map((name) => `${name} ${KILLED[0] ?? ''}`),
    ].sort(),
  );
});

test('readings answer what changed and what a device held', async () => {
  const devsh = await withSample();
  const { stdout } = await devsh('changes --since 2026-11-28T00:00:00Z');
  expect(stdout).toMatch(/user bob added\trun 20261128-173456-f65eib/);
  expect(stdout).toMatch(/user viewer: lang en → fr\trun 20261128-173457-e6yqnh/);
  expect(stdout).toMatch(/user viewer: first_name Vic → Changed\tnot by a run of this devsh/);
  expect(stdout).toMatch(/user bob gone\trun 20261128-173458-9a2muv/);
  const then = await devsh('user list viewer --at 2026-11-28T17:34:57Z --on sim1 --json');
  expect(then.stdout).toContain('"first_name":"Vic"');
});

/** What the devsh that left a month of readings said of them. */
interface Answers {
  readonly device: string;
  readonly changes: readonly string[];
  /** The users and their languages, by time. */
  readonly states: Readonly<Record<string, string>>;
}

test('a month of readings answers as before', async () => {
  const month = join(import.meta.dirname, '2026-11-28b');
  const answers = JSON.parse(await readFile(join(month, 'answers.json'), 'utf8')) as Answers[];
  const history = new History(new HistoryFiles(join(month, 'state/devsh/readings')));
  for (const { device, changes, states } of answers) {
    const events = eventsOf(device, history.of(device, -Infinity).periods);
    const texts = events.map((one) => `${new Date(one.before).toISOString()} ${eventText(one)}`);
    expect(texts).toEqual(changes);
    for (const [at, users] of Object.entries(states)) {
      const past = history.stateAt(device, 'user', Date.parse(at));
      if (past instanceof DevshError) throw past;
      const found = past.records.map(
        (one) => `${valueText(one['username'])} ${valueText(one['lang'])}`,
      );
      expect(found.join(', ')).toBe(users);
    }
  }
});

test('what is pending is continued, once on each device', async () => {
  const { devsh, devices } = await onLiveDevices();
  const { exitCode, stdout, stderr } = await devsh('resume --yes');
  expect(exitCode, stdout + stderr).toBe(0);
  for (const { users } of devices) {
    const named = (name: string) => users.filter(({ username }) => username === name);
    expect([named('zoe').length, named('yan').length]).toEqual([1, 1]);
    expect(named('viewer')[0]?.lang).toBe('it');
  }
  expect((await jsonOf<{ pending: object[] }>(devsh, 'pending')).pending).toEqual([]);
});

test('an ended run is undone', async () => {
  const { devsh, devices } = await onLiveDevices();
  const { exitCode, stdout, stderr } = await devsh(
    'undo 20261128-173458-9a2muv --yes --allow loss',
  );
  expect(exitCode, stdout + stderr).toBe(0);
  expect(devices[2]?.users).toContainEqual(
    expect.objectContaining({ username: 'bob', first_name: 'Bob', lang: 'de' }),
  );
});

/** The addresses in a plan or a result are new ones. Returns the digest of its lines. */
async function seal(file: string): Promise<string> {
  const lines = (await readFile(file, 'utf8')).replace(/\{"kind":"seal".*/s, '');
  const sha256 = createHash('sha256').update(lines).digest('hex');
  await writeFile(file, `${lines}${JSON.stringify({ kind: 'seal', sha256 })}\n`);
  return sha256;
}

test('a plan file is applied, once its age is accepted', async () => {
  const { devsh, devices } = await onLiveDevices();
  const plan = join(devsh.folder, 'monday.plan');
  await seal(plan);
  const late = await devsh(`apply ${plan} --yes --allow drift`);
  expect(late.exitCode, late.stdout + late.stderr).toBe(0);
  for (const { users } of devices) {
    expect(users.find(({ username }) => username === 'viewer')?.lastname).toBe('Planned');
  }
});

/** The runs of the second sample, each by what became of it. */
const RUNS = {
  added: '20261129-020136-bj9hy8',
  set: '20261129-020137-rtjy8c',
  undo: '20261129-020139-3w3v79',
  deleted: '20261129-020140-aa996x',
  resumed: '20261129-020142-7ztish',
  pending: '20261129-020145-h47m8d',
  shard: '20261129-020146-rz5m89',
  'killed before': '20261129-020147-xxpwx9',
  'killed during': '20261129-020149-7dsx5r',
  'killed after': '20261129-020150-efbpqr',
  rotated: '20261129-020152-wvy2mv',
};

test('a run in any state is shown as it was left', async () => {
  const devsh = await withSample(undefined, STATES);
  const verdicts = async (id: string): Promise<string> => {
    const { results } = await jsonOf<{ results: { verdict: string }[] }>(devsh, `runs show ${id}`);
    return results.map(({ verdict }) => verdict).join(' ');
  };
  const shown = await Promise.all(
    Object.entries(RUNS).map(async ([state, id]) => [state, await verdicts(id)]),
  );
  expect(Object.fromEntries(shown)).toEqual({
    added: 'done done done',
    set: 'done done done',
    undo: 'done done done',
    deleted: 'done done done',
    resumed: 'done done done',
    pending: 'done failed done',
    shard: 'done done done',
    'killed before': 'skipped skipped skipped',
    'killed during': 'unknown skipped skipped',
    'killed after': 'done skipped skipped',
    rotated: 'done',
  });
  const { pending } = await jsonOf<{ pending: { id: string; device: string }[] }>(devsh, 'pending');
  expect(pending.map(({ id, device }) => `${id} ${device}`)).toEqual([
    `${RUNS.pending} sim2`,
    ...['sim1', 'sim2', 'sim3'].map((name) => `${RUNS['killed before']} ${name}`),
    ...['sim1', 'sim2', 'sim3'].map((name) => `${RUNS['killed during']} ${name}`),
    ...['sim2', 'sim3'].map((name) => `${RUNS['killed after']} ${name}`),
  ]);
});

test('what a killed run left is continued: what arrived is not sent again', async () => {
  const { devsh, devices } = await onLiveDevices(STATES);
  const { exitCode, stdout, stderr } = await devsh('resume --yes');
  expect(exitCode, stdout + stderr).toBe(0);
  for (const { users } of devices) {
    const made = users
      .map(({ username }) => username)
      .filter((name) => /^k(?:before|during|after)$/.test(name));
    expect(made.toSorted()).toEqual(['kafter', 'kbefore', 'kduring']);
    expect(users.find(({ username }) => username === 'viewer')?.lang).toBe('it');
  }
  expect(writesOf(devices[0] as SimulatedDevice)).toHaveLength(1);
  expect((await jsonOf<{ pending: object[] }>(devsh, 'pending')).pending).toEqual([]);
});

test.each<[keyof typeof RUNS, string, object]>([
  ['deleted', 'bob', { first_name: 'Bob', lastname: 'B', lang: 'de' }],
  ['resumed', 'viewer', { lastname: 'Reader' }],
  ['shard', 'viewer', { first_name: 'Vic' }],
])('a run that is %s is undone on every device', async (state, username, fields) => {
  const { devsh, devices } = await onLiveDevices(STATES);
  const { exitCode, stdout, stderr } = await devsh(`undo ${RUNS[state]} --yes --allow loss`);
  expect(exitCode, stdout + stderr).toBe(0);
  for (const { users } of devices) {
    expect(users).toContainEqual(expect.objectContaining({ username, ...fields }));
  }
});

test('the result of a shard is merged, and its plan has nothing left to do', async () => {
  const { devsh, devices } = await onLiveDevices(STATES);
  const [plan, result] = ['shard.plan', 'shard.result'].map((name) => join(devsh.folder, name));
  const old = /"sha256":"(\w+)"/.exec(await readFile(plan ?? '', 'utf8'))?.[1] ?? '';
  const now = await seal(plan ?? '');
  const run = join(devsh.folder, 'state/devsh/runs', `${RUNS.shard}.jsonl`);
  for (const file of [result ?? '', run]) {
    const text = (await readFile(file, 'utf8')).replaceAll(old, now);
    await writeFile(file, text.replaceAll('/sample', devsh.folder));
  }
  await seal(result ?? '');
  const merged = await devsh(`runs merge ${result} --plan ${plan}`);
  expect(merged.stdout).toContain('3 done');
  const again = await devsh(`apply ${plan} --shard 1/1 --result ${result} --yes --allow drift`);
  expect(again.stderr).toContain('has nothing left to do');
  expect(devices.flatMap(writesOf)).toEqual([]);
});
