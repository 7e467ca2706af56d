import { childEnvironment } from './process.ts';

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
}

export type ProgramEnd =
  | {
      readonly kind: 'ended';
      readonly status: number;
      readonly stdout: string;
      readonly stderr: string;
    }
  | { readonly kind: 'not started'; readonly reason: string }
  | { readonly kind: 'late' | 'too long' | 'stopped'; readonly stderr: string };

/** No credential is longer. */
const MAX_BYTES = 64 * 1024;
/** What a program has left behind may hold its output open: it is not waited for. */
const GRACE_MS = 250;

/**
 * Runs a program without a shell and without a terminal, in a process group of its own, which is
 * killed as a whole when it takes too long or says too much. Never rejects.
 */
export function runProgram({
  argv,
  env,
  input,
  limitMs,
  maxBytes = MAX_BYTES,
  signal,
}: ProgramCall): Promise<ProgramEnd> {
  const [command = '', ...args] = argv;
  return new Promise((resolve) => {
    // Loaded only now: most commands start no program.
    const { spawn } = process.getBuiltinModule('node:child_process');
    const child = spawn(command, args, {
      env: childEnvironment(env),
      stdio: 'pipe',
      detached: process.platform !== 'win32',
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
      if (end.kind !== 'ended' && child.pid !== undefined) killGroup(child.pid);
      child.stdout.destroy();
      child.stderr.destroy();
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
      child[name].on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= maxBytes) output[name].push(chunk);
        else finish({ kind: 'too long', stderr: text('stderr') });
      });
    }
    child.on('error', (error) => {
      finish({ kind: 'not started', reason: reasonOf(error) });
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
    child.on('exit', (status) => setTimeout(ended, GRACE_MS, status).unref());
    // A program that reads nothing closes its end: its status tells.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input ?? '');
    if (signal?.aborted === true) stop();
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

function reasonOf(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return 'there is no such program';
  if (error.code === 'EACCES') return 'it may not be executed';
  return error.code ?? 'it cannot be started';
}
