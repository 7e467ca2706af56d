import { mkdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startFleet, type TestFleet } from './devsh.ts';
import { rounds } from '../rounds.ts';

/** Fewer may never compete. */
const ROUNDS = rounds(50, { least: 10 });

/** The fields that a run reports as set. */
interface ReportedFields {
  readonly results: readonly { readonly verdict: string }[];
}

test(
  'two concurrent changes of one user do not overwrite a proven change',
  { timeout: 60_000 },
  async () => {
    const { devsh, device } = await startFleet({ latencyMs: 2 });
    const lags = fc.sample(fc.integer({ min: -25, max: 25 }), { numRuns: ROUNDS, seed: 7 });
    const seen = new Set<string>();
    for (const [round, lag] of lags.entries()) {
      const wanted = { first_name: `first${round}`, lastname: `last${round}` };
      const change = async (field: keyof typeof wanted, lagMs: number): Promise<string> => {
        // The lag gives each round another interleaving.
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, lagMs)));
        const line = `user set viewer ${field}=${wanted[field]} --on sim1 --yes --json`;
        const { stdout } = await devsh(line);
        expect(stdout).toContain('"results":');
        return (JSON.parse(stdout) as ReportedFields).results[0]?.verdict ?? '';
      };
      const [first, last] = await Promise.all([
        change('first_name', lag),
        change('lastname', -lag),
      ]);
      seen.add([first, last].join(' '));
      const stored = device(1).users.find(({ username }) => username === 'viewer');
      for (const [field, verdict] of [
        ['first_name', first],
        ['lastname', last],
      ] as const) {
        expect(['done', 'drift']).toContain(verdict);
        expect([field, stored?.[field] === wanted[field]]).toEqual([field, verdict === 'done']);
      }
      expect([first, last]).toContain('done');
    }
    // Otherwise they never competed.
    expect([...seen].some((pair) => pair.includes('drift'))).toBe(true);
  },
);

test('two concurrent adds of one user create one', async () => {
  const { devsh, device } = await startFleet({ latencyMs: 2 });
  for (let round = 0; round < 5; round += 1) {
    const line = `user add username=zoe${round} --on sim1 --yes --json`;
    const output = await Promise.all([devsh(line), devsh(line)]);
    const verdicts = output.map(
      ({ stdout }) => (JSON.parse(stdout) as ReportedFields).results[0]?.verdict ?? '',
    );
    expect(verdicts).toContain('done');
    expect(['drift', 'unchanged']).toContain(verdicts.find((verdict) => verdict !== 'done'));
    const names = device(1).users.map(({ username }) => username);
    expect(names.filter((name) => name === `zoe${round}`)).toHaveLength(1);
  }
});

/** Locks a device for another devsh. */
async function hold({ devsh, device }: TestFleet, number: number, owner: string): Promise<void> {
  const name = device(number).address.replaceAll(':', '_');
  const lock = join(devsh.folder, 'state', 'devsh', 'locks', `${name}.lock`);
  await mkdir(dirname(lock), { recursive: true });
  await writeFile(lock, owner);
}

test('waiting for another devsh is reported, and Ctrl-C ends it', async () => {
  const fleet = await startFleet({ devices: 2 });
  const { devsh, writes } = fleet;
  await hold(fleet, 2, `${process.pid} ${hostname()} x\n`);
  const line = 'user add username=zoe --on @lab --yes';
  const waiting = `waiting for another devsh (process ${process.pid}), which writes to sim2`;
  const run = await devsh(`${line} -v`, { stopAt: { text: waiting, signal: 'SIGINT' } });
  expect(run.stderr).toContain(waiting);
  expect(run.stdout).toContain('✓ zoe  added');
  expect(run.stdout).toContain('- zoe  add skipped - not sent: cancelled');
  expect(run.stderr.match(/cancelled/g)).toHaveLength(1);
  expect(run.exitCode).toBe(130);
  expect(writes()).toEqual(['POST /api/user/']);
});

test('a raw request of unknown effect waits for another devsh, too', async () => {
  const fleet = await startFleet({ devices: 1 });
  await hold(fleet, 1, `${process.pid} ${hostname()} x\n`);
  const text = 'which writes to sim1';
  const stopAt = { text, signal: 'SIGINT' } as const;
  const run = await fleet.devsh('post /api/reload/ now=1 --on sim1 --yes', { stopAt });
  expect(run.stderr).toContain(text);
  expect(run.exitCode).toBe(130);
  expect(fleet.writes()).toEqual([]);
});

test('Ctrl-C at the last verdict claims no step that was not sent', async () => {
  const { devsh } = await startFleet({ devices: 1 });
  const stopAt = { text: 'zoe  added', signal: 'SIGINT' } as const;
  const run = await devsh('user add username=zoe --on @lab --yes -v', { stopAt });
  expect(run.stdout).toContain('✓ zoe  added');
  expect(run.stderr).toContain('cancelled: no step was left');
  expect(run.exitCode).toBe(130);
});
