import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import type { Simulator } from '../simulator/simulator.ts';
import { ADMIN, answer, goToTable, isQuiet, simulate } from './devsh.ts';
import { startInPty, type PtyProgram } from './harness.ts';

const ADD = 'user add username=zed first_name=Zed lastname=Zulu lang=en';

/** A shell with job control, without which devsh could not be stopped. */
interface JobShell {
  readonly program: PtyProgram;
  readonly home: string;
  /** Types a command; resolves when the shell has run it and printed `said`. */
  readonly run: (command: string, said: string) => Promise<void>;
}

/** `sh` leaves the modes of the terminal unchanged; bash resets them after a job. */
async function startShell(simulator: Simulator): Promise<JobShell> {
  const home = await mkdtemp(join(tmpdir(), 'devsh-suspend-'));
  const program = startInPty({
    command: '/bin/sh',
    args: ['-i'],
    cols: 100,
    rows: 30,
    env: {
      ...ADMIN,
      PS1: 'shell> ',
      HOME: home,
      NODE: process.execPath,
      CLI: inject('cli'),
      DEVICES: simulator.devices.map(({ address }) => address).join(' '),
    },
  });
  onTestFinished(async () => {
    await program.close();
    await rm(home, { recursive: true, force: true });
  });
  let number = 0;
  const run = async (command: string, said: string): Promise<void> => {
    number += 1;
    // A line typed before the prompt would be echoed after it.
    await program.waitFor(/^shell> ?$/m);
    // The typed line does not contain its output.
    program.type(`${command}; echo ${said}/$((${number} + 1000))\r`);
    await program.waitFor(new RegExp(`^\\S*/${number + 1000}$`, 'm'));
  };
  await run('before=$(stty -g)', 'begun');
  return { program, home, run };
}

/** Starts devsh from the shell; its process id is in a file. */
async function connectFrom({ program }: JobShell, options = ''): Promise<void> {
  program.type(
    `sh -c 'echo $$ > "$HOME/pid"; exec "$@"' - "$NODE" "$CLI" connect $DEVICES --insecure ${options}\r`,
  );
  await program.waitFor('connected to');
  await program.waitFor(isQuiet);
}

/** Presses Ctrl-Z, checks the terminal, returns with fg, and checks the screen. */
async function suspendAndReturn(shell: JobShell): Promise<void> {
  const { program } = shell;
  const before = { screen: program.screen(), cursor: { ...program.cursor } };
  await suspend(shell);
  program.type('fg\r');
  await vi.waitFor(() => {
    expect(program.screen()).toEqual(before.screen);
  }, 10_000);
  expect(program.buffer).toBe('alternate');
  expect(program.modes.bracketedPasteMode).toBe(true);
  expect(program.cursor.isShown).toBe(before.cursor.isShown);
  // A hidden cursor may be anywhere.
  if (before.cursor.isShown) expect({ ...program.cursor }).toEqual(before.cursor);
}

async function suspend(shell: JobShell): Promise<void> {
  shell.program.press('ctrl-z');
  await shell.program.waitFor(/Stopped/);
  await expectTerminalOf(shell);
}

async function expectTerminalOf({ program, run }: JobShell): Promise<void> {
  expect(program.buffer).toBe('normal');
  expect(program.cursor.isShown).toBe(true);
  expect(program.modes.bracketedPasteMode).toBe(false);
  await run('clear; stty -a', '"$([ "$(stty -g)" = "$before" ] && echo same)"');
  const shown = program.screen().join('\n');
  expect(shown).toMatch(/^same\/\d+$/m);
  expect(shown).toMatch(/(?<!-)\bicanon\b/);
  expect(shown).toMatch(/(?<!-)\becho\b/);
}

const holders = (simulator: Simulator): number[] =>
  simulator.devices.map(({ users }) => users.filter(({ username }) => username === 'zed').length);

const posts = (simulator: Simulator): number[] =>
  simulator.devices.map(({ log }) => log.filter(({ method }) => method === 'POST').length);

