import { childEnvironment } from './program.ts';

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
