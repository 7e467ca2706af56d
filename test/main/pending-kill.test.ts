import { expect, test } from 'vitest';
import { startFleet, usernames, writesOf } from './devsh.ts';
import { startProgram, waitUntil } from './process.ts';
import { rounds } from '../rounds.ts';

const KILLS = rounds(5, { variable: 'DEVSH_KILLS' });

test(
  'owed work is done exactly once by two processes, of which one is killed at any moment again and again',
  { timeout: 120_000 },
  async () => {
    const { devsh, devices } = await startFleet({ devices: 16, latencyMs: 10 });
    const down = devices.slice(1);
    for (const device of down) device.setFault('refuse', true);
    const names = 'lang=de first_name=D lastname=D';
    for (const line of [
      'user delete viewer',
      // The deletion replaces the addition: nothing ever creates bob.
      `user add username=bob ${names}`,
      'user delete bob',
      // Undone: nothing ever creates carol, either.
      `user add username=carol ${names}`,
      'undo',
      // Two changes to one record, in this order.
      `user add username=dave ${names}`,
      'user set dave lang=fr',
    ]) {
      await devsh(`${line} --on @lab --yes`);
    }
    for (const device of down) device.setFault('refuse', false);

    const settle = () =>
      startProgram(['pending', 'settle', '--yes', '--concurrency', '2'], devsh.folder);
    const requests = (): number => devices.reduce((sum, { log }) => sum + log.length, 0);
    for (let killed = 0; killed < KILLS; killed += 1) {
      const programs = [settle(), settle()] as const;
      const until = requests() + Math.floor(Math.random() * 60);
      await waitUntil(() => requests() >= until, programs[0]);
      programs[killed % 2 === 0 ? 0 : 1].child.kill('SIGKILL');
      await Promise.all(programs.map(({ ended }) => ended));
    }
    // What was sent without a verdict belongs to its run.
    for (let round = 0; round < 2 * KILLS + 2; round += 1) {
      const { stderr } = await devsh('resume --yes');
      const runs = new Set([...stderr.matchAll(/"resume ([\w-]+)"/g)].map(([, id = '']) => id));
      if (runs.size === 0) break;
      for (const id of runs) await devsh(`resume ${id} --yes`);
    }

    const { stdout } = await devsh('pending --json');
    expect(JSON.parse(stdout)).toMatchObject({ pending: [] });
    for (const device of down) {
      const methods = writesOf(device).map((write) => write.split(' ')[0]);
      expect(methods.toSorted(), device.name).toEqual(['DELETE', 'POST', 'POST']);
      expect(usernames(device)).toContain('dave');
      for (const name of ['viewer', 'bob', 'carol']) expect(usernames(device)).not.toContain(name);
      expect(device.users.find(({ username }) => username === 'dave')?.lang).toBe('fr');
    }
  },
);
