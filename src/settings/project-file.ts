import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
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
    const found = await statOf(path);
    if (found !== undefined) {
      const own = process.getuid?.();
      const isOurs = own === undefined || found.uid === own || found.uid === 0;
      if (!found.isFile()) return undefined;
      if (!isOurs) return { path, text: undefined };
      if (found.size > MAX_BYTES) throw new SettingsError(`${path} is too large for settings`);
      const text = await readText(path);
      return text === undefined ? undefined : { path, text };
    }
    if (dirname(at) === at) return undefined;
  }
}

async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP'].includes(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}
