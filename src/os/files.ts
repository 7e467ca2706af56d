import { randomBytes, randomUUID } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  fsync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, lstat, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { attempt, RefusedError, SettingsError } from '../errors.ts';

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

/** The text of a file; undefined if there is none. Throws SettingsError, also for text that is not UTF-8. */
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

/** The bytes of a file of devsh, `undefined` if it does not exist. Throws SettingsError that names the file. */
export function readBytes(path: string): Promise<Buffer | undefined> {
  return withOwn(path, (file) => file.readFile());
}

async function withOwn<T>(
  path: string,
  read: (file: FileHandle) => Promise<T>,
): Promise<T | undefined> {
  try {
    const file = await open(targetOf(path), READ);
    try {
      refuseForeign(path, await file.stat());
      return await read(file);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error instanceof SettingsError ? error : fileError('read', path, error);
  }
}

/** The same at once, for many small files: a promise for each takes longer than reading it. Throws as Node does. */
export function readBytesSync(
  path: string,
  read: (file: number) => Buffer = (file) => readFileSync(file),
): Buffer {
  const file = openSync(targetOf(path), READ);
  try {
    refuseForeign(path, fstatSync(file));
    return read(file);
  } finally {
    closeSync(file);
  }
}

/** Links are resolved before; a pipe would make devsh wait. Undefined on Windows. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** What devsh writes is never reached through a link. */
export const APPEND = constants.O_APPEND | constants.O_RDWR | constants.O_NOFOLLOW;

/** Where a path leads. Throws SettingsError if it leads over a link that somebody else could change. */
function targetOf(path: string): string {
  const target = realpathSync.native(path);
  return target === resolve(path) ? target : protectedPath(resolve(path));
}

/** An absolute path without links. Throws SettingsError if somebody else could replace a folder or link on it. */
function protectedPath(path: string): string {
  const folder = dirname(path);
  if (folder === path) return path;
  const entry = join(protectedPath(folder), basename(path));
  const stats = lstatSync(entry);
  if (!stats.isFile()) refuseForeign(entry, stats);
  if (!stats.isSymbolicLink()) return entry;
  return protectedPath(resolve(dirname(entry), readlinkSync(entry)));
}

/** Somebody else may have written it. */
export class ForeignFileError extends SettingsError {}

/** Throws ForeignFileError for what others own or may write; groups of one user and read-only disks are harmless. */
export function refuseForeign(path: string, stats: Stats): void {
  const own = process.getuid?.();
  const { uid, gid, mode } = stats;
  if (own === undefined || stats.isCharacterDevice()) return;
  if (uid !== own && uid !== 0) {
    throw new ForeignFileError(`${path} belongs to another user: devsh does not use it`);
  }
  const others = gid === own ? 0o002 : 0o022;
  const isShared = stats.isDirectory() && (mode & STICKY) !== 0;
  if (stats.isSymbolicLink() || isShared || (mode & others) === 0 || isReadOnly(path)) return;
  throw new ForeignFileError(
    `${path} can be written by others (mode ${(mode & 0o777).toString(8)}): devsh does not use it before "chmod go-w ${path}"`,
  );
}

const STICKY = 0o1000;

function isReadOnly(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return false;
  } catch (error) {
    return errorCode(error) === 'EROFS';
  }
}

