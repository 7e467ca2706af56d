import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isInShard } from '../../src/change/plan.ts';
import { readResult, type ResultFile } from '../../src/change/result-file.ts';
import { resultsOf } from '../../src/change/run-results.ts';
import {
  know,
  makeDevsh,
  startFleet,
  trust,
  usernames,
  type Devsh,
  type TestFleet,
} from './devsh.ts';
import { startProgram, waitUntil } from './process.ts';

const ADD = '- add: user\n  fields: {username: zoe, first_name: Zoe, lang: de}\n';

interface Planned extends TestFleet {
  readonly plan: string;
  /** The path of a result file. */
  readonly result: (name: string) => string;
}

/** A fleet, and a plan file that adds a user on the selected devices. */
async function planned(
  options: Parameters<typeof startFleet>[0],
  select: (fleet: TestFleet) => string = () => '@lab',
): Promise<Planned> {
  const fleet = await startFleet(options);
  const { devsh } = fleet;
  const plan = join(devsh.folder, 'monday.plan');
  const argv = ['plan', '-', '--on', select(fleet), '-o', plan];
  const { exitCode } = await devsh(argv, { stdin: ADD });
  expect(exitCode).toBe(0);
  return { ...fleet, plan, result: (name) => join(devsh.folder, `${name}.json`) };
}

/** The names of so many devices of a shard; the ports of simulated devices are random. */
function namesIn({ devices }: TestFleet, index: number, total: number, count = Infinity): string[] {
  const own = devices.filter(({ address }) => isInShard(address, { index, total }));
  return own.slice(0, count).map(({ name }) => name);
}

/** So many devices of each of two shards. */
function fromEach(count: number): (fleet: TestFleet) => string {
  return (fleet) => [1, 2].flatMap((index) => namesIn(fleet, index, 2, count)).join(',');
}

/** The devsh of another machine with the same devices and no runs. */
async function elsewhere({ devices }: TestFleet, env: NodeJS.ProcessEnv): Promise<Devsh> {
  const devsh = await makeDevsh(env);
  await know(devsh, devices);
  await trust(devsh, devices);
  return devsh;
}

async function readResultFile(path: string): Promise<ResultFile> {
  return readResult(await readFile(path, 'utf8'), path);
}

function verdicts({ run }: ResultFile): Record<string, string> {
  return Object.fromEntries(resultsOf(run).map(({ device, verdict }) => [device.name, verdict]));
}

test('the shards of a plan reach every device once, and merge as one run', async () => {
  const fleet = await planned({ devices: 5 });
  const { devsh, devices, plan, result, writes } = fleet;
  const shard = (index: number) =>
    devsh(['apply', plan, '--shard', `${index}/3`, '--result', result(`r${index}`), '--yes']);
  for (const index of [1, 2, 3]) expect((await shard(index)).exitCode).toBe(0);
  expect(verdicts(await readResultFile(result('r2')))).toEqual(
    Object.fromEntries(namesIn(fleet, 2, 3).map((name) => [name, 'done'])),
  );
  expect(writes()).toHaveLength(5);
  const files = ['r1', 'r2', 'r3'].map(result);
  const merged = await devsh(['runs', 'merge', ...files, '--plan', plan, '--json']);
  const { results } = JSON.parse(merged.stdout) as {
    results: { device: string; verdict: string }[];
  };
  expect(results.map(({ device, verdict }) => `${device} ${verdict}`)).toEqual(
    devices.map(({ name }) => `${name} done`),
  );
  expect(merged.exitCode).toBe(0);
  expect((await shard(2)).stderr).toContain('has nothing left to do');
  expect(writes()).toHaveLength(5);
});

test('a device that is in no result file is named, and the exit code is 3', async () => {
  const fleet = await planned({ devices: 24 }, fromEach(2));
  const { devsh, plan, result } = fleet;
  await devsh(['apply', plan, '--shard', '2/2', '--result', result('r2'), '--yes']);
  const [first = '', second] = namesIn(fleet, 1, 2, 2);
  const argv = ['runs', 'merge', result('r2'), '--plan', plan];
  const { stdout, stderr, exitCode } = await devsh(argv);
  expect(stderr).toContain(`2 of 4 devices are in no result file: ${first}, ${second}`);
  expect(stdout).toMatch(new RegExp(`\\? zoe {2}add unknown - in no result file {2}${first}`));
  expect(exitCode).toBe(3);
  const file = result('report.md');
  const written = await devsh([...argv, '-o', file]);
  expect(written.exitCode).toBe(3);
  expect(await readFile(file, 'utf8')).toContain('**2 done · 2 unknown** on 4 devices');
  expect(await devsh([...argv, '-o', file, '--json'])).toMatchObject({ exitCode: 3 });
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
    report: { counts: { done: 2, unknown: 2 } },
  });
});

