import type {
  ChildProcess,
  ChildProcessWithoutNullStreams,
  SpawnOptions,
} from 'node:child_process';
import { errorCode } from './files.ts';

/** Without devsh's own variables and proxy logins, which may be secret, and without NODE_OPTIONS. */
export function childEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env)
      .filter(([name]) => !/^(DEVSH_|NODE_OPTIONS$)/i.test(name))
      .map(([name, value]) => [name, /_proxy$/i.test(name) ? withoutLogin(value) : value]),
  );
}

/** `http://me:secret@proxy:3128` without the login, which ends at the last `@`. */
function withoutLogin(url: string | undefined): string | undefined {
  return url?.replace(/^(\w+:\/\/)?.*@/s, '$1');
}

interface Start extends Pick<SpawnOptions, 'stdio' | 'windowsHide'> {
  /** A process group of its own: Ctrl-C on the terminal does not reach it, and it cannot prompt there. */
  readonly ownGroup?: boolean | undefined;
  /** Further variables, unfiltered. */
  readonly given?: NodeJS.ProcessEnv | undefined;
}

/** Without a shell, the environment filtered; every program starts here. Emits `error` if it cannot be started. */
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
  { ownGroup = false, given, ...options }: Start,
): ChildProcess {
  // Loaded only now: most commands start no program.
  const { spawn } = process.getBuiltinModule('node:child_process');
  return spawn(command, args, {
    detached: ownGroup && process.platform !== 'win32',
    ...options,
    env: { ...childEnvironment(env), ...given },
  });
}

interface ProgramCall {
  /** Program and arguments; no shell sees them. */
  readonly argv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly given?: NodeJS.ProcessEnv | undefined;
  /** Its standard input; empty by default. */
  readonly input?: string | undefined;
  readonly limitMs: number;
  /** Limit for each output stream; by default that of a credential. */
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly ignoreOutput?: boolean | undefined;
  /** Ctrl-C on the terminal ends it as it ends devsh. */
  readonly ourGroup?: boolean | undefined;
}

type Printed = Readonly<Record<'stdout' | 'stderr', string>>;

export type ProgramEnd =
  | ({ readonly kind: 'ended'; readonly status: number } & Printed)
  | { readonly kind: 'not started'; readonly reason: string; readonly cause: Error }
  | ({ readonly kind: 'late' | 'too long' | 'stopped' } & Printed);

/** The longest credential. */
const MAX_BYTES = 64 * 1024;
/** Background processes of a program may keep its output open: they get no more time than this. */
const GRACE_MS = 250;

/** Without a terminal; killed with its process group if it takes too long or prints too much. Never rejects. */
export function runProgram({
  argv,
  env,
  given,
  input,
  limitMs,
  maxBytes = MAX_BYTES,
  signal,
  ignoreOutput = false,
  ourGroup = false,
}: ProgramCall): Promise<ProgramEnd> {
  return new Promise((resolve) => {
    const outputMode = ignoreOutput ? 'ignore' : 'pipe';
    const child = startProgram(argv, env, {
      stdio: ['pipe', outputMode, outputMode],
      ownGroup: !ourGroup,
      given,
      windowsHide: true,
    });
    const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    const printed = (): Printed => ({
      stdout: Buffer.concat(output.stdout).toString(),
      stderr: Buffer.concat(output.stderr).toString(),
    });
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
    const stop = (): void => finish({ kind: 'stopped', ...printed() });
    const limit = setTimeout(() => finish({ kind: 'late', ...printed() }), limitMs);
    signal?.addEventListener('abort', stop);
    for (const name of ['stdout', 'stderr'] as const) {
      let bytes = 0;
      child[name]?.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= maxBytes) output[name].push(chunk);
        else finish({ kind: 'too long', ...printed() });
      });
    }
    child.on('error', (error) => {
      finish({ kind: 'not started', reason: whyNotStarted(error), cause: error });
    });
    const ended = (status: number | null): void =>
      finish({ kind: 'ended', status: status ?? -1, ...printed() });
    child.on('close', ended);
    child.on('exit', (status) => {
      // On a busy machine output may still be unread at exit: it is read first.
      setTimeout(() => setImmediate(ended, status), GRACE_MS).unref();
    });
    // A program that reads no input closes its end; its status decides.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input ?? '');
    if (signal?.aborted === true) stop();
  });
}

/** Also kills everything that the program has started, if it has its own group. */
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

/** The reason in spawn's error, without our paths and system calls. */
export function whyNotStarted(error: unknown): string {
  const code = errorCode(error);
  if (code === 'ENOENT') return 'the program does not exist';
  if (code === 'EACCES') return 'it is not executable';
  return code ?? 'it cannot be started';
}
