import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { CancelledError, SettingsError } from '../../src/errors.ts';
import { readText, writeTextAtomically } from '../../src/os/files.ts';
import { withLock } from '../../src/os/lock.ts';
import { type Bundle, bundleProgram } from '../pty/bundle.ts';
import { isLong } from '../rounds.ts';
import { makeTempFolder } from '../settings/temp-folder.ts';

/** A process of it has the number 1, and is killed with the program that starts it. */
const CONTAINER = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];

test.each([10_000, 1])(
  'twenty changes at a time lose nothing, renewed every %i ms',
  async (renewMs) => {
    const folder = await makeTempFolder();
    const path = join(folder, 'count');
    const increase = () =>
      withLock(
        path,
        async () => {
          const count = Number((await readText(path)) ?? '0');
          await writeTextAtomically(path, String(count + 1));
        },
        { times: { renewMs, lostMs: 60_000 }, waitMs: 30_000 },
      );
    await Promise.all(Array.from({ length: 20 }, increase));
    expect(await readFile(path, 'utf8')).toBe('20');
    expect(await readdir(folder)).toEqual(['count']);
  },
);

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
  const holder = await startHolder(path);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
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
      const facts = await readFile(`/proc/${String(pid).trim()}/stat`, 'utf8').catch(() => '');
      const start = facts.replace(/^.*\) /s, '').split(' ')[19];
      const [, , place] = await fieldsOfLock(path);
      await writeFile(`${path}.lock`, `${String(pid).trim()} ${start} ${place} x\n`);
      expect(await withLock(path, () => Promise.resolve('mine'))).toBe('mine');
    } finally {
      parent.kill();
    }
  },
);

test.each(['', 'garbage\n', '4711 elsewhere x\n'])(
  'breaks a lock that says "%s" and is not renewed',
  async (text) => {
    const path = join(await makeTempFolder(), 'file');
    await writeFile(`${path}.lock`, text);
    const tooEarly = withLock(path, () => Promise.resolve(), { waitMs: 0 });
    await expect(tooEarly).rejects.toThrow(`holds ${path}.lock`);
    const times = { renewMs: 20, lostMs: 120 };
    expect(await withLock(path, () => Promise.resolve('mine'), { times })).toBe('mine');
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
  const turns = Array.from({ length: 100 }, () =>
    withLock(path, () => setImmediate(), { waitMs: 60_000 }),
  );
  await Promise.all(turns);
  over.abort();
  await watching;
  expect(seen.size).toBeGreaterThan(0);
  for (const text of seen) expect(text).toMatch(/^\d+ \S+ \S+ [\da-f-]{36}\n$/);
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
  const { pid } = await startHolder(path);
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
  expect(told).toEqual([`another devsh (process ${pid})`]);
});

test('gives up after three seconds, naming the process that holds the lock', async () => {
  const path = join(await makeTempFolder(), 'file');
  const { pid } = await startHolder(path);
  const attempt = withLock(path, () => Promise.resolve());
  await expect(attempt).rejects.toThrow(SettingsError);
  await expect(attempt).rejects.toThrow(`(process ${pid}) holds ${path}.lock`);
});

/** Number, start and place of this process, as a lock names them. */
function fieldsOfLock(path: string): Promise<readonly string[]> {
  return withLock(path, async () => (await readFile(`${path}.lock`, 'utf8')).split(' '));
}

let program: Bundle;
beforeAll(async () => {
  program = await bundleProgram(new URL('hold-lock.ts', import.meta.url));
});
afterAll(() => program.remove());

/** A process that holds the lock of `path` until it is killed, here or in a pid namespace of its own. */
async function startHolder(path: string, how: readonly string[] = []): Promise<ChildProcess> {
  const options = JSON.stringify({ waitMs: 2 * FAST.lostMs + 30_000, times: FAST });
  const [command, ...args] = [...how, process.execPath, program.path, path, options];
  const holder = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
  return holder;
}

/** The times of a lock, a hundredth of the real ones. */
const FAST = isLong ? { renewMs: 10_000, lostMs: 60_000 } : { renewMs: 100, lostMs: 600 };
const wait = { waitMs: FAST.lostMs * 3, times: FAST };

test('never breaks the lock of a process that lives on this machine, however old it is', async () => {
  const path = join(await makeTempFolder(), 'file');
  await startHolder(path);
  const owner = await readFile(`${path}.lock`, 'utf8');
  const attempt = withLock(path, () => Promise.resolve(), {
    waitMs: 200,
    times: { renewMs: 1, lostMs: 1 },
  });
  await expect(attempt).rejects.toThrow(`(process ${owner.split(' ')[0]}) holds`);
  expect(await readFile(`${path}.lock`, 'utf8')).toBe(owner);
});

test('a lock with the number of this process, or of one that began at another time, is dead', async () => {
  const path = join(await makeTempFolder(), 'file');
  const [, start, place] = await fieldsOfLock(path);
  const { pid = 0 } = await startHolder(join(await makeTempFolder(), 'other'));
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(process.pid, pid),
      fc
        .nat()
        .map(String)
        .filter((one) => one !== start),
      fc.uuid(),
      async (number, began, id) => {
        await writeFile(`${path}.lock`, `${number} ${began} ${place} ${id}\n`);
        expect(await withLock(path, () => Promise.resolve('mine'), { waitMs: 0 })).toBe('mine');
      },
    ),
    { numRuns: 50 },
  );
});

describe.skipIf(spawnSync('unshare', [...CONTAINER.slice(1), 'true']).status !== 0)(
  'a pid namespace of its own, as a container has it (skipped without the right to make one)',
  { timeout: isLong ? 600_000 : 60_000 },
  () => {
    test('a killed container that starts again on the same volume breaks its own lock', async () => {
      const path = join(await makeTempFolder(), 'file');
      const first = await startHolder(path, CONTAINER);
      const owner = await readFile(`${path}.lock`, 'utf8');
      expect(owner).toMatch(/^1 /);
      first.kill('SIGKILL');
      await once(first, 'exit');
      const startedAt = performance.now();
      await startHolder(path, CONTAINER);
      expect(await readFile(`${path}.lock`, 'utf8')).not.toBe(owner);
      expect(performance.now() - startedAt).toBeLessThan(FAST.lostMs + 10_000);
    });

    test('of two live ones with one host name, the second waits as long as the first lives', async () => {
      const path = join(await makeTempFolder(), 'file');
      const first = await startHolder(path, CONTAINER);
      const owner = await readFile(`${path}.lock`, 'utf8');
      const longMs = isLong ? 300_000 : FAST.lostMs * 3;
      const attempt = withLock(path, () => Promise.resolve(), { ...wait, waitMs: longMs });
      await expect(attempt).rejects.toThrow('another devsh (process 1)');
      expect(await readFile(`${path}.lock`, 'utf8')).toBe(owner);
      first.kill('SIGKILL');
      expect(await withLock(path, () => Promise.resolve('mine'), wait)).toBe('mine');
    });
  },
);
