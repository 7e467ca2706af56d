import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { rounds } from '../rounds.ts';
import { recipe, startLab } from './lab.ts';

const DEVICES = rounds(400, { least: 80 });

const hasParallel = spawnSync('parallel', ['--version']).status === 0;
const isMissing = hasParallel ? '' : ' (skipped: there is no GNU parallel here)';

test.skipIf(!hasParallel)(
  `GNU parallel: ${DEVICES} devices in 4 shards, one killed and resumed, each device exactly once${isMissing}`,
  { timeout: 180_000 },
  async () => {
    const lab = await startLab({ devices: DEVICES });
    const { folder, devices, writes, run } = lab;
    await writeFile(
      join(folder, 'change.yaml'),
      '- add: user\n  fields: {username: zoe, lang: de}\n',
    );
    const plan = await run('devsh', ['plan', 'change.yaml', '--on', '@lab', '-o', 'monday.plan']);
    expect(plan.code).toBe(0);
    expect(plan.stderr).toContain('✓ wrote the plan to monday.plan\n');

    const script = recipe('parallel.sh');
    const first = run(script, ['monday.plan', 'results', '4']);
    const second = join(folder, 'pids/2');
    const isUnderWay = (): boolean => writes() >= DEVICES / 4 && existsSync(second);
    await vi.waitUntil(isUnderWay, { timeout: 60_000, interval: 5 });
    process.kill(Number(await readFile(second, 'utf8')), 'SIGKILL');
    const { code, stdout } = await first;
    expect(code).toBe(3);
    expect(stdout).toMatch(/\d+ done · \d+ unknown · pending on .+\n$/);
    const log = await readFile(join(folder, 'results/joblog'), 'utf8');
    // Seq, Host, Starttime, JobRuntime, Send, Receive, Exitval, Signal, Command
    const jobs = log
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split('\t'));
    expect(jobs.map(([seq, , , , , , exit]) => `${seq ?? ''}: ${exit ?? ''}`).sort()).toEqual([
      '1: 0',
      '2: 137',
      '3: 0',
      '4: 0',
    ]);

    const again = await run(script, ['monday.plan', 'results', '4']);
    expect(again.stdout.endsWith(`\n${DEVICES} done\n`)).toBe(true);
    expect(again.code).toBe(0);
    expect(writes()).toBe(DEVICES);
    for (const { users } of devices) {
      expect(users.filter(({ username }) => username === 'zoe')).toHaveLength(1);
    }
    const report = await readFile(join(folder, 'results/report.md'), 'utf8');
    const rows = [...report.matchAll(/^\| (\S+) \| 127\.\S+ \| (\w+) \|/gm)];
    expect(rows.map(([, name, verdict]) => `${name ?? ''} ${verdict ?? ''}`)).toEqual(
      devices.map(({ name }) => `${name} done`),
    );
  },
);
