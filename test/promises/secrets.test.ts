import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { Vault } from '../../src/credentials/vault.ts';
import { COMMANDS } from '../../src/shell/commands/index.ts';
import { quoteWord } from '../../src/text/words.ts';
import { startProgram, waitUntil } from '../main/process.ts';
import { startInPty, type PtyProgram } from '../pty/harness.ts';
import { startCanaryFleet, type CanaryFleet } from './canary-fleet.ts';
import { sessionLines, type SessionLine } from './session-lines.ts';

/** Every verb of the grammar: `user add`, `connect`. */
const VERBS = COMMANDS.flatMap(({ name, verbs }) =>
  verbs.map((verb) => `${name} ${verb.name}`.trim()),
);

const PROMISE =
  'No secret of yours is in any output, file, argument or process title, in any encoding.';

test('the session below has every command', async () => {
  const lines = sessionLines(await startCanaryFleet());
  const isThere = (verb: string): boolean =>
    lines.some(({ line }) => line === verb || line.startsWith(`${verb} `));
  expect(VERBS.filter((verb) => !isThere(verb))).toEqual([]);
});

test(PROMISE, { timeout: 300_000 }, async () => {
  const fleet = await startCanaryFleet();
  await endBadly(fleet);
  expect(await leaks(fleet)).toEqual([]);
  for (const line of sessionLines(fleet)) {
    await runOnce(fleet, line);
    if (line.line.startsWith('vault init')) await replaceVault(fleet);
  }
  expect(await leaks(fleet)).toEqual([]);
  for (const args of [['--plain'], []]) await typeAll(fleet, args);
  expect(await leaks(fleet)).toEqual([]);
});

/** By one whose passphrase takes no second to check; what `vault init` wrote counts as shown. */
async function replaceVault({ devsh, secrets, shown }: CanaryFleet): Promise<void> {
  const path = join(devsh.folder, 'data/devsh/vault.age');
  shown.push(await readFile(path, 'latin1'));
  await rm(path);
  await new Vault(path, { workFactor: 1 }).create(secrets.passphrase);
}

/** Runs a line as a one-shot, with its trace. */
async function runOnce(fleet: CanaryFleet, { line, stdin, stopAt }: SessionLine): Promise<void> {
  const { stdout, stderr } = await fleet.devsh([...split(line), '-v'], {
    env: fleet.env,
    ...(stdin !== undefined && { stdin }),
    ...(stopAt !== undefined && { stopAt: { text: stopAt, signal: 'SIGINT' } }),
  });
  fleet.shown.push(stdout, stderr);
}

/** Ctrl-C, kill and a crash in the middle of a write, and the list of processes meanwhile. */
async function endBadly({ devsh, env, devices, secrets, shown }: CanaryFleet): Promise<void> {
  const [device] = devices;
  const crash = join(devsh.folder, 'crash.mjs');
  await writeFile(
    crash,
    `globalThis.URLSearchParams = class { constructor() { throw new TypeError('a bug'); } };`,
  );
  const argv = [
    'user',
    'add',
    'username=zoe',
    `password=${secrets.newUser}`,
    '--on',
    'sim1',
    '--yes',
    '-v',
  ];
  device?.setFault('silence', true, { method: 'POST' });
  for (const end of ['SIGINT', 'SIGKILL', 'crash'] as const) {
    const options =
      end === 'crash' ? { NODE_OPTIONS: `--import ${pathToFileURL(crash).href}` } : {};
    const before = device?.log.length ?? 0;
    const argvHere = [...argv, '--timeout', '3'];
    const program = startProgram(argvHere, devsh.folder, '', { ...env, ...NO_LOGIN, ...options });
    const isWriting = (): boolean =>
      device?.log.slice(before).some(({ method }) => method === 'POST') === true;
    await waitUntil(isWriting, program);
    if (end !== 'crash') {
      if (!isWriting()) throw new Error(JSON.stringify(await program.ended));
      shown.push(await readFile(`/proc/${program.child.pid ?? 0}/cmdline`, 'utf8'));
      shown.push(await readFile(`/proc/${program.child.pid ?? 0}/comm`, 'utf8'));
      program.child.kill(end);
      program.child.kill(end);
    }
    const { stdout, stderr, code } = await program.ended;
    if (end === 'crash') expect([code, stderr]).toEqual([70, expect.stringContaining('a bug')]);
    shown.push(stdout, stderr);
  }
  device?.clearFaults();
}

