import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SimulatedDevice } from '../simulator/simulator.ts';
import { startFleet } from './devsh.ts';
import { startProgram, waitUntil } from './process.ts';
import { rounds } from '../rounds.ts';

const KILLS = rounds(10, { variable: 'DEVSH_KILLS' });
const CHANGES = `- add: user
  fields: {username: zoe, first_name: Zoe, lang: de}
- set: user
  key: viewer
  fields: {lang: fr}
`;

/** The writes that a device executed; status 0: the response was never sent. */
function carriedOut({ log }: SimulatedDevice): string[] {
  return log
    .filter(({ method, status }) => method === 'POST' && ![429, 500].includes(status))
    .map(({ body, status }) =>
      `${new URLSearchParams(body).get('username') ?? ''} ${status >= 400 ? status : ''}`.trim(),
    )
    .sort();
}

test(
  'each step runs exactly once when a roll-out over 50 devices is killed at any moment and resumed',
  { timeout: 120_000 },
  async () => {
    const { devsh, devices } = await startFleet({ devices: 50, latencyMs: 5 });
    for (const [index, device] of devices.entries()) {
      if (index % 10 === 3) device.setFault('store-and-drop', 1, { method: 'POST' });
      if (index % 10 === 5) device.setFault('429', 1, { method: 'POST' });
      if (index % 10 === 7) device.setFault('500-once', 1, { method: 'POST' });
    }
    const isBegun = async (): Promise<boolean> =>
      (await readdir(join(devsh.folder, 'state/devsh/runs')).catch(() => [])).length > 0;
    const start = async () =>
      (await isBegun())
        ? startProgram(['resume', '--yes', '--concurrency', '2'], devsh.folder)
        : startProgram(
            ['apply', '-', '--on', '@lab', '--yes', '--concurrency', '2'],
            devsh.folder,
            CHANGES,
          );
    const requests = (): number => devices.reduce((sum, { log }) => sum + log.length, 0);

    let killed = 0;
    while (killed < KILLS) {
      const program = await start();
      // The plan takes 50 requests; each later devsh continues where the one before was killed.
      const until = requests() + Math.floor(Math.random() * 30) + ((await isBegun()) ? 1 : 45);
      await waitUntil(() => requests() >= until, program);
      program.child.kill('SIGKILL');
      const { signal } = await program.ended;
      if (signal === null) break; // it ended before the kill
      killed += 1;
    }
    expect(killed).toBeGreaterThan(KILLS / 2);
    await (
      await start()
    ).ended;
    expect((await devsh('resume --yes --concurrency 8')).exitCode).toBe(0);

    for (const device of devices) {
      expect([device.name, carriedOut(device)]).toEqual([device.name, ['viewer', 'zoe']]);
      expect(device.users.filter(({ username }) => username === 'zoe')).toHaveLength(1);
      expect(device.users.find(({ username }) => username === 'viewer')?.lang).toBe('fr');
    }
    const runs = await readdir(join(devsh.folder, 'state/devsh/runs'));
    const [first = ''] = runs.filter((name) => name.endsWith('.jsonl')).toSorted();
    const { stdout } = await devsh(`runs show ${first.replace('.jsonl', '')} --json`);
    const { results } = JSON.parse(stdout) as { results: { verdict: string }[] };
    expect(results.map(({ verdict }) => verdict)).toEqual(Array(100).fill('done'));
  },
);

test('Ctrl-C in the middle of a roll-out finishes the request in flight and can be resumed', async () => {
  const { devsh, devices, writes } = await startFleet({ devices: 6, latencyMs: 40 });
  const argv = ['user', 'add', 'username=zoe', '--on', '@lab', '--yes', '-v'];
  const program = startProgram(argv, devsh.folder);
  await waitUntil(() => writes().length >= 2, program);
  program.child.kill('SIGINT');
  const { code, stdout } = await program.ended;
  expect(code).toBe(130);
  const done = stdout.match(/zoe {2}added/g)?.length ?? 0;
  expect(done).toBe(writes().length);
  expect(stdout.match(/add skipped/g)).toHaveLength(6 - done);
  expect((await devsh('resume --yes')).exitCode).toBe(0);
  for (const { users } of devices) {
    expect(users.filter(({ username }) => username === 'zoe')).toHaveLength(1);
  }
  expect(writes()).toHaveLength(6);
});

test('without a terminal, apply --confirm reverts itself after its time', async () => {
  const { devsh, device, writes } = await startFleet();
  const argv = ['apply', '-', '--on', 'sim1', '--yes', '--confirm', '1'];
  const before = device(1).users;
  const program = startProgram(argv, devsh.folder, CHANGES);
  const { code, stderr } = await program.ended;
  expect(stderr).toContain('you did not confirm: undoing run');
  expect(code).toBe(6);
  expect(writes()).toHaveLength(4);
  expect(device(1).users).toEqual(before);
});