test('Ctrl-Z gives the terminal to the shell, and fg the whole screen back: prompt, table, form, question', async () => {
  const simulator = await simulate({ profile: 'drf' });
  const shell = await startShell(simulator);
  const { program } = shell;
  await connectFrom(shell, '--profile drf');
  program.type('user delete vie');
  await program.waitFor('user delete [KEY…]');
  // What completes the word is offered after a pause.
  await program.waitFor('↹ next');
  await suspendAndReturn(shell);
  program.type('wer\r');
  await program.waitFor('answer>');
  await suspendAndReturn(shell);
  await answer(program, 'y');
  await program.waitFor('✓ viewer  deleted');
  await program.waitFor(isQuiet);

  await goToTable(program);
  program.press('down');
  await program.waitFor(/^▸. daisuke/m);
  await suspendAndReturn(shell);
  program.press('a');
  await program.waitFor('fields as the device reports them');
  program.type('Carol');
  await program.waitFor(/First name +\[Carol/);
  await suspendAndReturn(shell);
  program.type('ine\r');
  await program.waitFor(/First name +\[Caroline/);
});

test('a roll-out stopped with Ctrl-Z goes on with fg, and sends nothing twice', async () => {
  const simulator = await simulate({ devices: 4, latencyMs: 150 });
  const shell = await startShell(simulator);
  const { program } = shell;
  await connectFrom(shell);
  program.type(`${ADD}\r`);
  await program.waitFor('Type 4 to do them');
  await answer(program, '4');
  await program.waitFor(/roll-out · [1-3] of 4 devices/);
  await suspend(shell);
  expect(holders(simulator)).toContain(0);
  program.type('fg\r');
  await program.waitFor(/✓ zed {2}added/);
  expect(program.buffer).toBe('alternate');
  expect(posts(simulator)).toEqual([1, 1, 1, 1]);
  program.press('ctrl-d');
  await program.waitFor(/^shell> ?$/m);
  await expectTerminalOf(shell);
});

test('SIGTERM in a roll-out gives the terminal back; resume does the rest, and nothing twice', async () => {
  const simulator = await simulate({ devices: 4, latencyMs: 150 });
  const shell = await startShell(simulator);
  const { program, home, run } = shell;
  await connectFrom(shell);
  program.type(`${ADD}\r`);
  await program.waitFor('Type 4 to do them');
  await answer(program, '4');
  await program.waitFor(/roll-out · [1-3] of 4 devices/);
  const before = holders(simulator);
  expect(before).toContain(0);
  process.kill(Number(await readFile(join(home, 'pid'), 'utf8')), 'SIGTERM');
  await program.waitFor('Terminated');
  await run('status=$?', '$status');
  expect(program.screen().join('\n')).toMatch(/^143\/\d+$/m);
  await expectTerminalOf(shell);

  await run('clear; "$NODE" "$CLI" resume --yes --insecure', '$?');
  expect(program.screen().join('\n')).toMatch(/^0\/\d+$/m);
  expect(holders(simulator)).toEqual([1, 1, 1, 1]);
  const sent = posts(simulator);
  for (const [index, held] of before.entries()) if (held === 1) expect(sent[index]).toBe(1);
  await run('clear; "$NODE" "$CLI" resume --yes --insecure', '$?');
  expect(posts(simulator)).toEqual(sent);
});

test('the plain prompt and its hidden question come back with fg as well', async () => {
  const shell = await startShell(await simulate());
  const { program } = shell;
  program.type('unset DEVSH_USER DEVSH_PASSWORD; clear\r');
  program.type('"$NODE" "$CLI" connect $DEVICES --insecure --plain\r');
  await program.waitFor('User name');
  program.type('admin\r');
  await program.waitFor('Password of admin');
  await suspend(shell);
  program.type('clear; fg\r');
  await program.waitFor('Password of admin');
  program.type('admin-secret\r');
  await program.waitFor('8 records');
  await program.waitFor(/devsh [^>]*> ?$/m);
  program.type('user show vie');
  await program.waitFor('> user show vie');
  await suspend(shell);
  program.type('clear; fg\r');
  await program.waitFor('> user show vie');
  program.type('wer\r');
  await program.waitFor(/Reader/);
  expect(program.raw()).not.toContain('admin-secret');
});
