import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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

/** A fleet, and a plan file that adds a user on all devices. */
async function planned(options: Parameters<typeof startFleet>[0]): Promise<Planned> {
  const fleet = await startFleet(options);
  const { devsh } = fleet;
  const plan = join(devsh.folder, 'monday.plan');
  const { exitCode } = await devsh(['plan', '-', '--on', '@lab', '-o', plan], { stdin: ADD });
  expect(exitCode).toBe(0);
  return { ...fleet, plan, result: (name) => join(devsh.folder, `${name}.json`) };
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
  const { devsh, devices, plan, result, writes } = await planned({ devices: 5 });
  const shard = (index: number) =>
    devsh(['apply', plan, '--shard', `${index}/3`, '--result', result(`r${index}`), '--yes']);
  for (const index of [1, 2, 3]) expect((await shard(index)).exitCode).toBe(0);
  expect(verdicts(await readResultFile(result('r2')))).toEqual({ sim2: 'done', sim5: 'done' });
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
  const { devsh, plan, result } = await planned({ devices: 4 });
  await devsh(['apply', plan, '--shard', '2/2', '--result', result('r2'), '--yes']);
  const argv = ['runs', 'merge', result('r2'), '--plan', plan];
  const { stdout, stderr, exitCode } = await devsh(argv);
  expect(stderr).toContain('2 of 4 devices are in no result file: sim1, sim3');
  expect(stdout).toContain('? sim3  add user zoe: unknown - in no result file');
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
  ['--shard 1/2 --replan', 'leave out --replan'],
  ['--result r.json --confirm 5', '--confirm may undo what --result reports'],
])('apply %s is refused and nothing is sent', async (options, reason) => {
  const { devsh, plan, writes } = await planned({ devices: 2 });
  const { stderr, exitCode } = await devsh(['apply', plan, ...options.split(' '), '--yes']);
  expect(stderr).toContain(reason);
  expect(exitCode).toBe(2);
  expect(writes()).toEqual([]);
});

test('only a plan file can be sharded, because all shards need the same devices', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  const argv = ['apply', '-', '--on', '@lab', '--shard', '1/2', '--yes'];
  const { stderr, exitCode } = await devsh(argv, { stdin: ADD });
  expect(stderr).toContain('--shard needs a plan file');
  expect(exitCode).toBe(2);
});

test('a shard without a device ends with 0 and a valid result', async () => {
  const { devsh, plan, result, writes } = await planned({ devices: 1 });
  for (const index of [1, 2]) {
    const argv = ['apply', plan, '--shard', `${index}/2`, '--result', result(`r${index}`), '--yes'];
    expect((await devsh(argv)).exitCode).toBe(0);
  }
  expect(await readResultFile(result('r2'))).toMatchObject({
    part: { shard: { index: 2, total: 2 } },
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
  const stopAt = { text: 'sim1  add user zoe: done', signal: 'SIGINT' as const };
  expect((await devsh(argv, { stopAt })).exitCode).toBe(130);
  const output = await readResultFile(result('r'));
  expect(verdicts(output)).toMatchObject({ sim1: 'done', sim3: 'skipped' });
  expect(output.run.endedAt).toBeDefined();
  expect((await devsh(argv)).exitCode).toBe(0);
});

test('a killed shard resumes, here from its journal and on another machine from its result file', async () => {
  const fleet = await planned({ devices: 8, latencyMs: 20 });
  const { devsh, devices, plan, result, writes } = fleet;
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
  expect(early.stdout).toContain('sim1  add user zoe: unknown - its shard did not end');
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
  const { devsh, plan, result, writes } = await planned({ devices: 2 });
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
