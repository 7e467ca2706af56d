import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end without blocking the simulated devices of this process. */
export function run(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(
      program,
      args,
      { cwd: ROOT, maxBuffer: 64 * 1024 * 1024, ...options },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
        resolve({ code, stdout, stderr });
      },
    );
  });
}

/** Like `run`; throws with the output of a program that failed. */
export async function succeed(...args: Parameters<typeof run>): Promise<string> {
  const { code, stdout, stderr } = await run(...args);
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}: ${stderr}${stdout}`);
  return stdout;
}

export async function makeFolder(atEnd: (cleanUp: () => Promise<void>) => void): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'devsh-package-test-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** What devsh says on stderr with the first reading of a user, and nothing else. */
export const FIRST_READING = /^readings are kept for `changes`[^\n]*\n$/;
