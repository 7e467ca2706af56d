import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '../../src/os/program.ts';

const SOURCES = join(import.meta.dirname, '../../src');
const env = { PATH: process.env['PATH'], DEVSH_TOKEN: 'secret', https_proxy: 'http://me:pw@p:1' };

function runNode(program: string, limitMs = 10_000) {
  return runProgram({ argv: [process.execPath, '-e', program], env, limitMs });
}

test('no other file of devsh starts a program, so each gets the same environment', async () => {
  const names = await readdir(SOURCES, { recursive: true });
  const sources = names.filter((name) => /\.tsx?$/.test(name));
  const texts = await Promise.all(sources.map((name) => readFile(join(SOURCES, name), 'utf8')));
  const starting = sources.filter((_, index) =>
    /^(?!import type).*node:child_process/m.test(
      texts[index]?.replace(/^import type[^;]*;/gm, '') ?? '',
    ),
  );
  expect(starting.sort()).toEqual(['os/program.ts', 'os/terminal.ts'].map((name) => join(name)));
});

test('a child program gets neither the secrets of devsh nor the login of a proxy', async () => {
  expect(await runNode('console.log(JSON.stringify(process.env))')).toMatchObject({
    kind: 'ended',
    status: 0,
    stdout: expect.stringContaining('"https_proxy":"http://p:1"') as string,
  });
  expect(await runNode('console.log(process.env.DEVSH_TOKEN)')).toMatchObject({
    stdout: 'undefined\n',
  });
});

test('reports the end: a status, a signal, or a timeout', async () => {
  expect(await runNode('console.error("no"); process.exit(3)')).toMatchObject({
    kind: 'ended',
    status: 3,
    stderr: 'no\n',
  });
  expect(await runNode('process.kill(process.pid, "SIGKILL")')).toMatchObject({ status: -1 });
  expect(await runNode('setInterval(() => undefined, 1000)', 300)).toMatchObject({ kind: 'late' });
});

test.each([
  ['/nowhere/program', 'the program does not exist'],
  ['/etc/passwd', 'it is not executable'],
])('%s is not started: %s', async (program, reason) => {
  expect(await runProgram({ argv: [program], env, limitMs: 10_000 })).toMatchObject({
    kind: 'not started',
    reason,
  });
});
