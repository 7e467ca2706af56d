import type {
  ChildProcess,
  ChildProcessWithoutNullStreams,
  SpawnOptions,
} from 'node:child_process';
import { once } from 'node:events';
import { errorCode } from './files.ts';

/**
 * The environment for a program that devsh starts: without devsh's own variables, which may hold
 * secrets, without the login of a proxy, and without NODE_OPTIONS, which would change how one in Node
 * runs.
 */
export function childEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env)
      .filter(([name]) => !/^(DEVSH_|NODE_OPTIONS$)/i.test(name))
      .map(([name, value]) => [name, /_proxy$/i.test(name) ? withoutLogin(value) : value]),
  );
}

/** `http://me:secret@proxy:3128` without what stands before the last `@`. */
function withoutLogin(url: string | undefined): string | undefined {
  return url?.replace(/^(\w+:\/\/)?.*@/s, '$1');
}

interface Start extends Pick<SpawnOptions, 'stdio' | 'detached' | 'windowsHide'> {
  /** A process group of its own: Ctrl-C on the terminal does not reach it, and it has no terminal to ask on. */
  readonly ownGroup?: boolean | undefined;
}

/**
 * Starts a program, as every program is started here: without a shell, and with nothing in its
 * environment that is not for it. It emits `error` when it cannot be started.
 */
export function startProgram(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  options: Start & { readonly stdio: 'pipe' },
): ChildProcessWithoutNullStreams;
export function startProgram(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  options: Start,
): ChildProcess;
export function startProgram(
  [command = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  { ownGroup = false, ...options }: Start,
): ChildProcess {
  // Loaded only now: most commands start no program.
  const { spawn } = process.getBuiltinModule('node:child_process');
  return spawn(command, args, {
    detached: ownGroup && process.platform !== 'win32',
    ...options,
    env: childEnvironment(env),
  });
}

export interface ProgramExit {
  readonly status: number | null;
  readonly killedBy: NodeJS.Signals | null;
}

/** Throws what spawn says of a program that cannot be started. */
export async function exitOf(child: ChildProcess): Promise<ProgramExit> {
  const [status, killedBy] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return { status, killedBy };
}

interface ProgramCall {
  /** Program and arguments; no shell sees them. */
  readonly argv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** What it reads; nothing unless told. */
  readonly input?: string | undefined;
  readonly limitMs: number;
  /** How much it may say on each stream; that of a credential when absent. */
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Nobody reads what it says. */
  readonly ignoreOutput?: boolean | undefined;
  /** Ctrl-C on the terminal ends it as it ends devsh. */
  readonly ourGroup?: boolean | undefined;
}

export type ProgramEnd =
  | {
      readonly kind: 'ended';
      readonly status: number;
      readonly stdout: string;
      readonly stderr: string;
    }
  | { readonly kind: 'not started'; readonly reason: string; readonly cause: Error }
  | { readonly kind: 'late' | 'too long' | 'stopped'; readonly stderr: string };

/** No credential is longer. */
const MAX_BYTES = 64 * 1024;
/** What a program has left behind may hold its output open: it is not waited for. */
const GRACE_MS = 250;

/**
 * Runs a program without a terminal, in a process group of its own unless told, which is killed as a
 * whole when it takes too long or says too much. Never rejects.
 */
export function runProgram({
  argv,
  env,
  input,
  limitMs,
  maxBytes = MAX_BYTES,
  signal,
  ignoreOutput = false,
  ourGroup = false,
}: ProgramCall): Promise<ProgramEnd> {
  return new Promise((resolve) => {
    const heard = ignoreOutput ? 'ignore' : 'pipe';
    const child = startProgram(argv, env, {
      stdio: ['pipe', heard, heard],
      ownGroup: !ourGroup,
      windowsHide: true,
    });
    const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    const text = (name: 'stdout' | 'stderr'): string =>
      Buffer.concat(output[name]).toString('utf8');
    let isOver = false;
    const finish = (end: ProgramEnd): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(limit);
      signal?.removeEventListener('abort', stop);
      if (end.kind !== 'ended') killProgram(child, !ourGroup, 'SIGKILL');
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve(end);
    };
    const stop = (): void => {
      finish({ kind: 'stopped', stderr: text('stderr') });
    };
    const limit = setTimeout(() => {
      finish({ kind: 'late', stderr: text('stderr') });
    }, limitMs);
    signal?.addEventListener('abort', stop);
    for (const name of ['stdout', 'stderr'] as const) {
      let bytes = 0;
      child[name]?.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= maxBytes) output[name].push(chunk);
        else finish({ kind: 'too long', stderr: text('stderr') });
      });
    }
    child.on('error', (error) => {
      finish({ kind: 'not started', reason: whyNotStarted(error), cause: error });
    });
    const ended = (status: number | null): void => {
      finish({
        kind: 'ended',
        status: status ?? -1,
        stdout: text('stdout'),
        stderr: text('stderr'),
      });
    };
    child.on('close', ended);
    child.on('exit', (status) => {
      // What it has said and nobody has read yet, as the machine was busy, is read before that.
      setTimeout(() => setImmediate(ended, status), GRACE_MS).unref();
    });
    // A program that reads nothing closes its end: its status tells.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input ?? '');
    if (signal?.aborted === true) stop();
  });
}

/** With all that it has started, where it has a group of its own. */
export function killProgram(
  child: ChildProcess,
  hasOwnGroup: boolean,
  signal: 'SIGTERM' | 'SIGKILL',
): void {
  try {
    if (hasOwnGroup && child.pid !== undefined && process.platform !== 'win32') {
      process.kill(-child.pid, signal);
    } else {
      child.kill(signal);
    }
  } catch {
    // It has ended by itself.
  }
}

/** Of what spawn said: no path of ours, no call of the system. */
export function whyNotStarted(error: unknown): string {
  const code = errorCode(error);
  if (code === 'ENOENT') return 'there is no such program';
  if (code === 'EACCES') return 'it may not be executed';
  return code ?? 'it cannot be started';
}
