import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { onTestFinished } from 'vitest';
import { main } from '../../src/main.ts';
import {
  startSimulator,
  type SimulatedDevice,
  type SimulatorOptions,
} from '../simulator/simulator.ts';

export interface RunOptions {
  /** Standard input. Default: empty. */
  readonly stdin?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** The working directory. Default: one without project settings. */
  readonly cwd?: string;
  /**
   * A terminal of 100 columns. Each question is answered with the next text and Enter; then the input
   * stays silent.
   */
  readonly tty?: readonly string[];
  /** The width of that terminal. */
  readonly columns?: number;
  /** Sends SIGINT or SIGTERM when this text appears on either stream. */
  readonly stopAt?: { readonly text: string; readonly signal: 'SIGINT' | 'SIGTERM' };
  /** The reader of stdout disconnects after so many characters. */
  readonly brokenPipeAfter?: number;
  /** The disk of stdout is full after so many characters. */
  readonly diskFullAfter?: number;
}

export interface Run {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

export type Devsh = (argv: readonly string[] | string, options?: RunOptions) => Promise<Run>;

/**
 * devsh with its own files, no keychain and an empty environment. They are removed after the test, or
 * with `atEnd`. A line instead of argv is taken apart by `wordsOf`.
 */
export async function makeDevsh(
  base: NodeJS.ProcessEnv = {},
  atEnd: (cleanUp: () => Promise<void>) => void = onTestFinished,
  isFirst = false,
): Promise<Devsh & { folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'devsh-test-'));
  // The screen may still be reading what is pending.
  atEnd(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const home = {
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_DATA_HOME: join(folder, 'data'),
    XDG_STATE_HOME: join(folder, 'state'),
    XDG_CACHE_HOME: join(folder, 'cache'),
  };
  // Not the first start: devsh has already said that it keeps readings.
  if (!isFirst) await mkdir(join(folder, 'state/devsh/readings'), { recursive: true, mode: 0o700 });
  const devsh: Devsh = (argv, options = {}) =>
    runMain(typeof argv === 'string' ? wordsOf(argv) : argv, {
      ...options,
      env: { ...home, ...base, ...options.env },
    });
  return Object.assign(devsh, { folder });
}

/** A line, split at its spaces, but not at those of the folder for temporary files. */
export function wordsOf(line: string): string[] {
  const words = line.replaceAll(tmpdir(), '\0').split(' ');
  return words.map((word) => word.replaceAll('\0', tmpdir()));
}

export interface TestFleet {
  readonly devsh: Devsh & { folder: string };
  readonly devices: readonly SimulatedDevice[];
  /** The device `sim1`, `sim2` ... */
  readonly device: (number: number) => SimulatedDevice;
  /** The writes on all devices. */
  readonly writes: () => readonly string[];
}

export const ADMIN = { DEVSH_USER: 'admin', DEVSH_PASSWORD: 'admin-secret' } as const;

/**
 * Simulated devices as sim1, sim2 ... in the inventory and the group `lab`, pinned, with the admin's
 * password in the environment; each of these can be omitted.
 */
export async function startFleet(
  options: SimulatorOptions & {
    readonly isPinned?: boolean;
    readonly isListed?: boolean;
    readonly env?: NodeJS.ProcessEnv;
    /** Registers the clean-up; a concurrent test passes its own `onTestFinished`. */
    readonly atEnd?: (cleanUp: () => Promise<void>) => void;
  } = {},
): Promise<TestFleet> {
  const {
    isPinned = true,
    isListed = true,
    env = ADMIN,
    atEnd = onTestFinished,
    ...spec
  } = options;
  const simulator = await startSimulator({ users: 8, ...spec });
  atEnd(() => simulator.close());
  const devsh = await makeDevsh(env, atEnd);
  const { devices } = simulator;
  if (isListed) await know(devsh, devices);
  if (isPinned) await trust(devsh, devices);
  return {
    devsh,
    devices,
    device(number) {
      const device = devices[number - 1];
      if (device === undefined) throw new RangeError(`there is no sim${number}`);
      return device;
    },
    writes: () => devices.flatMap((device) => writesOf(device)),
  };
}

