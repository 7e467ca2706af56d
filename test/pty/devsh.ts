import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, inject, onTestFailed, onTestFinished } from 'vitest';
import { startSimulator, type Simulator } from '../simulator/simulator.ts';
import { startInPty, type PtyProgram } from './harness.ts';

export interface StartOptions {
  readonly cols?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Devices whose certificates are pinned. */
  readonly known?: readonly Pick<Simulator['devices'][number], 'address' | 'fingerprint'>[];
  /** The text of devices.yaml. */
  readonly inventory?: string;
}

/** Runs when what is started now is no longer needed: after the test, or after all that share it. */
export let atEnd: (cleanUp: () => Promise<void>) => void = onTestFinished;

/**
 * What all tests of a file or a `describe` share, one after the other: starting devsh takes longer than most of them.
 * `again` makes it ready for the next one. After a test that failed it is started anew.
 */
export function shared<T>(start: () => Promise<T>, again: (it: T) => Promise<void>): () => T {
  const cleanUps: (() => Promise<void>)[] = [];
  let it: { readonly value: T } | undefined;
  const end = async (): Promise<void> => {
    it = undefined;
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  };
  beforeEach(async () => {
    onTestFailed(end);
    if (it !== undefined) {
      await again(it.value);
      return;
    }
    atEnd = (cleanUp) => cleanUps.push(cleanUp);
    try {
      it = { value: await start() };
    } finally {
      atEnd = onTestFinished;
    }
  });
  afterAll(end);
  return () => {
    if (it === undefined) throw new Error('only within a test');
    return it.value;
  };
}

/** Escape in the encoding that does not become Alt with the next key (kitty keyboard protocol). */
export const ESCAPE = '\x1b[27u';

/** From anywhere to the empty prompt, with the first row of the table above it, and no filter or marks. */
export async function startOver(
  program: PtyProgram,
  { cols = 100, rows = 30 }: Pick<StartOptions, 'cols' | 'rows'> = {},
): Promise<void> {
  await program.waitFor(isQuiet);
  program.resize(cols, rows);
  program.type(ESCAPE.repeat(8));
  await program.waitFor(': prompt');
  // A key is dropped that comes right after the focus has moved by itself.
  const again = setInterval(() => program.type('g:'), 400);
  program.type('g:');
  await program.waitFor(/^▸devsh/m).finally(() => clearInterval(again));
  // To the end of the line, and all of it away.
  program.type('\x05\x15');
  await program.waitFor(/^▸devsh.*[>…] *$/m);
}

/** The built program in a pty, with its own folders; ends with the test. */
export async function startDevsh(
  args: readonly string[],
  { cols = 100, rows = 30, env = {}, known = [], inventory }: StartOptions = {},
): Promise<PtyProgram> {
  const home = await mkdtemp(join(tmpdir(), 'devsh-pty-'));
  if (known.length > 0) {
    const pins = known.map(
      ({ address, fingerprint }) => `${address} sha256:${fingerprint} first-seen=2026-01-02\n`,
    );
    const folder = join(env['XDG_DATA_HOME'] ?? join(home, 'data'), 'devsh');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(join(folder, 'known-devices'), pins.join(''), { mode: 0o600 });
    // Whoever knows devices has read them before, and seen the note about it.
    const state = join(env['XDG_STATE_HOME'] ?? join(home, 'state'), 'devsh');
    await mkdir(join(state, 'readings'), { recursive: true, mode: 0o700 });
  }
  if (inventory !== undefined) {
    await mkdir(join(home, 'config/devsh'), { recursive: true, mode: 0o700 });
    await writeFile(join(home, 'config/devsh/devices.yaml'), inventory, { mode: 0o600 });
  }
  const program = startInPty({
    command: process.execPath,
    args: [inject('cli'), ...args],
    cols,
    rows,
    env: {
      HOME: home,
      XDG_CONFIG_HOME: join(home, 'config'),
      XDG_DATA_HOME: join(home, 'data'),
      XDG_STATE_HOME: join(home, 'state'),
      XDG_CACHE_HOME: join(home, 'cache'),
      // Compiled once for all tests.
      NODE_COMPILE_CACHE: join(dirname(inject('cli')), 'compiled'),
      ...env,
    },
  });
  atEnd(async () => {
    await program.close();
    await rm(home, { recursive: true, force: true });
  });
  return program;
}

/** Simulated devices that end with the test. */
export async function simulate(
  options: Parameters<typeof startSimulator>[0] = {},
): Promise<Simulator> {
  const simulator = await startSimulator({ users: 8, ...options });
  atEnd(() => simulator.close());
  return simulator;
}

/** The environment of a terminal with this account. */
export const ADMIN = { DEVSH_USER: 'admin', DEVSH_PASSWORD: 'admin-secret' };

/** devsh connected to trusted simulated devices, with the table filled. */
export async function connect(
  simulator: Simulator,
  { args = [], ...options }: StartOptions & { readonly args?: readonly string[] } = {},
): Promise<PtyProgram> {
  const addresses = simulator.devices.map(({ address }) => address);
  const program = await startDevsh(['connect', ...addresses, ...args], {
    known: simulator.devices,
    ...options,
    env: { ...ADMIN, ...options.env },
  });
  await program.waitFor('connected to');
  await program.waitFor(isQuiet);
  return program;
}

/** Whether no line runs, so that the screen is stable. */
export function isQuiet(screen: readonly string[]): boolean {
  return !screen.join('\n').includes('Ctrl-C cancels');
}

/** Answers the question on the screen as soon as it accepts an answer. */
export async function answer(program: PtyProgram, text: string): Promise<void> {
  await program.waitFor('answer>');
  program.type(`${text}\r`);
}

/** From the prompt to the table. Waits, because Escape with a key right after it would be Alt. */
export async function goToTable(program: PtyProgram): Promise<void> {
  program.press('escape');
  await program.waitFor(': prompt');
}
