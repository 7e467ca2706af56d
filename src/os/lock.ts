import { randomUUID } from 'node:crypto';
import {
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processFacts } from './environment.ts';
import { CancelledError, SettingsError, attempt } from '../errors.ts';
import { errorCode, fileError, linkNewSync, makePrivateFolder, readBytes } from './files.ts';

const WAIT_MS = 3_000;
const POLL_MS = 20;
/** Processes elsewhere cannot be asked whether they live: each renews its locks, and one that does not is lost. */
const TIMES = { renewMs: 10_000, lostMs: 60_000 };
/** Immediate retries for a lock that seems free; it may only look so. */
const EAGER_ROUNDS = 10;
/** After this time a waiting caller is told who holds the lock. */
const REPORT_AFTER_MS = 1_000;

export interface LockOptions {
  readonly waitMs?: number;
  /** The times for a holder on another machine or in another container. */
  readonly times?: typeof TIMES;
  /** What the lock is for, in the error; "cannot change PATH" by default. */
  readonly purpose?: string;
  /** Ends the waiting with CancelledError. */
  readonly signal?: AbortSignal | undefined;
  /** Called once after a second of waiting, with the holder: `another devsh (process 42)`. */
  readonly onWait?: ((holder: string) => void) | undefined;
}

/** Runs `work` alone, by the lock file `PATH.lock`; breaks the lock of a dead owner. Not re-entrant; throws after 3 s. */
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

/** Takes the lock of `path` and returns its release; for work that is not one function. */
export async function takeLock(
  path: string,
  options: LockOptions = {},
): Promise<() => Promise<void>> {
  const lock = `${path}.lock`;
  const owner = `${process.pid} ${startOf(process.pid)} ${here()} ${randomUUID()}\n`;
  held.add(owner);
  await acquire(lock, owner, path, options).catch((error: unknown) => {
    held.delete(owner);
    throw error;
  });
  const { renewMs } = options.times ?? TIMES;
  const renewing = setInterval(() => renew(lock, owner), renewMs).unref();
  return async () => {
    clearInterval(renewing);
    // A process that took us for dead may own the lock. It is held until it is gone: others of this process wait.
    if ((await readOwner(lock)) === owner) removeNow(lock);
    held.delete(owner);
  };
}

/** What this process holds: a lock that names it and is none of these is of a process of the same number before. */
const held = new Set<string>();

/** Sets the times of the lock; it may be that of another process meanwhile. */
function renew(lock: string, owner: string): void {
  attempt(Error, () => {
    if (readFileSync(lock, 'utf8') === owner) utimesSync(lock, new Date(), new Date());
  });
}

/** Where process ids mean something: a machine since its start, and a container in it. */
function here(): string {
  const boot = attempt(Error, () =>
    readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim(),
  );
  const namespace = attempt(Error, () => readlinkSync('/proc/self/ns/pid'));
  return [hostname(), boot, namespace].join('/').replace(/\s/g, '');
}

async function acquire(
  lock: string,
  owner: string,
  path: string,
  options: LockOptions,
): Promise<void> {
  const { waitMs = WAIT_MS, times = TIMES, purpose = `cannot change ${path}` } = options;
  const startedAt = performance.now();
  let isReported = false;
  for (let round = 1; ; round += 1) {
    if (await create(lock, owner, path)) return;
    const holder = await readOwner(lock);
    // Some network file systems report EEXIST for a link that they have just made.
    if (holder === owner) return;
    const isFree =
      holder === undefined || // just released
      (isDead(lock, holder, times.lostMs) && (await breakLock(lock, holder)));
    if (isFree && round < EAGER_ROUNDS) continue;
    if (options.signal?.aborted) throw new CancelledError();
    const waitedMs = performance.now() - startedAt;
    if (waitedMs > waitMs) {
      throw new SettingsError(
        `${purpose}: ${devshOf(holder)} holds ${lock}; ` +
          'try again, or remove that file if no devsh is running',
      );
    }
    if (waitedMs > REPORT_AFTER_MS && !isReported) {
      options.onWait?.(devshOf(holder));
      isReported = true;
    }
    await sleep(POLL_MS * (0.5 + Math.random()));
  }
}

function devshOf(holder = ''): string {
  const pid = holder.split(' ')[0] ?? '';
  return `another devsh${pid && ` (process ${pid})`}`;
}

