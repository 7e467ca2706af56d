import { existsSync, mkdirSync, statSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { dirname, join } from 'node:path';
import { resolvePaths } from './os/paths.ts';

/**
 * Lets Node keep what it compiles of the program in the user's cache: a tenth of each start. Without it, or
 * with a damaged one, a start only takes that longer.
 */
export function keepIn(env: NodeJS.ProcessEnv): void {
  const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder: string) => void };
  if (enableCompileCache === undefined) return;
  try {
    const { cache } = resolvePaths(env);
    const folder = join(cache, 'compiled');
    makePrivate([dirname(cache), cache, folder]);
    if (isOurs(folder)) enableCompileCache(folder);
  } catch {
    // No home folder, of which the command itself tells, or none that can be written: then there is no cache.
  }
}

/** Node would let everybody look into the folders that it makes. */
function makePrivate(folders: readonly string[]): void {
  for (const folder of folders) {
    // Under sudo the home folder may be somebody else's, who could not use what root leaves there.
    if (!existsSync(folder) && isOurs(dirname(folder))) mkdirSync(folder, 0o700);
  }
}

function isOurs(folder: string): boolean {
  return process.getuid === undefined || statSync(folder).uid === process.getuid();
}
