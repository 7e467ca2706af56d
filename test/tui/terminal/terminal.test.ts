import { constants } from 'node:os';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { bundleProgram, type Bundle } from '../../pty/bundle.ts';
import { startInPty, type PtyOptions, type PtyProgram } from '../../pty/harness.ts';

let bundle: Bundle;

beforeAll(async () => {
  bundle = await bundleProgram(new URL('programs/terminal-program.ts', import.meta.url));
});
afterAll(() => bundle.remove());

async function startProgram(options: Partial<PtyOptions> = {}): Promise<PtyProgram> {
  const program = startInPty({ command: process.execPath, args: [bundle.path], ...options });
  onTestFinished(() => program.close());
  await program.waitFor('ready');
  return program;
}

function expectCleanTerminal(program: PtyProgram): void {
  expect(program.buffer).toBe('normal');
  expect(program.cursor.isShown).toBe(true);
  expect(program.modes).toMatchObject({
    bracketedPasteMode: false,
    wraparoundMode: true,
    synchronizedOutputMode: false,
    applicationCursorKeysMode: false,
    applicationKeypadMode: false,
    mouseTrackingMode: 'none',
  });
  expect(program.raw().split('\x1b[22;2t')).toHaveLength(program.raw().split('\x1b[23;2t').length);
}

test('entering takes the alternate screen, keys come one by one, leaving gives all back', async () => {
  const program = await startProgram();
  expect(program.buffer).toBe('alternate');
  expect(program.modes.bracketedPasteMode).toBe(true);
  expect(program.raw()).toContain('\x1b]2;devsh test\x1b\\');
  program.type('ab\r');
  program.press('up');
  program.press('ctrl-c');
  program.paste('x\ny');
  await program.waitFor('keys: a b enter up ctrl-c "x\\ny"');
  expect(program.cursor).toEqual({ row: 0, column: 5, isShown: true });
  program.press('q');
  expect(await program.exit).toEqual({ code: 0, signal: 0 });
  expectCleanTerminal(program);
  expect(program.screen().slice(0, 2)).toEqual(['before', 'left as asked']);
});

describe('every way out leaves a clean terminal', () => {
  test.each(['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'] as const)('%s', async (signal) => {
    const program = await startProgram();
    program.kill(signal);
    expect((await program.exit).signal).toBe(constants.signals[signal]);
    expectCleanTerminal(program);
  });

  test.each([
    ['x', 'an exception', 'Error: broken'],
    ['r', 'an unhandled rejection', 'Error: rejected on purpose'],
  ])('%s: %s, its stack printed after leaving', async (key, _, message) => {
    const program = await startProgram();
    program.press(key);
    expect((await program.exit).code).toBe(70);
    expectCleanTerminal(program);
    const screen = program.screen().join('\n');
    expect(screen).toContain('before');
    expect(screen).toContain(message);
    expect(screen).toMatch(/at .*program\.mjs/);
  });

  test('process.exit', async () => {
    const program = await startProgram();
    program.press('e');
    expect((await program.exit).code).toBe(3);
    expectCleanTerminal(program);
  });
});

test('reports of a mouse that another program has left on type nothing', async () => {
  const program = await startProgram();
  program.type('\x1b[<0;3;4M\x1b[<0;3;4m\x1b[<64;1;1Ma\x1b[M !!b');
  await program.waitFor('keys: a b');
  expect(program.modes.mouseTrackingMode).toBe('none');
});

describe('Ctrl-Z', () => {
  test('hands the terminal to the shell, and fg brings everything back', async () => {
    const program = startInPty({
      command: 'bash',
      args: ['--norc', '--noprofile', '-i'],
      env: { PS1: '$ ', HISTFILE: '' },
    });
    onTestFinished(() => program.close());
    await program.waitFor('$');
    program.type(`${process.execPath} '${bundle.path}'\r`);
    await program.waitFor('ready');
    program.press('a');
    await program.waitFor('keys: a');
    program.press('ctrl-z');
    await program.waitFor('Stopped');
    expect(program.buffer).toBe('normal');
    expect(program.cursor.isShown).toBe(true);
    program.type('fg\r');
    await program.waitFor('keys: a ctrl-z');
    expect(program.buffer).toBe('alternate');
    program.press('b');
    await program.waitFor('keys: a ctrl-z b');
    program.press('q');
    await program.waitFor('left as asked');
    // The shell has bracketed paste of its own.
    expect(program.buffer).toBe('normal');
    program.type('exit\r');
    await program.exit;
  });

  test('comes back by itself if no process could continue it', async () => {
    const program = await startProgram();
    program.press('ctrl-z');
    await program.waitFor(() => program.buffer === 'normal');
    await program.waitFor('keys: ctrl-z');
    expect(program.buffer).toBe('alternate');
    program.press('b');
    await program.waitFor('keys: ctrl-z b');
  });
});

test('after a stop from outside everything is painted again', async () => {
  const program = await startProgram();
  const before = program.raw().length;
  program.kill('SIGCONT');
  await program.waitFor(() => program.raw().slice(before).includes('ready'));
  program.press('k');
  await program.waitFor('keys: k');
  program.press('q');
  await program.exit;
  expectCleanTerminal(program);
});

test('another program has the terminal while it runs, Ctrl-C included', async () => {
  const program = await startProgram();
  program.press('o');
  await program.waitFor('outside');
  expect(program.buffer).toBe('normal');
  program.type('hello\r');
  await program.waitFor('back:0');
  expect(program.buffer).toBe('alternate');
  program.press('o');
  await program.waitFor(() => program.buffer === 'normal');
  await program.waitFor(/outside\n(.*\n)*.*outside/);
  program.press('ctrl-c');
  await program.waitFor('back:null');
  program.press('q');
  expect((await program.exit).code).toBe(0);
  expectCleanTerminal(program);
});

test('a new size is reported and painted', async () => {
  const program = await startProgram();
  program.resize(60, 10);
  await program.waitFor('60x10');
  program.resize(100, 40);
  await program.waitFor('100x40');
});

test('a flood of keys is painted at most 60 times a second', async () => {
  const program = await startProgram();
  const before = program.raw().length;
  const startedAt = performance.now();
  for (let count = 0; count < 50; count++) program.type('k'.repeat(4));
  program.type('m');
  await program.waitFor(/k m/);
  const paints = program.raw().slice(before).split('\x1b[?2026h').length - 1;
  expect(paints).toBeLessThanOrEqual(2 + ((performance.now() - startedAt) * 60) / 1000);
});