/** Resolves to false if there is one already. */
async function create(lock: string, owner: string, path: string): Promise<boolean> {
  try {
    try {
      placeNamed(lock, owner);
    } catch (error) {
      // The folder almost always exists: it is made only when it is missing.
      if (!['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) throw error;
      await makePrivateFolder(dirname(lock));
      placeNamed(lock, owner);
    }
    return true;
  } catch (error) {
    const code = errorCode(error);
    // Windows reports EPERM while another process removes the file.
    if (code === 'EEXIST' || (code === 'EPERM' && process.platform === 'win32')) return false;
    throw error instanceof SettingsError ? error : fileError('write', path, error);
  }
}

/** Creates the lock with its owner in it, at once: a killed process leaves no lock without one, and no draft. */
function placeNamed(lock: string, owner: string): void {
  const draft = `${lock}.${randomUUID()}`;
  try {
    writeFileSync(draft, owner, { flag: 'wx', mode: 0o600 });
    linkNewSync(draft, lock);
  } finally {
    removeNow(draft);
  }
}

function removeNow(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw fileError('remove', path, error);
  }
}

export async function isLocked(path: string): Promise<boolean> {
  const lock = `${path}.lock`;
  const holder = await readOwner(lock);
  return holder !== undefined && !isDead(lock, holder);
}

export async function sweepLocks(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((one) => one.endsWith('.lock'))) {
    const lock = join(folder, name);
    const holder = await readOwner(lock).catch(() => undefined);
    if (holder !== undefined && isDead(lock, holder)) await breakLock(lock, holder);
  }
}

async function readOwner(lock: string): Promise<string | undefined> {
  return (await readBytes(lock))?.toString('utf8');
}

function isDead(lock: string, holder: string, lostMs = TIMES.lostMs): boolean {
  const [pid = '', start, place] = holder.trim().split(' ');
  if (place !== here()) return agoMs(lock) > lostMs;
  // Age means nothing here: a write to a slow device may take long.
  if (Number(pid) === process.pid) return !held.has(holder);
  return !isAlive(Number(pid)) || startOf(Number(pid)) !== start;
}

/** Milliseconds since the lock was renewed, by the clock of the file system alone; 0 if that cannot be told. */
function agoMs(lock: string): number {
  const draft = `${lock}.${randomUUID()}`;
  const ago = attempt(Error, () => {
    writeFileSync(draft, '', { flag: 'wx', mode: 0o600 });
    return statSync(draft).ctimeMs - statSync(lock).ctimeMs;
  });
  attempt(Error, () => removeNow(draft));
  return ago ?? 0;
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    // Killed, it may only wait for its parent to notice, which in some containers never happens.
    return factsOf(pid)?.[0] !== 'Z';
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** When a process began, in ticks since the start of the machine: its number may be given again. Empty if unknown. */
function startOf(pid: number): string {
  return factsOf(pid)?.[19] ?? '-';
}

/** From its state on; undefined if the process is gone, or this system does not show it by that number. */
function factsOf(pid: number): readonly string[] | undefined {
  const self = attempt(Error, () => readlinkSync('/proc/self'));
  return self === String(process.pid) ? processFacts(String(pid)) : undefined;
}

/** Removes the lock of `holder` and no other. Returns false if it cannot be removed now. */
async function breakLock(lock: string, holder: string): Promise<boolean> {
  const aside = `${lock}.${randomUUID()}`;
  try {
    // Without a pause in between: several callers of this process may find the same dead lock.
    if (readFileSync(lock, 'utf8') !== holder) return true;
    renameSync(lock, aside);
  } catch (error) {
    const code = errorCode(error) ?? '';
    if (code === 'ENOENT') return true; // another process was faster
    // Windows reports these while another process reads the file.
    const isRead = process.platform === 'win32' && ['EPERM', 'EBUSY', 'EACCES'].includes(code);
    if (isRead) return false;
    throw fileError('remove', lock, error);
  }
  if ((await readOwner(aside)) !== holder) restoreLock(aside, lock);
  removeNow(aside);
  return true;
}

/** Puts back a lock that was moved by mistake, unless there is a new one. */
function restoreLock(aside: string, lock: string): void {
  try {
    linkNewSync(aside, lock);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}
