import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { FaultName } from '../simulator/faults.ts';
import { contention } from '../contention.ts';
import { startFleet, writesOf, type TestFleet } from '../main/devsh.ts';
import { startProgram } from '../main/process.ts';
import { STALLED } from './cell.ts';

const LIMIT_MS = 1000;
/** The time of the whole program beyond the limit, its start included. */
const GRACE_MS = 2000;
const INTERRUPT_MS = 500;
/** A busy machine may be late, but not several times in a row. */
const RETRIES = 3;

/** Responses that come as fast as they are read, and never end. */
const POURING: readonly FaultName[] = [
  'endless-headers',
  'endless-body',
  'endless-gzip',
  'trailer-flood',
];

/** Prints the peak of memory of the program at its end. */
const WITH_PEAK = {
  NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(
    "import{writeFileSync}from'node:fs';process.on('exit',()=>" +
      "writeFileSync(process.env.HOME+'/peak',String(process.resourceUsage().maxRSS)))",
  )}`,
};

async function peakMiB(folder: string): Promise<number> {
  return Number(await readFile(join(folder, 'peak'), 'utf8')) / 1024;
}

describe('a response that does not end is ended in time:', () => {
  const endsInTime = async (fault: FaultName, fleet: TestFleet): Promise<void> => {
    const { device, devsh } = fleet;
    device(1).setFault(fault);
    const from = performance.now();
    const { exitCode, stderr } = await devsh(
      `user list --on sim1 --timeout ${String(LIMIT_MS / 1000)}`,
    );
    expect(performance.now() - from).toBeLessThan(LIMIT_MS + GRACE_MS * contention());
    expect(stderr).toContain('sim1: ');
    expect([1, 5]).toContain(exitCode);
  };

  // These only wait, so they can run in parallel.
  test.concurrent.for(STALLED)('%s', { retry: RETRIES }, async (fault, { onTestFinished }) => {
    await endsInTime(fault, await startFleet({ atEnd: onTestFinished }));
  });

  test.each(POURING)('%s', { retry: RETRIES }, async (fault) => {
    await endsInTime(fault, await startFleet());
  });
});

describe('Ctrl-C ends the wait for', () => {
  test.each(STALLED)('a list with %s', { retry: RETRIES }, async (fault) => {
    const { device, devsh } = await startFleet();
    device(1).setFault(fault);
    const connected = device(1).connections;
    const program = startProgram(['user', 'list', '--on', 'sim1'], devsh.folder);
    await vi.waitUntil(() => device(1).connections > connected, { timeout: 10_000 });

    const from = performance.now();
    program.child.kill('SIGINT');
    const { code } = await program.ended;

    expect(performance.now() - from).toBeLessThan(INTERRUPT_MS * contention());
    expect(code).toBe(130);
  });

  test('a write without a response, which is read back as unknown or not done', async () => {
    const { device, devsh } = await startFleet();
    device(1).setFault('silence', true, { method: 'POST' });
    const line = [
      'user',
      'add',
      'username=zoe',
      '--on',
      'sim1',
      '--yes',
      '--json',
      '--timeout',
      '2',
    ];
    const program = startProgram(line, devsh.folder);
    await vi.waitUntil(() => writesOf(device(1)).length === 1, { timeout: 10_000 });

    program.child.kill('SIGINT');
    const { stdout } = await program.ended;

    expect(stdout).toMatch(/"verdict":"(?:failed|unknown)"/);
    expect(writesOf(device(1))).toHaveLength(1);
  });
});

describe('memory stays bounded with', () => {
  test.each<[FaultName, number]>([
    ['gzip-bomb', 400],
    ['endless-gzip', 400],
    ['endless-body', 400],
    ['endless-headers', 400],
    ['trailer-flood', 400],
    ['huge-length', 400],
    ['deep-open', 400],
    ['text-huge', 400],
    ['million-users', 400],
    ['million-names', 1500],
  ])(
    '%s: at most %i MiB',
    async (fault, limit) => {
      const { device, devsh } = await startFleet();
      device(1).setFault(fault);
      const line = ['user', 'list', '--on', 'sim1', '--timeout', '20'];
      const program = startProgram(line, devsh.folder, '', WITH_PEAK);
      const { code, stderr } = await program.ended;

      const isRead = fault === 'text-huge' || fault === 'million-names';
      expect(isRead ? [0] : [1, 5], stderr).toContain(code);
      expect(await peakMiB(devsh.folder)).toBeLessThan(limit);
    },
    180_000,
  );
});
