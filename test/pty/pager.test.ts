import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { ADMIN, connect, goToTable, simulate, startDevsh } from './devsh.ts';
import { startInPty } from './harness.ts';

const hasLess = spawnSync('less', ['--version']).status === 0;

/** A pager that is a script in Node. */
async function pager(script: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'devsh-pager-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'a pager.mjs');
  await writeFile(file, script);
  return `'${process.execPath}' "${file}" --more`;
}

test.skipIf(!hasLess)('what is longer than the screen is shown by less, until q', async () => {
  const program = await startDevsh(['help'], { rows: 12 });
  await program.waitFor(/^:$/m);
  expect(program.screen()[0]).toContain('devsh');
  // A key of less: neither less nor devsh ends.
  program.press('ctrl-c');
  program.press('ctrl-c');
  // It also takes what was typed after it.
  await vi.waitUntil(
    () => {
      program.type('G');
      return program.screen().includes('(END)');
    },
    { timeout: 10_000, interval: 100 },
  );
  program.type('q');
  expect(await program.exit).toEqual({ code: 0, signal: 0 });
});

test.each([
  [['--no-pager'], {}],
  [['-q'], {}],
  [[], { DEVSH_PAGER: 'cat' }],
  [[], { PAGER: '' }],
])('no pager: help %o with %o', async (args, env) => {
  const never = await pager(`console.log('PAGING'); setInterval(() => {}, 1000);`);
  const program = await startDevsh(['help', ...args], { rows: 12, env: { PAGER: never, ...env } });
  expect((await program.exit).code).toBe(0);
  expect(program.raw()).not.toContain('PAGING');
});

test('a pager with arguments gets colours and no secrets, and may close at once', async () => {
  const simulator = await simulate({ users: 3000 });
  const PAGER = await pager(
    `process.stdout.write([process.argv[2], process.env.LESS, process.env.DEVSH_PASSWORD].join(' ') + '\\n');`,
  );
  const [device] = simulator.devices;
  const args = ['user', 'list', '--on', `${device?.address ?? ''},127.0.0.9:1`, '--insecure'];
  const program = await startDevsh(args, { env: { ...ADMIN, PAGER } });
  expect(await program.exit).toEqual({ code: 3, signal: 0 });
  const text = program.screen().join('\n');
  expect(text).toMatch(/^--more FRX $/m);
  // Errors come after the pager.
  expect(text).toContain('127.0.0.9:1: ');
  expect(text).not.toContain('EPIPE');
});

test('a pager that does not exist is said, and the output printed', async () => {
  const env = { PAGER: 'nosuch -x' };
  // The last lines of a program that ends may never be read, so that it goes on.
  const program = await startDevsh(['--plain'], { rows: 50, cols: 60, env });
  await program.waitFor('devsh>');
  program.type('help all\r');
  // It may have scrolled away.
  await expect.poll(() => program.raw()).toContain('cannot start the pager "nosuch"');
  await expect.poll(() => program.raw()).toContain('DEVSH_PAGER');
});

test.skipIf(!hasLess)('a signal ends devsh and less, and the terminal is as before', async () => {
  const home = await mkdtemp(join(tmpdir(), 'devsh-pager-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const devsh = `'${process.execPath}' '${inject('cli')}' help`;
  const program = startInPty({
    command: 'bash',
    args: [
      '-c',
      `A=$(stty -g); ${devsh}; echo "ended $?"; [ "$A" = "$(stty -g)" ] && echo RESTORED`,
    ],
    rows: 12,
    env: { HOME: home },
  });
  onTestFinished(() => program.close());
  await program.waitFor(/^:$/m);
  const [child = ''] = childrenOf(program.pid);
  const [less = ''] = childrenOf(Number(child));
  process.kill(Number(child), 'SIGTERM');
  await program.waitFor('ended 143');
  await program.waitFor('RESTORED');
  expect(() => process.kill(Number(less), 0)).toThrow('ESRCH');
});

function childrenOf(pid: number): string[] {
  return execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
    .trim()
    .split(/\s+/);
}

test.skipIf(!hasLess)('at the plain prompt, too, and then the prompt is back', async () => {
  const program = await startDevsh(['--plain'], { rows: 12 });
  await program.waitFor('devsh>');
  program.type('help\r');
  await program.waitFor(/^:$/m);
  program.type('q');
  await program.waitFor(/devsh> $/m);
  program.type('nonsense\r');
  await program.waitFor('there is no command "nonsense"');
});

test.skipIf(!hasLess)('| shows the table and texts in less, and the screen is back', async () => {
  const program = await connect(await simulate());
  await goToTable(program);
  program.type('|');
  await program.waitFor(/^\(END\)|^:$/m);
  expect(program.screen().join('\n')).toMatch(/^USERNAME.* FIRST NAME/m);
  program.type('q');
  await program.waitFor(': prompt');
  expect(program.buffer).toBe('alternate');
  program.type('?');
  await program.waitFor('esc back');
  program.type('|');
  await program.waitFor(/^\(END\)|^:$/m);
  program.type('q');
  await program.waitFor('esc back');
});
