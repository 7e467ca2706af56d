import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, onTestFinished, test } from 'vitest';
import { startFleet, usernames, writesOf, type Devsh } from '../main/devsh.ts';
import { startProgram, waitUntil } from '../main/process.ts';
import { ADMIN, simulate } from '../pty/devsh.ts';
import { startInPty } from '../pty/harness.ts';
import { contention } from '../contention.ts';
import { rounds } from '../rounds.ts';

const PIN = 'AB'.repeat(32);

/** Ways to end devsh. */
const ENDS = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT', 'quit', 'ctrl-d'] as const;

test('The terminal is given back, however devsh ends.', async () => {
  const simulator = await simulate({ users: 5 });
  const [device] = simulator.devices;
  const folder = await mkdtemp(join(tmpdir(), 'devsh-ends-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const script =
    'trap : HUP INT QUIT TERM; stty -g > "$FOLDER/$0.before"; "$@"; stty -g > "$FOLDER/$0.after"; echo over; sleep 9';
  const endBy = async (end: (typeof ENDS)[number]): Promise<void> => {
    const command = [
      process.execPath,
      inject('cli'),
      'connect',
      device?.address ?? '',
      '--insecure',
    ];
    const program = startInPty({
      command: '/bin/bash',
      args: ['-c', script, end, ...command],
      env: { ...ADMIN, HOME: folder, FOLDER: folder },
    });
    try {
      await program.waitFor('connected to 1 device');
      if (end === 'quit') program.type('quit\r');
      else if (end === 'ctrl-d') program.press('ctrl-d');
      else process.kill(await childOf(program.pid), end);
      await program.waitFor('over', 15_000);
      const text = (when: string): Promise<string> =>
        readFile(join(folder, `${end}.${when}`), 'utf8');
      expect([end, await text('after')]).toEqual([end, await text('before')]);
      expect([end, program.buffer, program.cursor.isShown]).toEqual([end, 'normal', true]);
      expect([end, program.modes.bracketedPasteMode]).toEqual([end, false]);
    } finally {
      await program.close();
    }
  };
  for (let next = 0; next < ENDS.length; next += 3) {
    await Promise.all(ENDS.slice(next, next + 3).map(endBy));
  }
});

async function childOf(shell: number): Promise<number> {
  const text = await readFile(`/proc/${shell}/task/${shell}/children`, 'utf8');
  return Number(text.trim().split(' ')[0]);
}

test('A damaged file of devsh is named, and nothing in it is lost.', async () => {
  const { devsh } = await startFleet({ devices: 2 });
  for (const line of [
    'user add username=zoe lang=de --on @lab --yes',
    'learn sim1',
    'profile set sim1 no_id=0',
  ]) {
    expect((await devsh(line)).exitCode).toBe(0);
  }
  await writeFile(join(devsh.folder, 'config/devsh/settings.json'), '{"timeoutMs": 4000}');
  const runs = await readdir(join(devsh.folder, 'state/devsh/runs'));
  const journal = runs.find((name) => name.endsWith('.jsonl')) ?? '';
  const files: readonly [file: string, line: string][] = [
    ['config/devsh/devices.yaml', 'device list'],
    ['config/devsh/settings.json', 'device list'],
    ['data/devsh/known-devices', 'trust list'],
    [`state/devsh/runs/${journal}`, `runs show ${journal.replace('.jsonl', '')}`],
  ];
  for (const [file, line] of files) {
    const path = join(devsh.folder, file);
    const intact = await readFile(path);
    const damaged = Buffer.concat([
      intact.subarray(0, intact.length / 2),
      Buffer.from('\0{[}\n\0'),
    ]);
    await writeFile(path, damaged);
    const { stdout, stderr, exitCode } = await devsh(line);
    expect([file, stdout + stderr]).toEqual([
      file,
      expect.stringContaining(file.split('/').at(-1) ?? ''),
    ]);
    expect([file, exitCode]).not.toEqual([file, 70]);
    await devsh('device add other 10.9.9.9');
    await devsh(`trust accept 10.9.9.9 --fingerprint ${'AB'.repeat(32)}`);
    const stored = await Promise.all((await allFiles(devsh)).map((one) => readFile(one)));
    // The damaged file is unchanged, in its place or set aside.
    const isKept = stored.some((bytes) => bytes.includes(damaged) || bytes.includes(intact));
    expect([file, isKept]).toEqual([file, true]);
    await writeFile(path, intact);
  }
});

test('Two sessions lose no update of each other.', { timeout: 60_000 }, async () => {
  const count = rounds(50);
  const { devsh, device } = await startFleet({ latencyMs: 1, users: 2 });
  const doAll = async (who: string, round: number, lagMs: number): Promise<void> => {
    await sleep(lagMs);
    // In turn, so that each competes with another one.
    const own = [
      `device add ${who} ${who}.example`,
      `trust accept ${who}.example --fingerprint ${PIN}`,
    ];
    const runs = [
      await devsh(own[round % 2] ?? ''),
      await devsh(`user add username=${who} lang=de first_name=${who} --on sim1 --yes`),
    ];
    expect(runs.map(({ exitCode, stderr }) => `${exitCode}${stderr}`).join('')).toMatch(/^0.*0/s);
  };
  for (let round = 0; round < count; round += 1) {
    const lag = Math.random() * 12;
    await Promise.all([doAll(`a${round}`, round, lag), doAll(`b${round}`, round, 12 - lag)]);
  }
  const names = Array.from({ length: count }, (_, round) => [`a${round}`, `b${round}`]).flat();
  const inventory = await readFile(join(devsh.folder, 'config/devsh/devices.yaml'), 'utf8');
  const pins = await readFile(join(devsh.folder, 'data/devsh/known-devices'), 'utf8');
  for (const name of names) {
    expect(`${inventory}\n${pins}`).toContain(`${name}.example`);
    expect(usernames(device(1)).filter((one) => one === name)).toEqual([name]);
  }
  expect(writesOf(device(1))).toHaveLength(2 * count);
  expect(await readdir(join(devsh.folder, 'state/devsh/runs'))).toHaveLength(2 * count);
});

test('No lock is left behind.', async () => {
  const { devsh, device, writes } = await startFleet({ latencyMs: 20 });
  for (let round = 0; round < rounds(5); round += 1) {
    const before = writes().length;
    const argv = ['user', 'add', `username=zoe${round}`, '--on', 'sim1', '--yes'];
    const program = startProgram(argv, devsh.folder);
    await waitUntil(() => writes().length > before, program);
    program.child.kill('SIGKILL');
    expect((await program.ended).signal).toBe('SIGKILL');
    const from = performance.now();
    expect((await devsh(`user add username=next${round} --on sim1 --yes`)).exitCode).toBe(0);
    expect((await devsh(`device add next${round} next${round}.example`)).exitCode).toBe(0);
    expect(performance.now() - from).toBeLessThan(2000 * contention());
    expect(usernames(device(1))).toContain(`next${round}`);
  }
  expect((await allFiles(devsh)).filter((path) => /\.lock|\.tmp/.test(path))).toEqual([]);
});

async function allFiles({ folder }: Devsh & { readonly folder: string }): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}
