import { randomUUID } from 'node:crypto';
import {
  link,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  unlink,
  type FileHandle,
} from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CancelledError, SettingsError } from '../errors.ts';
import { errorCode, fileError, fileStamp, makePrivateFolder, stampOf } from './files.ts';

const WAIT_MS = 3_000;
const POLL_MS = 20;
/** Work under a lock takes milliseconds: a lock this old from elsewhere has lost its owner. */
const STALE_MS = 30_000;
/** An owner writes its name at once: one that has not for so long was ended just then. */
const UNNAMED_MS = 1_000;
/** So long somebody may wait before being told what for. */
const PATIENCE_MS = 1_000;

export interface LockOptions {
  /** How long to wait for another process. */
  readonly waitMs?: number;
  /** A lock of this age has lost its owner, where that cannot be asked: on another machine. */
  readonly staleMs?: number;
  /** What is locked, for the error: "cannot change PATH" unless told. */
  readonly purpose?: string;
  /** Ends the waiting with CancelledError. */
  readonly signal?: AbortSignal | undefined;
  /** Called once after a second of waiting, with who holds the lock: `another devsh (process 42)`. */
  readonly onWait?: ((holder: string) => void) | undefined;
}

/**
 * Runs `work` while no other devsh does the same for `path`: reading, changing and writing a file
 * under its lock loses nothing. The lock is the file `PATH.lock`, which names its owner; one left by
 * a process that is gone is broken. Throws SettingsError after waiting for three seconds. Not
 * re-entrant.
 */
export async function withLock<T>(
  path: string,
  work: () => Promise<T>,
  options: LockOptions = {},
): Promise<T> {
  const release = await takeLock(path, options);
  try {
    return await work();
  } finally {
    await release();
  }
}

/** Takes the lock of `path` and returns what gives it back; for work that is not one function. */
export async function takeLock(
  path: string,
  options: LockOptions = {},
): Promise<() => Promise<void>> {
  const lock = `${path}.lock`;
  const owner = `${String(process.pid)} ${hostname()} ${randomUUID()}\n`;
  const stamp = await acquire(lock, owner, path, options);
  return async () => {
    // Whoever took us for dead may own the lock by now. Some systems change a stamp on their own.
    const isOurs = (await fileStamp(lock)) === stamp || (await readOwner(lock)) === owner;
    if (isOurs) await unlink(lock).catch(ignoreMissing);
  };
}

/** Resolves to the stamp of the lock file. */
async function acquire(
  lock: string,
  owner: string,
  path: string,
  options: LockOptions,
): Promise<string> {
  const { waitMs = WAIT_MS, staleMs = STALE_MS, purpose = `cannot change ${path}` } = options;
  const startedAt = performance.now();
  let unnamedSince: number | undefined;
  let isTold = false;
  for (;;) {
    const stamp = await create(lock, owner, path);
    if (stamp !== undefined) return stamp;
    const holder = await readOwner(lock);
    if (holder === undefined) continue; // just released
    if (holder === owner) return fileStamp(lock); // another took us for dead, and saw its mistake
    unnamedSince = holder === '' ? (unnamedSince ?? performance.now()) : undefined;
    if (await isStale(lock, holder, staleMs, unnamedSince)) {
      await breakLock(lock, holder);
      continue;
    }
    if (options.signal?.aborted) throw new CancelledError();
    const waitedMs = performance.now() - startedAt;
    if (waitedMs > waitMs && unnamedSince === undefined) {
      throw new SettingsError(
        `${purpose}: ${devshOf(holder)} holds ${lock}; ` +
          'try again, or remove that file when no devsh is running',
      );
    }
    if (waitedMs > PATIENCE_MS && !isTold) {
      options.onWait?.(devshOf(holder));
      isTold = true;
    }
    await sleep(POLL_MS * (0.5 + Math.random()));
  }
}

function devshOf(holder: string): string {
  const pid = holder.split(' ')[0] ?? '';
  return `another devsh${pid && ` (process ${pid})`}`;
}

/** Undefined when there is one. */
async function create(lock: string, owner: string, path: string): Promise<string | undefined> {
  const startedAt = performance.now();
  try {
    const file = await openNew(lock);
    try {
      await file.writeFile(owner);
      // Stopped between the two (Ctrl-Z, a sleeping machine), we may have been taken for dead.
      const isLate = performance.now() - startedAt > UNNAMED_MS / 2;
      if (isLate && (await readOwner(lock)) !== owner) return undefined;
      return stampOf(await file.stat({ bigint: true }));
    } catch (error) {
      await rm(lock, { force: true });
      throw error;
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = errorCode(error);
    // Windows says EPERM while another process is removing the file.
    if (code === 'EEXIST' || (code === 'EPERM' && process.platform === 'win32')) return undefined;
    throw error instanceof SettingsError ? error : fileError('write', path, error);
  }
}

/** The folder is there but for the first time: it is looked after when it is missing. */
async function openNew(lock: string): Promise<FileHandle> {
  try {
    return await open(lock, 'wx', 0o600);
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) throw error;
    await makePrivateFolder(dirname(lock));
    return open(lock, 'wx', 0o600);
  }
}

function ignoreMissing(error: unknown): void {
  if (errorCode(error) !== 'ENOENT') throw error;
}

/** Removes the locks in a folder whose owners are gone, and which nobody has asked for since. */
export async function sweepLocks(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((one) => one.endsWith('.lock'))) {
    const lock = join(folder, name);
    const holder = await readOwner(lock).catch(() => undefined);
    const isLeft = holder !== undefined && (await isStale(lock, holder, Number.POSITIVE_INFINITY));
    if (isLeft) await breakLock(lock, holder);
  }
}

async function readOwner(lock: string): Promise<string | undefined> {
  try {
    return await readFile(lock, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw fileError('read', lock, error);
  }
}

/** @param unnamedSince since when (`performance.now()`) nobody's name has been seen in it */
async function isStale(
  lock: string,
  holder: string,
  staleMs: number,
  unnamedSince?: number,
): Promise<boolean> {
  if (unnamedSince !== undefined && performance.now() - unnamedSince > UNNAMED_MS) return true;
  const [pid, host] = holder.trim().split(' ');
  // Here its age says nothing: a write to a slow device may take as long as it takes.
  if (pid !== undefined && host === hostname()) return !isAlive(Number(pid));
  // On a shared home folder the owner may be on another machine, where we cannot look.
  try {
    const { mtimeMs } = await stat(lock);
    return Date.now() - mtimeMs > staleMs;
  } catch {
    return false; // gone: the next attempt will tell
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** Removes the lock of `holder`, and only that: another process may have broken it first. */
async function breakLock(lock: string, holder: string): Promise<void> {
  const aside = `${lock}.${randomUUID()}`;
  try {
    await rename(lock, aside);
  } catch {
    return; // somebody else was faster
  }
  if ((await readOwner(aside)) !== holder) await link(aside, lock).catch(() => undefined);
  await rm(aside, { force: true });
}
