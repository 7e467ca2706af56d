import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { attempt } from '../errors.ts';
import { resolvePaths } from './environment.ts';

/** Absent in Node 20. */
const { enableCompileCache } = module as { enableCompileCache?: (folder: string) => unknown };

/**
 * Lets Node keep the program as it compiled it, where nobody else can put code for us to run: by default Node
 * keeps it in the folder for temporary files. NODE_COMPILE_CACHE and NODE_DISABLE_COMPILE_CACHE are Node's, and win.
 */
export function keepCompiledCode(env: NodeJS.ProcessEnv): void {
  if (enableCompileCache === undefined) return;
  // No folder for it only means that starts take longer.
  const folder = attempt(Error, () => ownFolder(resolvePaths(env).cache));
  if (folder !== undefined) enableCompileCache(folder);
}

/** `compiled` in this cache, without symbolic links; undefined if somebody else could write to a folder of the path. */
function ownFolder(cache: string): string | undefined {
  const folder = join(cache, 'compiled');
  for (const one of [dirname(cache), cache, folder]) {
    // Under sudo the home folder may belong to another user, who could not use files of root.
    if (!existsSync(one) && isOurs(dirname(one))) mkdirSync(one, { mode: 0o700 });
  }
  const real = realpathSync(folder);
  return isOurs(real) && isProtected(dirname(real)) ? real : undefined;
}

/** Owned by this user, and writable for nobody else. */
function isOurs(folder: string, uids = [process.getuid?.()]): boolean {
  const { uid, mode } = statSync(folder);
  return process.getuid === undefined || (uids.includes(uid) && (mode & 0o022) === 0);
}

/** Whether only this user and root can replace the folder. */
function isProtected(folder: string): boolean {
  const above = dirname(folder);
  return isOurs(folder, [process.getuid?.(), 0]) && (above === folder || isProtected(above));
}