/** Writes an inventory, like `device add --group lab`, but all devices at once. */
export async function know(
  { folder }: { readonly folder: string },
  devices: readonly Pick<SimulatedDevice, 'name' | 'address'>[],
  { group = 'lab', profile }: { readonly group?: string; readonly profile?: string } = {},
): Promise<void> {
  const more = profile === undefined ? '' : `    profile: ${profile}\n`;
  const entries = devices.map(
    ({ name, address }) =>
      `  - name: ${name}\n    address: ${address}\n    groups: [${group}]\n${more}`,
  );
  const text = `# Devices that devsh knows by name.\n\ndevices:\n${entries.join('')}`;
  await writeKept(folder, 'config', 'devices.yaml', text);
}

/** Writes the first pins, like `trust accept --fingerprint`. */
export async function trust(
  { folder }: { readonly folder: string },
  devices: readonly Pick<SimulatedDevice, 'address' | 'fingerprint'>[],
): Promise<void> {
  const since = new Date().toISOString();
  const pins = devices.map(
    ({ address, fingerprint }) => `${address} sha256:${fingerprint} first-seen=${since}\n`,
  );
  const text = `# Certificates that devsh trusts, one line a device.\n${pins.join('')}`;
  await writeKept(folder, 'data', 'known-devices', text);
}

/** Writes a file of devsh and its backup. */
async function writeKept(folder: string, place: string, name: string, text: string): Promise<void> {
  for (const inside of [join(folder, place, 'devsh'), join(folder, 'state/devsh/good-copies')]) {
    await mkdir(inside, { recursive: true, mode: 0o700 });
    await writeFile(join(inside, name), text, { mode: 0o600 });
  }
}

/** The writes on a device: `POST /api/user/`. */
export function writesOf(device: SimulatedDevice): string[] {
  return device.log
    .filter(({ method }) => method !== 'GET' && method !== 'OPTIONS')
    .map(({ method, path }) => `${method} ${path}`);
}

export function usernames(device: SimulatedDevice): string[] {
  return device.users.map(({ username }) => username);
}

async function runMain(argv: readonly string[], options: RunOptions): Promise<Run> {
  const { tty, columns, stdin: input = '', stopAt, brokenPipeAfter, diskFullAfter } = options;
  const text = { stdout: '', stderr: '' };
  const streams = {
    stdin: terminal(tty),
    stdout: terminal(tty, columns),
    stderr: terminal(tty, columns),
  };
  let stop: (signal: 'SIGINT' | 'SIGTERM') => void = () => undefined;
  let hasStopped = false;
  const answers = [...(tty ?? [])];
  let answered = 0;

  const watch = (name: 'stdout' | 'stderr') => (chunk: Buffer) => {
    text[name] += chunk.toString();
    if (stopAt !== undefined && !hasStopped && text[name].includes(stopAt.text)) {
      hasStopped = true;
      stop(stopAt.signal);
    }
    if (name === 'stdout' && text.stdout.length > (brokenPipeAfter ?? Infinity)) {
      streams.stdout.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    }
    if (name === 'stdout' && text.stdout.length > (diskFullAfter ?? Infinity)) {
      streams.stdout.destroy(Object.assign(new Error('write ENOSPC'), { code: 'ENOSPC' }));
    }
    const shown = stripVTControlCharacters(text.stderr);
    if (name === 'stderr' && shown.length > answered && /[:?>] $/.test(shown)) {
      const answer = answers.shift();
      answered = shown.length;
      if (answer !== undefined) streams.stdin.write(`${answer}\r`);
    }
  };
  streams.stdout.on('data', watch('stdout'));
  streams.stderr.on('data', watch('stderr'));
  if (tty === undefined) streams.stdin.end(input);

  const exitCode = await main({
    argv,
    env: options.env ?? {},
    cwd: options.cwd,
    ...streams,
    onStop(listener) {
      stop = listener;
      return () => (stop = () => undefined);
    },
  });
  // The last output is still in the stream.
  await new Promise((resolve) => setImmediate(resolve));
  return { ...text, exitCode };
}

function terminal(
  tty: readonly string[] | undefined,
  columns = 100,
): PassThrough & {
  isTTY?: boolean;
  columns?: number;
} {
  const stream = new PassThrough();
  return tty === undefined ? stream : Object.assign(stream, { isTTY: true, columns });
}
