import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode, fileError } from './files.ts';

/** What is to be said about a file or folder of ours, before anything is read from it. */
export interface FileCheck {
  readonly path: string;
  readonly state: 'absent' | 'fine' | 'open to others' | 'not usable';
  /** The permissions as four octal digits; absent where the system has none. */
  readonly mode?: string;
  readonly problem?: string;
}

/** Looks whether a file or folder can be used, and by whom; makes nothing. */
export async function checkFile(path: string): Promise<FileCheck> {
  try {
    const found = await stat(path);
    await access(path, constants.R_OK | constants.W_OK);
    if (process.platform === 'win32') return { path, state: 'fine' };
    const bits = found.mode & 0o777;
    const mode = bits.toString(8).padStart(4, '0');
    return { path, mode, state: (bits & 0o077) === 0 ? 'fine' : 'open to others' };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { path, state: 'absent' };
    return { path, state: 'not usable', problem: fileError('use', path, error).message };
  }
}

/** Whether a folder can be written to, or made: the nearest one that exists decides. */
export async function checkFolder(path: string): Promise<FileCheck> {
  const check = await checkFile(path);
  if (check.state !== 'absent' || dirname(path) === path) return check;
  const above = await checkFolder(dirname(path));
  return above.state === 'not usable' ? { ...above, path } : { path, state: 'absent' };
}
