import { UsageError } from '../errors.ts';
import {
  childEnvironment,
  exitOf,
  startProgram,
  whyNotStarted,
  type ProgramExit,
} from './program.ts';

/** Ctrl-C is a key of the editor until the user leaves it. Throws a `UsageError` if it cannot be started. */
export async function runEditor(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ProgramExit> {
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  const child = startProgram(argv, env, { stdio: 'inherit' });
  try {
    return await exitOf(child);
  } catch (error) {
    const why = whyNotStarted(error);
    const message = `cannot start the editor "${argv[0] ?? ''}" ($VISUAL, $EDITOR): ${why}`;
    throw new UsageError(message, { cause: error });
  } finally {
    process.off('SIGINT', ignore);
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
