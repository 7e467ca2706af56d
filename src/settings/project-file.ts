import type { Stats } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SettingsError } from '../errors.ts';
import { errorCode, readText } from './files.ts';

export const PROJECT_FILE = '.devsh.json';
/** A few settings; whatever is larger is none of ours. */
const MAX_BYTES = 64 * 1024;

export interface ProjectFile {
  readonly path: string;
  /** Undefined when it belongs to somebody else (in /tmp anybody can put one): it says nothing then. */
  readonly text: string | undefined;
}

/**
 * The nearest `.devsh.json` in `folder` or above it; undefined when there is none. Throws SettingsError
 * for one that cannot be read.
 */
export async function findProjectFile(folder: string): Promise<ProjectFile | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, PROJECT_FILE);
    const found = await statOf(path, stat);
    if (found !== undefined) {
      if (!found.isFile()) return undefined;
      // Who puts a link there chooses what it leads to: somebody else's must not choose a file of ours.
      const entry = (await statOf(path, lstat)) ?? found;
      if (![found, entry].every(isTrusted)) return { path, text: undefined };
      if (found.size > MAX_BYTES) throw new SettingsError(`${path} is too large for settings`);
      const text = await readText(path);
      return text === undefined ? undefined : { path, text };
    }
    if (dirname(at) === at) return undefined;
  }
}

/** Belongs to the user, or to the administrator. */
function isTrusted({ uid }: Stats): boolean {
  const own = process.getuid?.();
  return own === undefined || uid === own || uid === 0;
}

async function statOf(path: string, look: typeof stat): Promise<Stats | undefined> {
  try {
    return await look(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP'].includes(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}
