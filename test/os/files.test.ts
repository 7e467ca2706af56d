import { spawnSync } from 'node:child_process';
import {
  chmod,
  chown,
  lchown,
  mkdir,
  readdir,
  readFile,
  readlink,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { RefusedError, SettingsError } from '../../src/errors.ts';
import {
  appendText,
  readBytesSync,
  readText,
  writeNewText,
  writeTextAtomically,
} from '../../src/os/files.ts';
import { rounds } from '../rounds.ts';
import { makeTempFolder } from '../settings/temp-folder.ts';

test('reads nothing if there is no file', async () => {
  expect(await readText(join(await makeTempFolder(), 'none'))).toBeUndefined();
});

test('names the file that cannot be read', async () => {
  const folder = await makeTempFolder();
  await expect(readText(folder)).rejects.toThrow(`cannot read ${folder}: it is a folder`);
});

test('refuses a file that is not UTF-8 instead of mangling it', async () => {
  const path = join(await makeTempFolder(), 'latin1');
  await writeFile(path, Buffer.from('# Prüfung\n', 'latin1'));
  await expect(readText(path)).rejects.toThrow(`${path} is not UTF-8 text`);
});

test('writes a file that only the user can read, in a folder that only the user can open', async () => {
  const path = join(await makeTempFolder(), 'new', 'file');
  await writeTextAtomically(path, 'one\n');
  await writeTextAtomically(path, 'two\n');
  expect(await readFile(path, 'utf8')).toBe('two\n');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(join(path, '..'))).mode & 0o777).toBe(0o700);
  expect(await readdir(join(path, '..'))).toEqual(['file']);
});

test('what devsh writes is never reached through a link, whatever it leads to', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.stringMatching(/^[a-z]{1,8}$/),
      fc.integer({ min: 0, max: 3 }),
      async (name, hops) => {
        const folder = await makeTempFolder();
        const target = join(folder, 'target');
        if (hops > 0) await writeFile(target, 'mine');
        let path = target;
        for (let hop = 0; hop <= hops; hop += 1) {
          const link = join(folder, `${name}${hop}`);
          await symlink(path, link);
          path = link;
        }
        const before = await readlink(path);
        for (const write of [writeTextAtomically, writeNewText, appendText])
          await expect(write(path, 'x')).rejects.toThrow(/link|exists already/);
        expect(await readlink(path)).toBe(before);
        expect(await readFile(target, 'utf8').catch(() => 'mine')).toBe('mine');
      },
    ),
    { numRuns: rounds(200) },
  );
});

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

test('reads a link as Kubernetes and stow make them', async () => {
  const folder = await makeTempFolder();
  await mkdir(join(folder, '..2026'));
  await writeFile(join(folder, '..2026', 'devices.yaml'), 'x');
  await symlink('..2026', join(folder, '..data'));
  await symlink('..data/devices.yaml', join(folder, 'devices.yaml'));
  expect(await readText(join(folder, 'devices.yaml'))).toBe('x');
});

test.skipIf(!isRoot)('reads nothing that another user could have put there', async () => {
  const parts = fc.record({
    links: fc.integer({ min: 0, max: 2 }),
    spoiled: fc.constantFrom('nothing', 'file', 'folder', 'link', 'mode', 'folder mode'),
    mode: fc.constantFrom(0o666, 0o622, 0o606, 0o646),
  });
  await fc.assert(
    fc.asyncProperty(parts, async ({ links, spoiled, mode }) => {
      const folder = await makeTempFolder();
      const inner = join(folder, 'inner');
      await mkdir(inner);
      let path = join(inner, 'file');
      await writeFile(path, 'x');
      if (spoiled === 'file') await chown(path, NOBODY, NOBODY);
      if (spoiled === 'mode') await chmod(path, mode);
      for (let link = 0; link < links; link += 1) {
        const next = join(inner, `link${link}`);
        await symlink(path, next);
        if (spoiled === 'link') await lchown(next, NOBODY, NOBODY);
        path = next;
      }
      if (spoiled === 'folder') await chown(inner, NOBODY, NOBODY);
      if (spoiled === 'folder mode') await chmod(inner, 0o777);
      // A file is its owner's, whoever may put another one in its place: then that one is looked at.
      const isOpen = spoiled === 'nothing' || (links === 0 && /folder|link/.test(spoiled));
      if (isOpen) expect(await readText(path)).toBe('x');
      else await expect(readText(path)).rejects.toThrow(/another user|written by others/);
      if (!isOpen) expect(() => readBytesSync(path)).toThrow(/another user|written by others/);
    }),
    { numRuns: rounds(400) },
  );
});

