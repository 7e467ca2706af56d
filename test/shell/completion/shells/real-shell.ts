import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inject, onTestFinished, vi } from 'vitest';
import { SeenKeys } from '../../../../src/settings/seen-keys.ts';
import { makeDevsh } from '../../../main/devsh.ts';
import { startInPty } from '../../../pty/harness.ts';

export function hasProgram(name: string): boolean {
  return spawnSync(name, ['--version']).status === 0;
}

/** What devices hold that is hard to type, or dangerous to repeat. */
export const KEYS = [
  'bob',
  'two words',
  'dollar$(touch pwned)$HOME',
  'tick`touch pwned`',
  'semi;touch pwned',
  "O'Brien",
  'dq"uote',
  'back\\slash',
  'colon:one',
  'eq=one',
  '!bang',
  '-dash',
  '~tilde',
  '*star',
  '#hash',
  '(paren',
  'ümlaut',
  'esc\x1b]0;pwned\x07',
  'line\ntouch pwned',
];

/**
 * A folder that holds the files of a user, with devices in groups and names of users last seen, and a
 * `devsh` on the PATH that completes as the real one, and otherwise writes down what it is called with.
 */
export async function makeHome(): Promise<{ folder: string; env: Record<string, string> }> {
  const devsh = await makeDevsh();
  const { folder } = devsh;
  await devsh('device add fw1 10.0.0.5 --group berlin');
  await devsh('device add fw2 10.0.0.6 --group paris');
  const seen = new SeenKeys(join(folder, 'cache', 'devsh', 'seen'), true);
  await seen.keep('10.0.0.5:443', 'user', { keys: KEYS, fields: ['username', 'lang'] });
  await seen.keep('10.0.0.6:443', 'vlan', { keys: ['guest'], fields: ['name'] });
  await mkdir(join(folder, 'files'));
  await writeFile(join(folder, 'files', 'my change.yaml'), '');
  await mkdir(join(folder, 'bin'));
  const program = join(folder, 'bin', 'devsh');
  const real = `'${process.execPath}' '${inject('cli')}'`;
  await writeFile(
    program,
    `#!/bin/sh
case "$1" in __complete|completion) exec ${real} "$@" ;; esac
printf '%s\\0' "$@" > "$CALLED.part"
mv "$CALLED.part" "$CALLED"
`,
  );
  await chmod(program, 0o755);
  return {
    folder,
    env: {
      PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`,
      HOME: folder,
      XDG_CONFIG_HOME: join(folder, 'config'),
      XDG_DATA_HOME: join(folder, 'data'),
      XDG_STATE_HOME: join(folder, 'state'),
      XDG_CACHE_HOME: join(folder, 'cache'),
      LANG: 'C.UTF-8',
      CALLED: join(folder, 'called'),
    },
  };
}

export interface RealShell {
  /** Types, presses Enter, and tells what devsh was then called with. */
  call(keys: string): Promise<readonly string[]>;
  folder: string;
}

/** A shell in a terminal that has loaded its completion, as its user would. */
export async function startShell(
  command: string,
  args: readonly string[],
  setUp: string,
): Promise<RealShell> {
  const { folder, env } = await makeHome();
  const shell = startInPty({ command, args, env, cwd: join(folder, 'files'), cols: 200 });
  onTestFinished(() => shell.close());
  const called = join(folder, 'called');
  const call = async (keys: string): Promise<readonly string[]> => {
    await rm(called, { force: true });
    shell.type(`${keys}\r`);
    const text = await vi.waitUntil(() => readFile(called, 'utf8').catch(() => undefined), {
      timeout: 10_000,
    });
    return text.split('\0').slice(0, -1);
  };
  shell.type(`${setUp}\r`);
  await call('devsh ready');
  return { call, folder };
}
