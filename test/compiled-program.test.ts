import { chmod, mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { startProgram } from './main/process.ts';
import { makeFolder } from './package/programs.ts';
import { simulate } from './pty/devsh.ts';

/** Runs the built program with a cache of its own. */
async function withCache() {
  const home = await makeFolder(onTestFinished);
  const folder = join(home, 'cache/devsh/compiled');
  const devsh = async (...argv: readonly string[]) => {
    const env = { NODE_COMPILE_CACHE: undefined };
    const { code, stdout, stderr } = await startProgram(argv, home, '', env).ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout;
  };
  /** What is kept, by name. */
  const kept = async () => {
    const names = await readdir(folder);
    const files = names.map(
      async (name) => [name, await readFile(join(folder, name), 'latin1')] as const,
    );
    return new Map(await Promise.all(files));
  };
  return { home, folder, devsh, kept };
}

function bytesOf(files: ReadonlyMap<string, string>): number {
  return [...files.values()].reduce((sum, { length }) => sum + length, 0);
}

test('keeps what it compiled, private to its user, and more with each command', async () => {
  const { folder, devsh, kept } = await withCache();
  const text = await devsh('help');
  const first = await kept();
  expect(first.size).toBeGreaterThan(0);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  for (const name of first.keys()) {
    expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  }

  expect(await devsh('help')).toBe(text);
  expect(await kept()).toEqual(first);
  const { devices } = await simulate();
  await devsh('user', 'list', '--insecure', '--on', devices[0]?.address ?? '');
  const more = await kept();
  expect(bytesOf(more)).toBeGreaterThan(1.1 * bytesOf(first));
  await devsh('help');
  expect(await kept()).toEqual(more);
});

test.each([
  ['damaged', (bytes: Buffer) => bytes.fill(0xff, bytes.length >> 1)],
  ['cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1)],
  ['empty', () => Buffer.alloc(0)],
])('starts with compiled code that is %s, and keeps it anew', async (_what, change) => {
  const { folder, devsh, kept } = await withCache();
  const text = await devsh('help');
  const names = [...(await kept()).keys()];
  for (const name of names) {
    const path = join(folder, name);
    await writeFile(path, change(await readFile(path)));
  }
  const damaged = await kept();

  expect(await devsh('help')).toBe(text);
  const after = await kept();
  expect(names.filter((name) => after.get(name) === damaged.get(name))).toEqual([]);
  expect(await devsh('help')).toBe(text);
});

test.skipIf(process.platform === 'win32')(
  'runs nothing from a folder that others may write to',
  async () => {
    const { folder, devsh } = await withCache();
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o777);
    expect(await devsh('help')).toContain('user');
    expect(await readdir(folder)).toEqual([]);
  },
);

test('starts where the folder is a file', async () => {
  const { home, folder, devsh } = await withCache();
  await mkdir(join(home, 'cache/devsh'), { recursive: true });
  await writeFile(folder, 'no folder');
  expect(await devsh('help')).toContain('user');
});

test('removes what no run has kept for a month', async () => {
  const { folder, devsh, kept } = await withCache();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const [old, young] = [join(folder, 'old.cjs.1'), join(folder, 'young.cjs.1')];
  for (const path of [old, young]) await writeFile(path, 'x');
  const then = Date.now() / 1000 - 40 * 86_400;
  await utimes(old, then, then);
  await devsh('help');
  const names = [...(await kept()).keys()];
  expect(names).toContain('young.cjs.1');
  expect(names).not.toContain('old.cjs.1');
});

test('the program is built in ASCII, of which Node takes one byte for each character', async () => {
  const built = dirname(inject('cli'));
  const names = await readdir(built, { recursive: true });
  const files = names.filter((name) => name.endsWith('.cjs'));
  expect(files.length).toBeGreaterThan(100);
  for (const name of files) {
    expect(await readFile(join(built, name), 'latin1'), name).not.toMatch(/[^\0-\x7f]/);
  }
});
