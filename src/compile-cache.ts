import { existsSync, mkdirSync, statSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { dirname, join } from 'node:path';
import { resolvePaths } from './os/environment.ts';

/** Caches compiled code, which saves a tenth of each start; without a usable cache it only takes longer. */
export function keepIn(env: NodeJS.ProcessEnv): void {
  const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder: string) => void };
  if (enableCompileCache === undefined) return;
  try {
    const { cache } = resolvePaths(env);
    const folder = join(cache, 'compiled');
    makePrivate([dirname(cache), cache, folder]);
    if (isOurs(folder)) enableCompileCache(folder);
  } catch {
    // No home folder, which the command itself reports, or no writable one: no cache.
  }
}

/** Node would make these folders readable for everyone. */
function makePrivate(folders: readonly string[]): void {
  for (const folder of folders) {
    // Under sudo the home folder may belong to another user, who could not use files of root.
    if (!existsSync(folder) && isOurs(dirname(folder))) mkdirSync(folder, 0o700);
  }
}

function isOurs(folder: string): boolean {
  return process.getuid === undefined || statSync(folder).uid === process.getuid();
}