test.each([
  ['--shard 0/3', 'there is no shard 0 of 3'],
  ['--shard 5/3', 'there is no shard 5 of 3'],
  ['--shard 1/0', 'the number of shards must be 1 to 10000, not 0'],
  ['--shard 2', '"2" is not a shard: the second of four is 2/4'],
  ['--result r.json --replan', 'leave out --replan'],
  ['--result r.json --confirm 5', '--confirm may undo what --result reports'],
])('apply %s is refused and nothing is sent', async (options, reason) => {
  const { devsh, plan, writes } = await planned({ devices: 2 });
  const { stderr, exitCode } = await devsh(['apply', plan, ...options.split(' '), '--yes']);
  expect(stderr).toContain(reason);
  expect(exitCode).toBe(2);
  expect(writes()).toEqual([]);
});

test('a change set without a plan is applied in shards that plan for themselves, without a result file', async () => {
  const fleet = await startFleet({ devices: 6 });
  const { devsh, devices } = fleet;
  for (const index of [1, 2]) {
    const argv = ['apply', '-', '--on', '@lab', '--shard', `${index}/2`, '--yes'];
    const { stderr, exitCode } = await devsh(argv, { stdin: ADD });
    expect(stderr).toContain(`shard ${index}/2: ${namesIn(fleet, index, 2).length} of 6 devices`);
    expect(stderr).toContain('each shard plans for itself');
    expect(exitCode).toBe(0);
  }
  for (const one of devices) {
    expect(usernames(one).filter((name) => name === 'zoe')).toHaveLength(1);
  }
  const result = ['apply', '-', '--on', '@lab', '--result', 'r.json', '--yes'];
  const refused = await devsh(result, { stdin: ADD });
  expect(refused.stderr).toContain('--result needs a plan file');
  expect(refused.exitCode).toBe(2);
});

test('one reviewed plan for each shard; an inventory that changes in between moves no other device', async () => {
  const fleet = await startFleet({ devices: 24 });
  const { devsh, writes } = fleet;
  const file = (index: number, kind: string) => join(devsh.folder, `${index}.${kind}`);
  const own = [1, 2].map((index) => namesIn(fleet, index, 2, 3));
  const plan = (index: number, on: readonly string[]) => {
    const argv = ['plan', '-', '--on', on.join(','), '--shard', `${index}/2`];
    return devsh([...argv, '-o', file(index, 'plan')], { stdin: ADD });
  };
  expect((await plan(1, own.flat())).exitCode).toBe(0);
  // One device less, and in another order.
  const left = own.flat().slice(1).toReversed();
  expect((await plan(2, left)).exitCode).toBe(0);
  for (const index of [1, 2]) {
    const argv = ['apply', file(index, 'plan'), '--result', file(index, 'jsonl'), '--yes'];
    expect((await devsh(argv)).exitCode).toBe(0);
  }
  expect(writes()).toHaveLength(6);
  const both = ['--plan', file(1, 'plan'), '--plan', file(2, 'plan')];
  const merge = await devsh([
    'runs',
    'merge',
    file(1, 'jsonl'),
    file(2, 'jsonl'),
    ...both,
    '--json',
  ]);
  expect(merge.exitCode).toBe(0);
  expect(JSON.parse(merge.stdout)).toMatchObject({ summary: { done: 6 } });
  const half = await devsh(['runs', 'merge', file(1, 'jsonl'), ...both]);
  expect(half.stderr).toContain('3 of 6 devices are in no result file');
  expect(half.exitCode).toBe(3);
  expect((await plan(1, left)).exitCode).toBe(0);
  const other = await devsh(['runs', 'merge', file(1, 'jsonl'), ...both]);
  expect(other.stderr).toContain('is the result of another plan');
});

