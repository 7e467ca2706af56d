import { randomBytes, randomUUID } from 'node:crypto';
import {
  type BigIntStats,
  constants,
  copyFileSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { lstat, mkdir, open, readFile, readlink, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { RefusedError, SettingsError } from '../errors.ts';

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

/**
 * The text of a file, `undefined` if it does not exist. Throws SettingsError that names the file, also
 * if it is not UTF-8: writing it back would destroy the bytes that could not be decoded.
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

/**
 * Throws SettingsError if somebody else could have written a file that says which programs devsh starts. A group of
 * one's own, as many systems give each user, may write it.
 */
export async function refuseOpenFile(path: string): Promise<void> {
  const own = process.getuid?.();
  const found = await stat(path).catch(() => undefined);
  if (own === undefined || found === undefined) return;
  const { uid, gid, mode } = found;
  if (uid !== own && uid !== 0) {
    throw new SettingsError(`${path} belongs to another user: devsh does not use it`);
  }
  if ((mode & (gid === process.getgid?.() ? 0o002 : 0o022)) === 0) return;
  throw new SettingsError(
    `${path} can be written by others (mode ${(mode & 0o777).toString(8)}): devsh does not use it before "chmod go-w ${path}"`,
  );
}

/** The bytes of a file, `undefined` if it does not exist. Throws SettingsError that names the file. */
export async function readBytes(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw fileError('read', path, error);
  }
}

/** Changes whenever the file is written or replaced; empty if there is no file. */
export async function fileStamp(path: string): Promise<string> {
  try {
    return stampOf(await stat(path, { bigint: true }));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    throw fileError('read', path, error);
  }
}

/** Same as `fileStamp`, for an open file. */
export function stampOf({ dev, ino, size, mtimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs].join(':');
}

/** Whether the path exists, also as a link to nothing. */
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

/** Creates a folder that only the user can read, and its parents. */
export async function makePrivateFolder(path: string): Promise<void> {
  try {
    await makeFolders(path);
  } catch (error) {
    throw fileError('create the folder', path, error);
  }
}

/** A recursive `mkdir` of Node 22 and 24 never ends in folders that refuse with ENOENT (/proc). */
async function makeFolders(path: string): Promise<void> {
  try {
    await mkdir(path, PRIVATE_FOLDER);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' && dirname(path) !== path) {
      await makeFolders(dirname(path));
      await mkdir(path, PRIVATE_FOLDER).catch(ignoreExisting);
    } else if (!(await stat(path).catch(() => undefined))?.isDirectory()) {
      throw error;
    }
  }
}

function ignoreExisting(error: unknown): void {
  if (errorCode(error) !== 'EEXIST') throw error;
}

/**
 * Replaces a file in one step: readers and interruptions see either the old or the new text. Only the
 * user can read the file. For a symbolic link its target is replaced.
 *
 * @param isSynced false: does not wait for the disk; a power cut may leave the old text, or none
 */
export async function writeTextAtomically(
  path: string,
  text: string,
  isSynced = true,
): Promise<void> {
  await writeDraft(path, await followLinks(path), text, rename, isSynced);
}

/** Same for a new file. Throws a RefusedError if the path exists. */
export async function writeNewText(path: string, text: string, isSynced = true): Promise<void> {
  const place = (draft: string, target: string): Promise<void> => {
    linkNewSync(draft, target);
    return Promise.resolve();
  };
  await writeDraft(path, path, text, place, isSynced);
}

/** Gives a whole file a second name. Throws EEXIST if that name exists. */
export function linkNewSync(file: string, name: string): void {
  try {
    linkSync(file, name);
  } catch (error) {
    if (!NO_LINKS.has(errorCode(error) ?? '')) throw error;
    copyFileSync(file, name, constants.COPYFILE_EXCL);
  }
}

/** Errors of file systems without hard links (FAT, some network file systems). */
const NO_LINKS: ReadonlySet<string> = new Set([
  'EPERM',
  'ENOTSUP',
  'ENOSYS',
  'EOPNOTSUPP',
  'EMLINK',
]);

/** @param place moves the synced draft to its final path */
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
      throw new RefusedError(`${path} exists already and was not replaced`);
    }
    throw fileError('write', path, error);
  }
}

/** Temporary files of writes in progress. */
const drafts = new Set<string>();

/** Passes `work` a temporary file name beside `target`, and removes that file afterwards. */
async function withDraft(target: string, work: (draft: string) => Promise<void>): Promise<void> {
  const draft = join(dirname(target), `.${basename(target)}.${randomUUID()}.tmp`);
  drafts.add(draft);
  try {
    await work(draft);
  } finally {
    // Only the outcome of the work counts, not whether the draft could be removed.
    await rm(draft, { force: true }).catch(() => undefined);
    drafts.delete(draft);
  }
}

/** Removes all drafts, for a process that has to end at once. */
export function removeDrafts(): void {
  for (const draft of drafts) {
    try {
      rmSync(draft, { force: true });
    } catch {
      // Nothing can report this any more, and the other drafts still have to go.
    }
  }
}

/** Appends to a file that only the user can read, in one piece; creates it if needed. */
export async function appendText(path: string, text: string): Promise<void> {
  await makePrivateFolder(dirname(path));
  try {
    const file = await open(path, 'a+', PRIVATE_FILE);
    try {
      const { size } = await file.stat();
      const last = Buffer.alloc(1);
      if (size > 0) await file.read(last, 0, 1, size - 1);
      // A line cut off by a power failure or a full disk must not merge with the next one.
      const isCut = size > 0 && last.toString() !== '\n';
      await file.appendFile(isCut ? `\n${text}` : text);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw fileError('write', path, error);
  }
}

/** For files that can be restored, such as caches: failing to read or write them is no error. */
export function ignoreFileError(error: unknown): undefined {
  if (!(error instanceof SettingsError)) throw error;
}

export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}

/** The error for a failed file operation, with the file's name and a readable reason. */
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
  ENOENT: 'the folder does not exist',
  EEXIST: 'a file with this name exists',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is not a folder',
  ELOOP: 'too many symbolic links',
  EMFILE: 'too many open files',
};

/** The target of a path that may be a symbolic link; the target may not exist yet. */
async function followLinks(path: string): Promise<string> {
  let target = path;
  for (let links = 0; links < 40; links += 1) {
    try {
      target = resolve(dirname(target), await readlink(target));
    } catch (error) {
      const code = errorCode(error);
      // EINVAL: a plain file. On Windows a plain file gives UNKNOWN.
      if (code === 'EINVAL' || code === 'ENOENT' || code === 'UNKNOWN') return target;
      throw fileError('write', path, error);
    }
  }
  throw new SettingsError(`cannot write ${path}: too many symbolic links`);
}

/** Syncs a folder's entries to the disk. */
export async function syncFolder(path: string): Promise<void> {
  // Windows cannot open folders; its file systems journal a rename.
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } catch (error) {
    // Some network file systems cannot do this; the rename itself is complete.
    if (errorCode(error) !== 'EINVAL' && errorCode(error) !== 'ENOTSUP') throw error;
  } finally {
    await folder.close();
  }
}

const KEY_BYTES = 32;

/** The key in a file of this user, made on first use; undefined if it can neither be read nor made. */
export function ownKey(path: string): Buffer | undefined {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const text = `${randomBytes(KEY_BYTES).toString('base64')}\n`;
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  } catch {
    // It is there already, or the folder cannot be written.
  }
  try {
    const key = Buffer.from(readFileSync(path, 'utf8'), 'base64');
    return key.length === KEY_BYTES ? key : undefined;
  } catch {
    return undefined;
  }
}
