import { mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RefusedError, SettingsError } from '../../src/errors.ts';
import { appendText, readText, writeNewText, writeTextAtomically } from '../../src/os/files.ts';
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

test('keeps a symbolic link and replaces what it points to', async () => {
  const folder = await makeTempFolder();
  await mkdir(join(folder, 'real'));
  const target = join(folder, 'real', 'file');
  const path = join(folder, 'link');
  await symlink('real/file', path);
  await writeTextAtomically(path, 'first'); // dangling
  await writeTextAtomically(path, 'second');
  expect(await readlink(path)).toBe('real/file');
  expect(await readFile(target, 'utf8')).toBe('second');
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