test('a shard without a device ends with 0 and a valid result', async () => {
  const fleet = await planned({ devices: 1 });
  const { devsh, plan, result, writes } = fleet;
  const empty = [1, 2].find((index) => namesIn(fleet, index, 2).length === 0) ?? 0;
  for (const index of [1, 2]) {
    const argv = ['apply', plan, '--shard', `${index}/2`, '--result', result(`r${index}`), '--yes'];
    expect((await devsh(argv)).exitCode).toBe(0);
  }
  expect(await readResultFile(result(`r${empty}`))).toMatchObject({
    part: { shard: { index: empty, total: 2 } },
    run: { plan: { devices: [] } },
  });
  expect(writes()).toHaveLength(1);
  const merge = await devsh(['runs', 'merge', result('r1'), result('r2'), '--plan', plan]);
  expect(merge.exitCode).toBe(0);
});

test('a failed shard writes its result, and the same line retries what failed', async () => {
  const { devsh, device, plan, result, writes } = await planned({ devices: 2 });
  device(2).setFault('refuse');
  const argv = ['apply', plan, '--shard', '1/1', '--result', result('r'), '--yes'];
  expect((await devsh(argv)).exitCode).toBe(3);
  expect(verdicts(await readResultFile(result('r')))).toEqual({ sim1: 'done', sim2: 'failed' });
  device(2).setFault('refuse', false);
  expect((await devsh(argv)).exitCode).toBe(0);
  expect(verdicts(await readResultFile(result('r')))).toEqual({ sim1: 'done', sim2: 'done' });
  expect(writes()).toHaveLength(2);
});

test('Ctrl-C leaves a result, and ends with 130', async () => {
  const { devsh, plan, result } = await planned({ devices: 3, latencyMs: 20 });
  const argv = ['apply', plan, '--result', result('r'), '--yes'];
  const stopAt = { text: 'zoe  added', signal: 'SIGINT' as const };
  expect((await devsh([...argv, '-v'], { stopAt })).exitCode).toBe(130);
  const output = await readResultFile(result('r'));
  expect(verdicts(output)).toMatchObject({ sim1: 'done', sim3: 'skipped' });
  expect(output.run.endedAt).toBeDefined();
  expect((await devsh(argv)).exitCode).toBe(0);
});

test('a killed shard resumes, here from its journal and on another machine from its result file', async () => {
  const fleet = await planned({ devices: 24, latencyMs: 20 }, fromEach(4));
  const { devsh, plan, result, writes } = fleet;
  const chosen = [1, 2].flatMap((index) => namesIn(fleet, index, 2, 4));
  const devices = fleet.devices.filter(({ name }) => chosen.includes(name));
  const killed = async (shard: string, name: string, after: number) => {
    const argv = ['apply', plan, '--shard', shard, '--result', result(name), '--yes'];
    const program = startProgram(argv, devsh.folder);
    await waitUntil(() => writes().length >= after, program);
    program.child.kill('SIGKILL');
    expect((await program.ended).signal).toBe('SIGKILL');
    return argv;
  };
  const first = await killed('1/2', 'r1', 2);
  const begun = await readResultFile(result('r1'));
  expect(begun.run.endedAt).toBeUndefined();
  const early = await devsh(['runs', 'merge', result('r1'), '--plan', plan]);
  expect(early.stdout).toMatch(
    new RegExp(`zoe {2}add unknown - its shard did not end .*${chosen[0]}`),
  );
  expect(early.stderr).toContain(`"resume ${begun.run.run}"`);
  expect(early.exitCode).toBe(3);
  expect((await devsh(first)).exitCode).toBe(0);

  const second = await killed('2/2', 'r2', 6);
  const there = await elsewhere(fleet, { DEVSH_USER: 'admin', DEVSH_PASSWORD: 'admin-secret' });
  expect((await there(second)).exitCode).toBe(0);

  expect(writes()).toHaveLength(8);
  for (const one of devices)
    expect(usernames(one).filter((name) => name === 'zoe')).toHaveLength(1);
  const merge = await devsh([
    'runs',
    'merge',
    result('r1'),
    result('r2'),
    '--plan',
    plan,
    '--json',
  ]);
  expect(merge.exitCode).toBe(0);
  expect(JSON.parse(merge.stdout)).toMatchObject({ summary: { done: 8 } });
});

