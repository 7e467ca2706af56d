import { constants, type Stats } from 'node:fs';
import { open, readdir, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { SettingsError } from '../errors.ts';
import {
  APPEND,
  errorCode,
  fileError,
  makePrivateFolder,
  readBytes,
  refuseForeign,
  syncFolder,
  writeTextAtomically,
} from '../os/files.ts';
import { isLocked, sweepLocks, takeLock } from '../os/lock.ts';

const INDEX = 'pending.index';

/** The journals of runs: one file each in the state folder, named after the run. */
export class RunFiles {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  path(run: string): string {
    return join(this.folder, `${run}.jsonl`);
  }

  /** The runs written to after `time`, newest first, and those that end before they begin: a clock was set back. */
  async idsSince(time: number): Promise<string[]> {
    const files = await this.#stats();
    return files.flatMap(({ run, file }) => {
      const writtenAt = file?.mtimeMs ?? Infinity;
      return writtenAt >= time || writtenAt < (runIdTime(run) ?? -Infinity) ? run : [];
    });
  }

  /** The id for a new run, later than all others, and by how many ms the clock is behind the newest one of them. */
  async nextId(now: number): Promise<{ readonly run: string; readonly behindMs: number }> {
    // A plan needs no folder; whoever starts the run hears why it cannot be used.
    const ids = await this.ids().catch((error: unknown) => {
      if (error instanceof SettingsError) return [];
      throw error;
    });
    const newest = ids.find((run) => runIdTime(run) !== undefined);
    const last = newest === undefined ? undefined : runIdTime(newest);
    return { run: newRunId(now, newest), behindMs: (last ?? now) - now };
  }

  /** The runs, the oldest first, with what changes when their journal does. */
  async stamps(): Promise<readonly { readonly run: string; readonly stamp: string }[]> {
    const files = (await this.#stats()).reverse();
    return files.map(({ run, file }) => ({
      run,
      stamp: file === undefined ? '' : `${file.size} ${file.mtimeMs}`,
    }));
  }

  async #stats(): Promise<{ readonly run: string; readonly file: Stats | undefined }[]> {
    const ids = await this.ids();
    const files = ids.map(async (run) => {
      const file = await stat(this.path(run)).catch(() => undefined);
      return { run, file };
    });
    return Promise.all(files);
  }

  /** What was remembered of all journals; undefined if nothing was. */
  async readIndex(): Promise<string | undefined> {
    return (await readBytes(join(this.folder, INDEX)))?.toString('utf8');
  }

  async writeIndex(text: string): Promise<void> {
    await writeTextAtomically(join(this.folder, INDEX), text, false);
  }

  /** The ids of all runs, newest first. */
  async ids(): Promise<string[]> {
    try {
      const names = await readdir(this.folder);
      return names
        .filter((name) => /^[\w-]+\.jsonl$/.test(name))
        .map((name) => name.slice(0, -'.jsonl'.length))
        .sort()
        .reverse();
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return [];
      throw fileError('read', this.folder, error);
    }
  }

  async read(run: string): Promise<string | undefined> {
    if (!/^[\w-]+$/.test(run)) return undefined;
    return (await readBytes(this.path(run)))?.toString('utf8');
  }

  /** Starts the journal of a new run. The caller closes it. */
  async create(run: string): Promise<RunFile> {
    await makePrivateFolder(this.folder);
    await sweepLocks(this.folder);
    return this.#open(run, true);
  }

  /** Reopens the journal of a run; removes half a last line (a crash). */
  async resume(run: string): Promise<RunFile> {
    return this.#open(run, false);
  }

  /** Stores the journal of a run that started on another machine. */
  async adopt(run: string, journal: string): Promise<void> {
    const file = await this.create(run);
    try {
      await file.append(journal);
    } finally {
      await file.close();
    }
  }

  async isInProgress(run: string): Promise<boolean> {
    return isLocked(this.path(run));
  }

  async #open(run: string, isNew: boolean): Promise<RunFile> {
    const path = this.path(run);
    const release = await takeLock(path, { waitMs: 0, purpose: `run ${run} is in progress` });
    try {
      const file = await open(
        path,
        APPEND | (isNew ? constants.O_CREAT | constants.O_EXCL : 0),
        0o600,
      );
      refuseForeign(path, await file.stat());
      if (!isNew) await dropHalfLine(path, file);
      // A new file is only safe once its name is on the disk, too.
      else await syncFolder(this.folder);
      return new RunFile(path, file, release);
    } catch (error) {
      await release();
      throw error instanceof SettingsError ? error : fileError('write', path, error);
    }
  }
}

interface Batch {
  lines: string;
  readonly written: Promise<void>;
}

/** An open journal. Each line is on the disk when `append` resolves. */
export class RunFile {
  readonly path: string;
  readonly #file: FileHandle;
  readonly #release: () => Promise<void>;
  #last: Promise<void> = Promise.resolve();
  /** Lines that arrived during a write: they are written together. */
  #next: Batch | undefined;

  constructor(path: string, file: FileHandle, release: () => Promise<void>) {
    this.path = path;
    this.#file = file;
    this.#release = release;
  }

  /** @param lines whole lines, with their line breaks */
  append(lines: string): Promise<void> {
    if (this.#next !== undefined) {
      this.#next.lines += lines;
      return this.#next.written;
    }
    // In sequence, so that lines of concurrent devices do not mix.
    const written = this.#last.then(() => this.#write(next));
    const next: Batch = { lines, written };
    this.#next = next;
    this.#last = written.catch(() => undefined);
    return written;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#file.close();
    await this.#release();
  }

  async #write({ lines }: Batch): Promise<void> {
    this.#next = undefined;
    try {
      await this.#file.appendFile(lines);
      await this.#file.datasync();
    } catch (error) {
      throw fileError('write', this.path, error);
    }
  }
}

async function dropHalfLine(path: string, file: FileHandle): Promise<void> {
  const bytes = await file.readFile();
  if (bytes.length === 0) throw new SettingsError(`there is no journal ${path}`);
  const whole = bytes.lastIndexOf(0x0a) + 1;
  if (whole < bytes.length) await file.truncate(whole);
}

/** In sort order. */
const LETTERS = '23456789abcdefghijkmnpqrstuvwxyz';

/** `20261121-093041-k3qd7m`: UTC, milliseconds, chance. Sorts after `newest`, even if the clock was set back. */
export function newRunId(now: number, newest?: string, random: () => number = Math.random): string {
  const last = (newest === undefined ? undefined : runIdTime(newest)) ?? -Infinity;
  const at = new Date(Math.max(now, last + 1));
  const time = at.toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  const letter = (index: number): string => LETTERS[index % LETTERS.length] ?? '';
  const milliseconds = at.getUTCMilliseconds();
  const tail = [0, 1, 2, 3].map(() => letter(Math.floor(random() * LETTERS.length)));
  return `${time}-${letter(milliseconds >> 5)}${letter(milliseconds)}${tail.join('')}`;
}

/** The time in a run's id, in ms UTC: never before the run began. Undefined for another text. */
export function runIdTime(run: string): number | undefined {
  const [, year, month, day, hour, minute, second, high = '', low = ''] =
    /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)-([a-z\d])([a-z\d])[a-z\d]{4}$/.exec(run) ?? [];
  if (year === undefined) return undefined;
  const milliseconds = LETTERS.indexOf(high) * LETTERS.length + LETTERS.indexOf(low);
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) + milliseconds;
  return Number.isNaN(time) || milliseconds < 0 ? undefined : time;
}
