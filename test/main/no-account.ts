import { cp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { inject } from 'vitest';
import { type Ran, run, succeed } from '../package/programs.ts';

/** Only root may start a program as somebody else. */
export const IS_ROOT = process.getuid?.() === 0;

/**
 * Starts programs as a uid without an account, as a container does, to which the folder belongs from now on;
 * as the own uid without the rights for that. The built program is `devsh` in their PATH.
 */
export async function startAsUid(
  uid: number,
  folder: string,
): Promise<(argv: readonly string[], env: NodeJS.ProcessEnv) => Promise<Ran>> {
  // A checkout may be closed to others.
  await cp(dirname(inject('cli')), join(folder, 'image/dist'), { recursive: true });
  await mkdir(join(folder, 'image/bin'));
  const script = `#!/bin/sh\nexec '${process.execPath}' '${folder}/image/dist/cli.js' "$@"\n`;
  await writeFile(join(folder, 'image/bin/devsh'), script, { mode: 0o755 });
  if (IS_ROOT) await succeed('chown', ['-R', `${uid}:${uid}`, folder]);
  const prefix = IS_ROOT
    ? ['setpriv', '--reuid', `${uid}`, '--regid', `${uid}`, '--clear-groups']
    : ['env'];
  const path = `${folder}/image/bin:${process.env['PATH'] ?? ''}`;
  return (argv, env) => {
    const [program = '', ...args] = [...prefix, ...argv];
    return run(program, args, { cwd: folder, env: { PATH: path, ...env } });
  };
}