test('resume RUN writes the result of a shard, too', async () => {
  const { devsh, device, plan, result } = await planned({ devices: 2 });
  device(1).setFault('500-once', 1, { method: 'POST' });
  await devsh(['apply', plan, '--result', result('r'), '--max-failures', '0', '--yes']);
  expect(verdicts(await readResultFile(result('r')))).toEqual({ sim1: 'failed', sim2: 'skipped' });
  expect((await devsh('resume --yes')).exitCode).toBe(0);
  expect(verdicts(await readResultFile(result('r')))).toEqual({ sim1: 'done', sim2: 'done' });
});

test('two devsh of the same shard do not write one result', async () => {
  const { devsh, plan, result, writes } = await planned({ devices: 4, latencyMs: 30 });
  const argv = ['apply', plan, '--result', result('r'), '--yes'];
  const first = startProgram(argv, devsh.folder);
  await waitUntil(() => writes().length >= 1, first);
  const { stderr, exitCode } = await devsh(argv);
  expect(stderr).toContain('is being written');
  expect(exitCode).toBe(1);
  expect((await first.ended).code).toBe(0);
  expect(writes()).toHaveLength(4);
});

test('a result that is truncated or of another plan or shard is neither resumed nor overwritten', async () => {
  const { devsh, plan, result, writes } = await planned({ devices: 24 }, fromEach(1));
  await devsh(['apply', plan, '--shard', '1/2', '--result', result('r'), '--yes']);
  const before = await readFile(result('r'), 'utf8');
  const other = join(devsh.folder, 'other.plan');
  await devsh(['plan', '-', '--on', '@lab', '-o', other], { stdin: ADD.replace('zoe', 'max') });
  const another = ['apply', other, '--shard', '1/2', '--result', result('r'), '--yes'];
  expect((await devsh(another)).stderr).toContain('is the result of another plan');
  const shard = await devsh(['apply', plan, '--shard', '2/2', '--result', result('r'), '--yes']);
  expect(shard.stderr).toContain('is the result of other devices (shard 1/2)');
  expect(shard.exitCode).toBe(6);
  const merge = await devsh(['runs', 'merge', result('r'), '--plan', other]);
  expect(merge.stderr).toContain('is the result of another plan');
  expect(merge.exitCode).toBe(6);
  expect(await readFile(result('r'), 'utf8')).toBe(before);
  await writeFile(result('r'), before.slice(0, -20));
  for (const argv of [another, ['runs', 'merge', result('r'), '--plan', plan]]) {
    const { stderr, exitCode } = await devsh(argv);
    expect(stderr).toContain('is not a result file of devsh, or was cut or damaged');
    expect(exitCode).toBe(6);
  }
  expect(writes()).toHaveLength(1);
});

test('nothing is sent when the result cannot be written', async () => {
  const { devsh, plan, result, writes } = await planned({ devices: 1 });
  await mkdir(result('folder'));
  const { exitCode } = await devsh(['apply', plan, '--result', result('folder'), '--yes']);
  expect(exitCode).toBe(1);
  expect(writes()).toEqual([]);
});

test.skipIf(process.platform !== 'linux' || process.getuid?.() !== 0)(
  'a disk that is full at the end is reported, and resume writes the result',
  async () => {
    const { devsh, plan, result, device } = await planned({ devices: 1, latencyMs: 50 });
    const folder = result('gone');
    await mkdir(folder);
    const file = join(folder, 'r.json');
    const program = startProgram(['apply', plan, '--result', file, '--yes'], devsh.folder);
    await waitUntil(() => device(1).log.some(({ method }) => method === 'POST'), program);
    const { rm } = await import('node:fs/promises');
    await rm(folder, { recursive: true });
    // A file in place of the folder, like a lost disk.
    await writeFile(folder, '');
    const { stderr, code } = await program.ended;
    expect(stderr).toContain('nothing is lost: "resume ');
    expect(code).toBe(1);
    await rm(folder);
    const [, run = ''] = /"resume (\S+)"/.exec(stderr) ?? [];
    expect((await devsh(`resume ${run} --yes`)).exitCode).toBe(0);
    expect(verdicts(await readResultFile(file))).toEqual({ sim1: 'done' });
  },
);
