import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Verdict } from '../../src/change/verdict.ts';
import { Vault } from '../../src/credentials/vault.ts';
import { rounds } from '../rounds.ts';
import { startFleet, usernames } from './devsh.ts';

/** Whole twenties: five kinds of faults among fifteen sound devices. */
const DEVICES = rounds(200, { least: 100 });

/** The fault of every twentieth device, the first of them, and the expected verdict. */
const KINDS = [
  { fault: 'refuse', verdict: 'failed', isStored: false },
  { fault: 'silence', verdict: 'failed', isStored: false },
  { fault: 'store-and-drop', verdict: 'done', isStored: true },
  { fault: 'accept-and-forget', verdict: 'no effect', isStored: false },
  { fault: '500-once', verdict: 'failed', isStored: false },
] as const;

test(
  `on ${DEVICES} devices, a quarter of them faulty, each ends with the right verdict and the counts add up`,
  { timeout: 180_000 },
  async () => {
    const { devsh, devices } = await startFleet({ devices: DEVICES, users: 4 });
    const kindOf = (index: number) => KINDS[index % 20];
    for (const [index, device] of devices.entries()) {
      const fault = kindOf(index)?.fault;
      if (fault === 'refuse') device.setFault(fault);
      else if (fault !== undefined) device.setFault(fault, 1, { method: 'POST' });
    }
    const line =
      'user add username=zoe lang=de --on @lab --yes --json --concurrency 32 --timeout 2';
    const { stdout, exitCode } = await devsh(line);
    expect(exitCode).toBe(3);
    const { run, results, summary } = JSON.parse(stdout) as {
      run: string;
      results: { device: string; verdict: Verdict }[];
      summary: Record<string, number>;
    };
    expect(results.map(({ device, verdict }) => [device, verdict])).toEqual(
      devices.map(({ name }, index) => [name, kindOf(index)?.verdict ?? 'done']),
    );
    const each = DEVICES / 20;
    expect(summary).toEqual({ done: 16 * each, failed: 3 * each, 'no effect': each });
    for (const [index, device] of devices.entries()) {
      const isStored = kindOf(index)?.isStored ?? true;
      expect(usernames(device).filter((name) => name === 'zoe')).toHaveLength(isStored ? 1 : 0);
      device.clearFaults();
    }

    const again = await devsh(`resume ${run} --yes --json --concurrency 32`);
    expect(JSON.parse(again.stdout)).toMatchObject({ summary: { done: 4 * each } });
    expect(again.exitCode).toBe(0);
    for (const device of devices) {
      expect(usernames(device).filter((name) => name === 'zoe')).toHaveLength(1);
    }
  },
);

test('resources, learn and login go on behind a device that is away, and the line is partial', async () => {
  const { devsh, device } = await startFleet({ devices: 3, profile: 'drf' });
  device(1).setFault('refuse');
  const vault = new Vault(join(devsh.folder, 'data/devsh/vault.age'), { workFactor: 1 });
  await vault.create('correct horse battery');
  for (const [line, done] of [
    ['resources --on @lab', 'interface\tsim2, sim3'],
    ['learn @lab', 'sim3: observed'],
    ['devices --on @lab', 'sim3\t'],
    [
      'login @lab --user admin --password-stdin --passphrase-stdin',
      'sim3: admin is accepted and kept in the vault',
    ],
  ] as const) {
    const run = await devsh(line, { stdin: 'admin-secret\ncorrect horse battery\n' });
    expect(run.stdout + run.stderr, line).toContain(done);
    expect(run.stderr, line).toMatch(/✗ sim1: \S+ refuses the connection/);
    expect(run.exitCode, line).toBe(3);
  }
  const refused = await devsh('login @lab --user admin --password-stdin', { stdin: 'wrong\n' });
  expect(refused.stderr).toContain('sim2, sim3: the login was refused');
  expect(refused.exitCode).toBe(1);
});
