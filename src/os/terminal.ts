import { UsageError } from '../errors.ts';
import {
  childEnvironment,
  exitOf,
  startProgram,
  whyNotStarted,
  type ProgramExit,
} from './program.ts';

interface TerminalProgram {
  /** The program's role for the user, and the variables that configure it. */
  readonly role: string;
  readonly variables: string;
  readonly env: NodeJS.ProcessEnv;
  /** Standard input; the terminal by default. */
  readonly input?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Ctrl-C is a key of the program until the user leaves it. Throws a `UsageError` if it cannot be started. */
export async function runInTerminal(
  argv: readonly string[],
  { role, variables, env, input, signal }: TerminalProgram,
): Promise<ProgramExit> {
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  const stdin = input === undefined ? 'inherit' : 'pipe';
  const child = startProgram(argv, env, { stdio: [stdin, 'inherit', 'inherit'] });
  const stop = (): void => void child.kill();
  signal?.addEventListener('abort', stop);
  // A user who leaves early closes the pipe.
  child.stdin?.on('error', ignore);
  child.stdin?.end(input);
  try {
    return await exitOf(child);
  } catch (error) {
    const why = whyNotStarted(error);
    const message = `cannot start the ${role} "${argv[0] ?? ''}" (${variables}): ${why}`;
    throw new UsageError(message, { cause: error });
  } finally {
    process.off('SIGINT', ignore);
    signal?.removeEventListener('abort', stop);
  }
}

/** Undefined without stty. Synchronous: it must be done before the next key, or before the process ends. */
export function stty(mode: string): string | undefined {
  if (process.platform === 'win32') return undefined;
  // Loaded only now: only a prompt on a terminal needs it.
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const { status, stdout } = spawnSync('stty', [mode], {
    env: childEnvironment(process.env),
    stdio: ['inherit', 'pipe', 'ignore'],
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trim() : undefined;
}