/** Changes whenever the file is written or replaced; empty if there is no file. Throws as `readBytes`. */
export async function fileStamp(path: string): Promise<string> {
  const stamp = await withOwn(path, async (file) => {
    const { dev, ino, size, mtimeNs } = await file.stat({ bigint: true });
    return [dev, ino, size, mtimeNs].join(':');
  });
  return stamp ?? '';
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

/** Replaces a file in one step, for the user alone; no link. `isSynced` false: a power cut may leave the old text. */
export async function writeTextAtomically(
  path: string,
  text: string,
  isSynced = true,
): Promise<void> {
  await refuseLink(path);
  await writeDraft(path, text, rename, isSynced);
}

/** What devsh writes or replaces is never reached through a link, which may lead to any file of this user. */
export async function refuseLink(path: string): Promise<void> {
  const entry = await lstat(path).catch(() => undefined);
  if (entry?.isSymbolicLink() !== true) return;
  throw new SettingsError(
    `${path} is a link: devsh writes no file through a link; name its target, or replace the link`,
  );
}

/** Same for a new file. Throws a RefusedError if the path exists. */
export async function writeNewText(path: string, text: string, isSynced = true): Promise<void> {
  const place = (draft: string, target: string): Promise<void> => {
    linkNewSync(draft, target);
    // Before the folder is synced; whether it could be removed does not count.
    attempt(Error, () => rmSync(draft, { force: true }));
    return Promise.resolve();
  };
  await writeDraft(path, text, place, isSynced);
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

/** @param place moves the draft, whose content is safe, to its final path */
async function writeDraft(
  target: string,
  text: string,
  place: (draft: string, target: string) => Promise<void>,
  isSynced: boolean,
): Promise<void> {
  const folder = dirname(target);
  await makePrivateFolder(folder);
  const draft = join(folder, `.${basename(target)}.${randomUUID()}.tmp`);
  drafts.add(draft);
  try {
    // At once: `removeDrafts` could not remove what another thread makes after it.
    const file = openSync(draft, 'wx', PRIVATE_FILE);
    try {
      writeFileSync(file, text);
      if (isSynced) await promisify(fsync)(file);
    } finally {
      closeSync(file);
    }
    await place(draft, target);
    if (isSynced) await syncFolder(folder);
  } catch (error) {
    if (place !== rename && errorCode(error) === 'EEXIST') {
      throw new RefusedError(`${target} exists already and was not replaced`);
    }
    throw fileError('write', target, error);
  } finally {
    // Only the outcome of the work counts, not whether the draft could be removed.
    await rm(draft, { force: true }).catch(() => undefined);
    drafts.delete(draft);
  }
}

/** A new folder `devsh-PURPOSE-…`, of this user alone. */
export function temporaryFolder(purpose: string): string {
  try {
    return mkdtempSync(join(tmpdir(), `devsh-${purpose}-`));
  } catch (error) {
    throw fileError('create a folder in', tmpdir(), error);
  }
}

const drafts = new Set<string>();

/** Removes all drafts, for a process that has to end at once. */
export function removeDrafts(): void {
  for (const draft of drafts) {
    try {
      rmSync(draft, { force: true });
    } catch {
      // The process ends and cannot report this; the other drafts still have to go.
    }
  }
}

/** Opens a file of devsh to read it and append to it, never through a link; creates it if needed. */
export function openToAppend(path: string): number {
  const file = openSync(path, APPEND | constants.O_CREAT, PRIVATE_FILE);
  try {
    refuseForeign(path, fstatSync(file));
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** Appends to a file that only the user can read, in one piece; creates it if needed. */
export async function appendText(path: string, text: string): Promise<void> {
  await makePrivateFolder(dirname(path));
  try {
    const file = openToAppend(path);
    try {
      const { size } = fstatSync(file);
      const last = Buffer.alloc(1);
      if (size > 0) readSync(file, last, 0, 1, size - 1);
      // A line cut off by a power failure or a full disk must not merge with the next one.
      const isCut = size > 0 && last.toString() !== '\n';
      writeFileSync(file, isCut ? `\n${text}` : text);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw error instanceof SettingsError ? error : fileError('write', path, error);
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
  ELOOP: 'it is a link, or there are too many',
  EMFILE: 'too many open files',
};

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
    const key = Buffer.from(readBytesSync(path).toString(), 'base64');
    return key.length === KEY_BYTES ? key : undefined;
  } catch {
    return undefined;
  }
}

/** The current folder; the root if it was removed, where no project has its settings. */
export function currentFolder(): string {
  return attempt(Error, () => process.cwd()) ?? '/';
}
