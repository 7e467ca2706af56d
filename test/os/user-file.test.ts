import fc from 'fast-check';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readStandardInput, readUserFile } from '../../src/os/user-file.ts';
import { startProgram } from '../main/process.ts';

const folder = mkdtempSync(join(tmpdir(), 'devsh-file-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function pipe(name: string): string {
  const path = join(folder, name);
  execFileSync('mkfifo', [path]);
  return path;
}

test('a file is read as it is', async () => {
  const path = join(folder, 'plan.yaml');
  writeFileSync(path, 'Jürgen\n');
  expect(await readUserFile(path)).toBe('Jürgen\n');
});

test('a pipe is read to its end, whenever and however slowly it is written', async () => {
  const path = pipe('slow');
  const reading = readUserFile(path);
  spawn('sh', ['-c', 'exec 3>"$0"; echo one >&3; sleep 0.3; echo two >&3', path]);
  expect(await reading).toBe('one\ntwo\n');
});

test('Ctrl-C ends the wait for a pipe without a writer', async () => {
  const { child, ended } = startProgram(
    ['plan', pipe('idle'), '--on', '127.0.0.1:1', '-v'],
    folder,
  );
  const timer = setInterval(() => child.kill('SIGINT'), 1000);
  const { code, signal } = await ended;
  clearInterval(timer);
  expect({ code, signal }).toEqual({ code: 130, signal: null });
});

test.each(['latin1', 'utf16le'] as const)(
  'a file in %s is refused, not garbled',
  async (encoding) => {
    const path = join(folder, encoding);
    writeFileSync(path, '\ufeff- add: Jürgen', encoding);
    await expect(readUserFile(path)).rejects.toThrow('it is not UTF-8 text');
  },
);

test('a file with bytes that no text has is not called text in another encoding', async () => {
  const bytes = fc.uint8Array({ minLength: 40 }).filter((one) => one.some((byte) => byte < 9));
  const property = fc.asyncProperty(bytes, async (tail) => {
    const path = join(folder, 'users.xlsx');
    writeFileSync(path, Buffer.from([0x50, 0x4b, 0xfe, ...tail]));
    await expect(readUserFile(path)).rejects.toThrow('it is no text: save it as CSV, YAML or PEM');
  });
  await fc.assert(property, { numRuns: 30 });
});

test.each(['/dev/zero', '/dev/null', '/dev/full'])('%s is no file', async (path) => {
  await expect(readUserFile(path)).rejects.toThrow(`cannot read ${path}: it is not a file`);
});

test('a folder, and a file that is not there, are said in words', async () => {
  await expect(readUserFile(folder)).rejects.toThrow('it is a folder, not a file');
  await expect(readUserFile(join(folder, 'none'))).rejects.toThrow('the file does not exist');
});

test('a file of a gigabyte, or an input without end, is refused before it fills the memory', async () => {
  const path = join(folder, 'large');
  writeFileSync(path, '');
  truncateSync(path, 1024 ** 3);
  await expect(readUserFile(path)).rejects.toThrow('it is larger than 64 MiB');
  const zeros = spawn('cat', ['/dev/zero'], { stdio: ['ignore', 'pipe', 'ignore'] });
  await expect(readStandardInput(zeros.stdout)).rejects.toThrow(
    'cannot read standard input: it is larger than 64 MiB',
  );
  zeros.kill();
});
