import { existsSync, mkdirSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { dirname, join } from 'node:path';
import { resolvePaths } from './settings/paths.ts';

/**
 * Lets Node keep what it compiles of the program in the user's cache: a tenth of each start. Without it, or
 * with a damaged one, a start only takes that longer.
 */
export function keepIn(env: NodeJS.ProcessEnv): void {
  const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder: string) => void };
  // Under sudo the home folder may be that of somebody who could not use what root leaves there.
  if (enableCompileCache === undefined || env['SUDO_UID'] !== undefined) return;
  try {
    const { cache } = resolvePaths(env);
    const folder = join(cache, 'compiled');
    // Node would let everybody look into the folders that it makes.
    for (const made of existsSync(folder) ? [] : [dirname(cache), cache, folder]) makePrivate(made);
    if (existsSync(folder)) enableCompileCache(folder);
  } catch {
    // An account without a home folder: the command itself tells of it.
  }
}

function makePrivate(folder: string): void {
  try {
    mkdirSync(folder, 0o700);
  } catch {
    // It is there, or cannot be made: then there is no cache.
  }
}