/** The logins come from the programs in the inventory. */
const NO_LOGIN = { DEVSH_USER: undefined, DEVSH_PASSWORD: undefined };

/** Lines that need more input, or another terminal, and are not typed at a prompt. */
const NOT_TYPED =
  /^(connect|demo|simulator --port|quit|vault init|login sim1|run -)|--watch|-stdin/;

/** Lines for the full screen, whose outputs are the same: these show typed and remembered text, and questions. */
const ON_SCREEN = /^(user (list '|add|set|show)|post|history|credentials|runs show)/;

/** Types all lines at the prompt, plain or on the full screen. */
async function typeAll(fleet: CanaryFleet, args: readonly string[]): Promise<void> {
  await rm(join(fleet.devsh.folder, 'state/devsh/history'), { force: true });
  const program = startInPty({
    command: process.execPath,
    args: [inject('cli'), 'connect', '@all-of-them', ...args],
    cols: 160,
    rows: 40,
    env: fleet.env,
  });
  onTestFinished(() => program.close());
  const isPlain = args.includes('--plain');
  // The echo may refuse the login now: a question ends with Ctrl-C.
  await settle(program, isPlain);
  for (const { line } of sessionLines(fleet).filter(
    (one) => !NOT_TYPED.test(one.line) && (isPlain || ON_SCREEN.test(one.line)),
  )) {
    const before = program.raw().length + line.length;
    program.type(`${line} -v\r`);
    await program.waitFor(() => program.raw().length > before);
    await settle(program, isPlain);
  }
  const path = join(fleet.devsh.folder, 'state/devsh/history');
  const history = (): Promise<string> => readFile(path, 'utf8').catch(() => '');
  await expect.poll(history, { timeout: 15_000 }).toContain('credentials @all-of-them --json -v\n');
  expect((await history()).replaceAll(/^rotate password /gm, '')).not.toContain('password');
  // Typed and never submitted.
  program.type(`user add username=never password=${quoteWord(fleet.secrets.newUser)}`);
  await program.waitFor('•••');
  program.press('ctrl-c');
  fleet.shown.push(program.raw());
  program.kill('SIGTERM');
  await program.exit;
}

/** Closes overlays and waits until the prompt takes the next line. */
async function settle(program: PtyProgram, isPlain: boolean): Promise<void> {
  const lastLine = (screen: readonly string[]): string =>
    screen.filter((line) => line !== '').at(-1) ?? '';
  if (isPlain) {
    // The prompt and questions wait on the line of the cursor; what is printed ends its lines.
    const waiting = (): string => program.screen()[program.cursor.row] ?? '';
    await untilRest(program, () => /^(devsh[^>]*>|(?! *["#✗]).*[?:]) ?$/.test(waiting()));
    if (!waiting().includes('devsh')) program.press('ctrl-c');
    await program.waitFor(() => /^devsh[^>]*> ?$/.test(waiting()));
    return;
  }
  for (;;) {
    await program.waitFor((screen) => !/Ctrl-C cancels/i.test(screen.join('\n')), 15_000);
    if (lastLine(program.screen()).includes('enter run')) break;
    const before = program.raw().length;
    if (lastLine(program.screen()).includes(': prompt')) program.type(':');
    else program.press('escape');
    await program.waitFor(() => program.raw().length > before);
  }
  program.press('ctrl-u');
}

/** Until the screen shows this and nothing more is printed: a part of an output may look the same. */
async function untilRest(program: PtyProgram, isShown: () => boolean): Promise<void> {
  let [printed, since] = [-1, 0];
  const isAtRest = (): boolean => {
    const { length } = program.raw();
    if (length !== printed) [printed, since] = [length, performance.now()];
    return isShown() && performance.now() - since > 50;
  };
  await vi.waitUntil(isAtRest, { timeout: 15_000, interval: 10 });
}

function split(line: string): string[] {
  return Array.from(
    line.matchAll(/'([^']*)'|(\S+)/g),
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );
}

async function leaks({ canaries, devsh, shown, seenByPrograms }: CanaryFleet): Promise<string[]> {
  return [
    ...shown.flatMap((text) => canaries.foundIn(text)),
    ...(await canaries.foundBelow(devsh.folder)),
    ...canaries.foundIn(await readFile(seenByPrograms)),
  ];
}