test.skipIf(!isRoot)('a read-only file system needs no modes', async ({ skip }) => {
  const folder = await makeTempFolder();
  const mount = (...args: string[]) => spawnSync('mount', args).status === 0;
  if (!mount('-t', 'tmpfs', '-o', 'mode=0777', 'devsh', folder)) skip('no right to mount here');
  onTestFinished(() => void spawnSync('umount', [folder]));
  await writeFile(join(folder, 'file'), 'x');
  await chmod(join(folder, 'file'), 0o666);
  await symlink('file', join(folder, 'link'));
  await expect(readText(join(folder, 'link'))).rejects.toThrow('written by others');
  expect(mount('-o', 'remount,ro', folder)).toBe(true);
  expect(await readText(join(folder, 'link'))).toBe('x');
  expect(await readText(join(folder, 'file'))).toBe('x');
});

test('says why a file cannot be written, and leaves no draft behind', async () => {
  const folder = await makeTempFolder();
  await mkdir(join(folder, 'taken'));
  const path = join(folder, 'taken');
  await expect(writeTextAtomically(path, 'x')).rejects.toThrow(SettingsError);
  await expect(writeTextAtomically(path, 'x')).rejects.toThrow(`cannot write ${path}`);
  expect(await readdir(folder)).toEqual(['taken']);
  await expect(writeTextAtomically('/proc/devsh/file', 'x')).rejects.toThrow(SettingsError);
});

test('a full disk is said in words', async () => {
  await expect(appendText('/dev/full', 'x\n')).rejects.toThrow(
    'cannot write /dev/full: no space left on the disk',
  );
});

test('ends a line that was cut before it appends the next one', async () => {
  const path = join(await makeTempFolder(), 'log');
  await writeFile(path, 'one\ntw');
  await appendText(path, 'three\n');
  await appendText(path, 'four\n');
  expect(await readFile(path, 'utf8')).toBe('one\ntw\nthree\nfour\n');
});

test('a new file is never put in the place of another one, nor of a link', async () => {
  const folder = await makeTempFolder();
  const [path, linked] = [join(folder, 'users.csv'), join(folder, 'link.csv')];
  await symlink(join(folder, 'elsewhere'), linked);

  const both = await Promise.allSettled([writeNewText(path, 'one'), writeNewText(path, 'two')]);

  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await expect(writeNewText(path, 'three')).rejects.toThrow(`${path} exists already`);
  await expect(writeNewText(linked, 'x')).rejects.toThrow(RefusedError);
  expect(['one', 'two']).toContain(await readFile(path, 'utf8'));
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await readdir(folder)).sort()).toEqual(['link.csv', 'users.csv']);
});

test.skipIf(process.getuid?.() !== 0)(
  'a group may write a file only if it has the number of its user (needs root to be another one)',
  async () => {
    const folder = await makeTempFolder();
    const path = join(folder, 'file');
    await writeFile(path, 'text');
    await chmod(path, 0o664);
    await chmod(folder, 0o755);
    const module = JSON.stringify(join(import.meta.dirname, '../../src/os/files.ts'));
    const program = `const { readText } = await import(${module}); console.log(await readText(${JSON.stringify(path)}))`;
    for (const [uid, gid] of [
      [4321, 4321],
      [4321, 100],
    ] as const) {
      await chown(path, uid, gid);
      const argv = ['--input-type=module', '-e', program];
      const { stdout } = spawnSync(process.execPath, argv, { uid, gid, encoding: 'utf8' });
      expect([gid, stdout]).toEqual([gid, uid === gid ? 'text\n' : '']);
    }
  },
);
