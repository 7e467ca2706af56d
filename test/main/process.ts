import { spawn, type ChildProcess } from 'node:child_process';
import { dirname, join } from 'node:path';
import { inject } from 'vitest';
import { ADMIN } from './devsh.ts';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Program {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** The environment of the built program with the files of a test's `devsh`. */
export function programEnv(folder: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: folder,
    XDG_CONFIG_HOME: `${folder}/config`,
    XDG_DATA_HOME: `${folder}/data`,
    XDG_STATE_HOME: `${folder}/state`,
    XDG_CACHE_HOME: `${folder}/cache`,
    // Compiled once for all tests.
    NODE_COMPILE_CACHE: join(dirname(inject('cli')), 'compiled'),
    NO_COLOR: '1',
    ...ADMIN,
  };
}

/** Starts the built program with the files of a test's `devsh`. */
export function startProgram(
  argv: readonly string[],
  folder: string,
  input = '',
  env: NodeJS.ProcessEnv = {},
): Program {
  const child = spawn(process.execPath, [inject('cli'), ...argv], {
    env: { ...programEnv(folder), ...env },
  });
  const text = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (text.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text.stderr += chunk.toString()));
  // It may be killed before it has read everything.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => {
      resolve({ code, signal, ...text });
    });
  });
  return { child, ended };
}

/** Resolves when `isSo()`, or when the program has ended. */
export function waitUntil(isSo: () => boolean, program: Program): Promise<void> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (isSo()) done();
    }, 1);
    const done = (): void => {
      clearInterval(timer);
      resolve();
    };
    void program.ended.then(done);
  });
}
