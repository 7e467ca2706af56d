import { randomUUID } from 'node:crypto';
import { type BigIntStats, constants, copyFileSync, linkSync, rmSync } from 'node:fs';
import { lstat, mkdir, open, readFile, readlink, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { RefusedError, SettingsError } from '../errors.ts';

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

/**
 * The text of a file, `undefined` when there is none. Throws SettingsError that names the file, also
 * when it is not UTF-8: writing it back would destroy what could not be read.
 */
export async function readText(path: string): Promise<string | undefined> {
  const bytes = await readBytes(path);
  try {
    return bytes && new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new SettingsError(`${path} is not UTF-8 text; correct or remove the file`, {
      cause: error,
    });
  }
}

/** The bytes of a file, `undefined` when there is none. Throws SettingsError that names the file. */
export async function readBytes(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw fileError('read', path, error);
  }
}

/** Differs when the file has been written or replaced; empty when there is none. */
export async function fileStamp(path: string): Promise<string> {
  try {
    return stampOf(await stat(path, { bigint: true }));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    throw fileError('read', path, error);
  }
}

/** As `fileStamp`, for a file that is open. */
export function stampOf({ dev, ino, size, mtimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs].join(':');
}

/** Whether anything is there, also a link that leads nowhere. */
export async function fileExists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw fileError('look at', path, error);
  }
}

/** Makes a folder that only the user can look into, and those above it. */
export async function makePrivateFolder(path: string): Promise<void> {
  try {
    await makeFolders(path);
  } catch (error) {
    throw fileError('create the folder', path, error);
  }
}

/** `mkdir` with `recursive` never ends in folders that refuse with ENOENT (/proc), in Node 20. */
async function makeFolders(path: string): Promise<void> {
  try {
    await mkdir(path, PRIVATE_FOLDER);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' && dirname(path) !== path) {
      await makeFolders(dirname(path));
      await mkdir(path, PRIVATE_FOLDER).catch(ignoreExisting);
    } else if (!(await isFolder(path))) {
      throw error;
    }
  }
}

function ignoreExisting(error: unknown): void {
  if (errorCode(error) !== 'EEXIST') throw error;
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

/**
 * Replaces a file in one step: whoever reads it, and whatever breaks off, sees the old text or the
 * new one, on disk. The file can be read by the user only. A symbolic link stays one: the file that
 * it points to is replaced.
 *
 * @param isSynced false: the disk is not waited for, and after a power cut there may be an old text, or none
 */
export async function writeTextAtomically(
  path: string,
  text: string,
  isSynced = true,
): Promise<void> {
  await writeDraft(path, await followLinks(path), text, rename, isSynced);
}

/** The same for a file that is not there yet. Throws a RefusedError when there is anything by now. */
export async function writeNewText(path: string, text: string): Promise<void> {
  await writeDraft(path, path, text, (draft, target) => {
    linkNewSync(draft, target);
    return Promise.resolve();
  });
}

/** Gives a whole file a second name, where nothing is yet: EEXIST otherwise. */
export function linkNewSync(file: string, name: string): void {
  try {
    linkSync(file, name);
  } catch (error) {
    if (!NO_LINKS.has(errorCode(error) ?? '')) throw error;
    copyFileSync(file, name, constants.COPYFILE_EXCL);
  }
}

/** From file systems without hard links (FAT, some of the network). */
const NO_LINKS: ReadonlySet<string> = new Set([
  'EPERM',
  'ENOTSUP',
  'ENOSYS',
  'EOPNOTSUPP',
  'EMLINK',
]);

/** `place` brings the whole draft, on disk, to where it belongs. */
async function writeDraft(
  path: string,
  target: string,
  text: string,
  place: (draft: string, target: string) => Promise<void>,
  isSynced = true,
): Promise<void> {
  await makePrivateFolder(dirname(target));
  try {
    await withDraft(target, async (draft) => {
      const file = await open(draft, 'wx', PRIVATE_FILE);
      try {
        await file.writeFile(text);
        if (isSynced) await file.sync();
      } finally {
        await file.close();
      }
      await place(draft, target);
    });
    if (isSynced) await syncFolder(dirname(target));
  } catch (error) {
    if (place !== rename && errorCode(error) === 'EEXIST') {
      throw new RefusedError(`${path} exists already: it was not replaced`);
    }
    throw fileError('write', path, error);
  }
}

/** Files that are there for a moment only. */
const drafts = new Set<string>();

/** Lends `work` the name of a file beside `target`, which is gone afterwards. */
async function withDraft(target: string, work: (draft: string) => Promise<void>): Promise<void> {
  const draft = join(dirname(target), `.${basename(target)}.${randomUUID()}.tmp`);
  drafts.add(draft);
  try {
    await work(draft);
  } finally {
    // What became of the work is what counts, not whether the draft could be removed.
    await rm(draft, { force: true }).catch(() => undefined);
    drafts.delete(draft);
  }
}

/** For who has to end the process at once: no draft is left behind. */
export function removeDrafts(): void {
  for (const draft of drafts) {
    try {
      rmSync(draft, { force: true });
    } catch {
      // Nobody is left who could be told, and the others are still to be removed.
    }
  }
}

/** Appends to a file that only the user can read, in one piece, and makes it if need be. */
export async function appendText(path: string, text: string): Promise<void> {
  await makePrivateFolder(dirname(path));
  try {
    const file = await open(path, 'a+', PRIVATE_FILE);
    try {
      const { size } = await file.stat();
      const last = Buffer.alloc(1);
      if (size > 0) await file.read(last, 0, 1, size - 1);
      // A line that broke off (power, full disk) must not swallow the next one.
      const isCut = size > 0 && last.toString() !== '\n';
      await file.appendFile(isCut ? `\n${text}` : text);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw fileError('write', path, error);
  }
}

/** For what can be had again: that its file cannot be read or written is no reason to fail. */
export function ignoreFileError(error: unknown): undefined {
  if (!(error instanceof SettingsError)) throw error;
}

export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}

/** What went wrong with a file, in words, with the file's name. */
export function fileError(action: string, path: string, error: unknown): SettingsError {
  const code = errorCode(error);
  const reason =
    (code !== undefined && REASONS[code]) || (error instanceof Error ? error.message : 'unknown');
  return new SettingsError(`cannot ${action} ${path}: ${reason}`, { cause: error });
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space left on the disk',
  EDQUOT: 'the disk quota is used up',
  ENOENT: 'there is no such folder',
  EEXIST: 'a file of this name is in the way',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is not a folder',
  ELOOP: 'too many symbolic links',
  EMFILE: 'too many open files',
};

/** Where a path ends that may be a symbolic link, also to a file that does not exist yet. */
async function followLinks(path: string): Promise<string> {
  let target = path;
  for (let links = 0; links < 40; links += 1) {
    try {
      target = resolve(dirname(target), await readlink(target));
    } catch (error) {
      const code = errorCode(error);
      // EINVAL: a file, no link. On Windows a plain file gives UNKNOWN.
      if (code === 'EINVAL' || code === 'ENOENT' || code === 'UNKNOWN') return target;
      throw fileError('write', path, error);
    }
  }
  throw new SettingsError(`cannot write ${path}: too many symbolic links`);
}

/** Puts the names of the files in a folder on the disk. */
export async function syncFolder(path: string): Promise<void> {
  // Windows cannot open folders; its file systems journal a rename.
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } catch (error) {
    // Some network file systems cannot do this; the rename itself is done.
    if (errorCode(error) !== 'EINVAL' && errorCode(error) !== 'ENOTSUP') throw error;
  } finally {
    await folder.close();
  }
}
