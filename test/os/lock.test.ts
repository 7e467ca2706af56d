import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { CancelledError, SettingsError } from '../../src/errors.ts';
import { readText, writeTextAtomically } from '../../src/os/files.ts';
import { withLock } from '../../src/os/lock.ts';
import { makeTempFolder } from '../settings/temp-folder.ts';

test('twenty changes at a time lose nothing', async () => {
  const folder = await makeTempFolder();
  const path = join(folder, 'count');
  const increase = () =>
    withLock(path, async () => {
      const count = Number((await readText(path)) ?? '0');
      await writeTextAtomically(path, String(count + 1));
    });
  await Promise.all(Array.from({ length: 20 }, increase));
  expect(await readFile(path, 'utf8')).toBe('20');
  expect(await readdir(folder)).toEqual(['count']);
});

test('gives the lock back when the work fails', async () => {
  const folder = await makeTempFolder();
  const path = join(folder, 'file');
  await expect(withLock(path, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await readdir(folder)).toEqual([]);
});

test('gives the lock back where the file system changes its time', async () => {
  const folder = await makeTempFolder();
  const path = join(folder, 'file');
  await withLock(path, () => utimes(`${path}.lock`, 1, 1));
  expect(await readdir(folder)).toEqual([]);
});

test('breaks the lock of a process that is gone', async () => {
  const path = join(await makeTempFolder(), 'file');
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  await writeFile(`${path}.lock`, `${pid} ${hostname()} x\n`);
  expect(await withLock(path, () => Promise.resolve('mine'))).toBe('mine');
});

test.runIf(process.platform === 'linux')(
  'breaks the lock of a killed process whose parent does not notice its end',
  async () => {
    const path = join(await makeTempFolder(), 'file');
    // The shell becomes a program that waits for no child.
    const parent = spawn('sh', ['-c', 'true & echo $!; exec sleep 60']);
    try {
      const [pid] = (await once(parent.stdout, 'data')) as [Buffer];
      await writeFile(`${path}.lock`, `${String(pid).trim()} ${hostname()} x\n`);
      expect(await withLock(path, () => Promise.resolve('mine'))).toBe('mine');
    } finally {
      parent.kill();
    }
  },
);

test.each(['', 'garbage\n', '4711 elsewhere x\n'])(
  'breaks an old lock that says "%s"',
  async (text) => {
    const path = join(await makeTempFolder(), 'file');
    await writeFile(`${path}.lock`, text);
    const past = new Date(Date.now() - 60_000);
    await utimes(`${path}.lock`, past, past);
    expect(await withLock(path, () => Promise.resolve('mine'))).toBe('mine');
  },
);

test('a lock has the name of its owner from its first moment on', async () => {
  const path = join(await makeTempFolder(), 'file');
  const seen = new Set<string>();
  const over = new AbortController();
  const watching = (async () => {
    while (!over.signal.aborted) {
      const text = await readFile(`${path}.lock`, 'utf8').catch(() => undefined);
      if (text !== undefined) seen.add(text);
    }
  })();
  // The lock is taken and released synchronously: the watching must get its turn in between.
  await Promise.all(Array.from({ length: 100 }, () => withLock(path, () => setImmediate())));
  over.abort();
  await watching;
  expect(seen.size).toBeGreaterThan(0);
  for (const text of seen) expect(text).toMatch(/^\d+ \S+ [\da-f-]{36}\n$/);
});

test('a lock that can be neither taken nor read is no reason to wait for ever', async () => {
  const path = join(await makeTempFolder(), 'file');
  await symlink('nowhere', `${path}.lock`);
  const attempt = withLock(path, () => Promise.resolve(), { waitMs: 100 });
  await expect(attempt).rejects.toThrow(`another devsh holds ${path}.lock`);
  const cancelled = withLock(path, () => Promise.resolve(), {
    waitMs: 60_000,
    signal: AbortSignal.timeout(100),
  });
  await expect(cancelled).rejects.toThrow(CancelledError);
});

test('reports once which process it waits for, and ends at once when the wait is aborted', async () => {
  const path = join(await makeTempFolder(), 'file');
  await writeFile(`${path}.lock`, `${process.pid} ${hostname()} x\n`);
  const told: string[] = [];
  const cancel = new AbortController();
  const attempt = withLock(path, () => Promise.resolve(), {
    waitMs: 60_000,
    signal: cancel.signal,
    onWait: (holder) => {
      told.push(holder);
      cancel.abort();
    },
  });
  await expect(attempt).rejects.toThrow(CancelledError);
  expect(told).toEqual([`another devsh (process ${process.pid})`]);
});

test('gives up after three seconds, naming the process that holds the lock', async () => {
  const path = join(await makeTempFolder(), 'file');
  await writeFile(`${path}.lock`, `${process.pid} ${hostname()} x\n`);
  const attempt = withLock(path, () => Promise.resolve());
  await expect(attempt).rejects.toThrow(SettingsError);
  await expect(attempt).rejects.toThrow(`(process ${process.pid}) holds ${path}.lock`);
});

test('never breaks the lock of a process that lives on this machine, however old it is', async () => {
  const path = join(await makeTempFolder(), 'file');
  const lock = `${path}.lock`;
  const owner = `${process.pid} ${hostname()} x\n`;
  await writeFile(lock, owner);
  const past = new Date(Date.now() - 24 * 3_600_000);
  await utimes(lock, past, past);
  const attempt = withLock(path, () => Promise.resolve(), { waitMs: 100, staleMs: 1 });
  await expect(attempt).rejects.toThrow(`(process ${process.pid}) holds`);
  expect(await readFile(lock, 'utf8')).toBe(owner);
});
