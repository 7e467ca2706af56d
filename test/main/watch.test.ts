import { expect, test, vi } from 'vitest';
import { nextWait } from '../../src/shell/watch.ts';
import { startFleet, type TestFleet } from './devsh.ts';

/** Runs each step between two rounds of a watch, by the reads of the first device. */
async function inTurn(fleet: TestFleet, steps: readonly (() => unknown)[]): Promise<void> {
  const reads = (): number => fleet.device(1).log.length;
  for (const step of steps) {
    const before = reads();
    // The first round may have begun already, the second has not.
    await vi.waitUntil(() => reads() >= before + 2, { timeout: 10_000 });
    step();
  }
}

function changesTo(fleet: TestFleet): (() => unknown)[] {
  return [
    () => fleet.device(1).putUser({ username: 'zoe', first_name: 'Zoe', lang: 'en' }),
    () => fleet.device(1).putUser({ username: 'zoe', first_name: 'Zoe', lang: 'de' }),
    () => fleet.device(1).removeUser('zoe'),
  ];
}

test('--watch reports what is added, removed and changed, until Ctrl-C', async () => {
  const fleet = await startFleet({ devices: 2 });
  const running = fleet.devsh('user list --on @lab --watch=0.2', {
    stopAt: { text: 'zoe: removed', signal: 'SIGINT' },
  });
  await inTurn(fleet, changesTo(fleet));
  const { stdout, stderr, exitCode } = await running;
  const lines = stdout.split('\n').map((line) => line.replace(/^\d\d:\d\d:\d\d/, 'TIME'));
  expect(lines.filter((line) => line.startsWith('TIME'))).toEqual([
    'TIME + sim1 user zoe: added',
    'TIME ~ sim1 user zoe: lang en -> de',
    'TIME - sim1 user zoe: removed',
  ]);
  expect(lines[0]).toMatch(/^DEVICE\tUSERNAME/);
  expect(stderr).toContain('watching every 0.2 s; Ctrl-C stops it');
  expect(exitCode).toBe(130);
});

test('as JSON lines each change is an object with its time', async () => {
  const fleet = await startFleet({ devices: 1 });
  const running = fleet.devsh('user list --on @lab --watch=0.2 --format jsonl --columns lang', {
    stopAt: { text: '"change":"removed"', signal: 'SIGINT' },
  });
  await inTurn(fleet, changesTo(fleet));
  const { stdout } = await running;
  const objects: unknown[] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  expect(objects.slice(-3)).toEqual([
    expect.objectContaining({ device: 'sim1', change: 'added', key: 'zoe' }),
    expect.objectContaining({ change: 'changed', fields: ['lang'], record: { lang: 'de' } }),
    expect.objectContaining({ change: 'removed', key: 'zoe' }),
  ]);
  expect(stdout).toMatch(/"time":"\d{4}-[^"]*Z"/);
});

test('a failing device is reported once, and its recovery once; the others continue', async () => {
  const fleet = await startFleet({ devices: 2 });
  const { device } = fleet;
  const running = fleet.devsh('user list --on @lab --watch=0.2', {
    stopAt: { text: 'sim2 responds again', signal: 'SIGINT' },
  });
  await inTurn(fleet, [
    () => {
      device(2).setFault('accept-and-close');
    },
    () => device(1).putUser({ username: 'zoe' }),
    () => {
      device(2).clearFaults();
    },
  ]);
  const { stdout, stderr } = await running;
  expect(stderr.match(/sim2: /g)).toHaveLength(1);
  expect(stdout).toMatch(/\+ sim1 user zoe: added/);
  expect(stdout).not.toMatch(/[-+~] sim2/);
});

test.each([
  ['--watch --json', '--watch never ends, and json needs an end; use --format jsonl'],
  ['--watch --drift', '--drift compares once'],
  ['--watch=0', '"0" is not a time from 0.2 to 86400 seconds'],
])('user list %s is refused', async (options, reason) => {
  const { devsh } = await startFleet({ devices: 1 });
  const { stdout, stderr, exitCode } = await devsh(`user list --on @lab ${options}`);
  expect(exitCode).toBe(2);
  expect(stdout + stderr).toContain(reason);
});

test('the wait doubles while nothing responds, up to a minute', () => {
  expect(nextWait(5_000, 5_000, true)).toBe(5_000);
  expect(nextWait(5_000, 20_000, false)).toBe(40_000);
  expect(nextWait(5_000, 50_000, false)).toBe(60_000);
  expect(nextWait(120_000, 120_000, false)).toBe(120_000);
  expect(nextWait(5_000, 60_000, true)).toBe(5_000);
});

test('devices --watch reports when a device fails and recovers, and counts its records', async () => {
  const fleet = await startFleet({ devices: 2 });
  const { device } = fleet;
  const running = fleet.devsh('devices --on @lab --watch=0.2', {
    stopAt: { text: 'users 8 -> 9', signal: 'SIGINT' },
  });
  await inTurn(fleet, [
    () => {
      device(2).setFault('accept-and-close');
    },
    () => {
      device(2).clearFaults();
    },
    () => fleet.device(1).putUser({ username: 'zoe', first_name: 'Zoe', lang: 'en' }),
  ]);
  const { stdout, stderr, exitCode } = await running;
  expect(stdout).toMatch(/^NAME\tADDRESS\tGROUPS\tSTATE\tTRUST\tLAST READ\tAS\tUSERS\tMS/);
  expect(stdout).toMatch(/^sim2\t127\S+\tlab\tconnected\tpinned\t20\S+\tadmin\t8\t\d+/m);
  // The latency varies.
  const lines = stdout.replaceAll(/latency_ms \S+ -> \d+(, )?/g, '').split('\n');
  const changes = lines.filter((line) => / ~ sim\d: (state|users)/.test(line));
  expect(changes.map((line) => line.slice('00:00:00 '.length))).toEqual([
    expect.stringMatching(/^~ sim2: state connected -> \w+/),
    expect.stringMatching(/^~ sim2: state \w+ -> connected/),
    expect.stringMatching(/^~ sim1: users 8 -> 9/),
  ]);
  expect(stderr.match(/sim2: /g)).toHaveLength(1);
  expect(exitCode).toBe(130);
});

test('as JSON lines a device that changes is an object, and other formats are refused', async () => {
  const fleet = await startFleet({ devices: 1 });
  const running = fleet.devsh('devices --on @lab --watch=0.2 --format jsonl', {
    stopAt: { text: '"change":"changed"', signal: 'SIGINT' },
  });
  await inTurn(fleet, [() => fleet.device(1).putUser({ username: 'zoe', lang: 'en' })]);
  const { stdout } = await running;
  const objects: unknown[] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  expect(objects.at(-1)).toMatchObject({
    device: 'sim1',
    change: 'changed',
    record: { state: 'connected', users: 9 },
  });
  const refused = await fleet.devsh('devices --on @lab --watch --json');
  expect(refused.stdout).toContain('--watch never ends, and json needs an end; use --format jsonl');
  expect(refused.exitCode).toBe(2);
});
