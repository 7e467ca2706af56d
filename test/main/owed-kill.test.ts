import { expect, test } from 'vitest';
import { startFleet, usernames, writesOf } from './devsh.ts';
import { startProgram, waitUntil } from './process.ts';

const KILLS = Number(process.env['DEVSH_KILLS'] ?? 8);

test(
  'owed work is done exactly once by two processes, of which one is killed at any moment again and again',
  { timeout: 120_000 },
  async () => {
    const { devsh, devices } = await startFleet({ devices: 16, latencyMs: 10 });
    const down = devices.slice(1);
    for (const device of down) device.setFault('refuse', true);
    await devsh('user delete viewer --on @lab --yes');
    for (const device of down) device.setFault('refuse', false);

    const settle = () =>
      startProgram(['owed', 'settle', '--yes', '--concurrency', '2'], devsh.folder);
    const requests = (): number => devices.reduce((sum, { log }) => sum + log.length, 0);
    for (let killed = 0; killed < KILLS; killed += 1) {
      const programs = [settle(), settle()] as const;
      const until = requests() + Math.floor(Math.random() * 60);
      await waitUntil(() => requests() >= until, programs[0]);
      programs[killed % 2 === 0 ? 0 : 1].child.kill('SIGKILL');
      await Promise.all(programs.map(({ ended }) => ended));
    }
    // What was sent without a verdict belongs to its run.
    for (let round = 0; round < KILLS + 1; round += 1) {
      const { stderr } = await devsh('owed settle --yes');
      const runs = new Set([...stderr.matchAll(/"resume ([\w-]+)"/g)].map(([, id = '']) => id));
      if (runs.size === 0) break;
      for (const id of runs) await devsh(`resume ${id} --yes`);
    }

    const { stdout } = await devsh('owed --json');
    expect(JSON.parse(stdout)).toMatchObject({ owed: [] });
    for (const device of devices) {
      expect(writesOf(device), device.name).toHaveLength(1);
      expect(usernames(device)).not.toContain('viewer');
    }
  },
);
