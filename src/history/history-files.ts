import { attempt, DevshError, SettingsError } from '../errors.ts';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, fstatSync, readSync } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  errorCode,
  fileError,
  makePrivateFolder,
  readBytes,
  readBytesSync,
  writeTextAtomically,
} from '../os/files.ts';
import { withLock } from '../os/lock.ts';
import type { DeviceRef } from '../device/record.ts';
import { parseLine, replay } from './replay.ts';
import { textOf } from '../output/sentences.ts';

const KEY_BYTES = 32;
const SUFFIX = '.jsonl';

export interface HistoryLimits {
  /** 0 if nothing is kept. */
  readonly days: number;
  readonly megabytes: number;
  /** Whether only values that are known to be harmless are kept. */
  readonly isClosed?: boolean;
}

/** The history of each device: a file of JSON lines in one folder, all under one lock. */
export class HistoryFiles {
  readonly folder: string;
  #key: Buffer | undefined;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Whether anything was ever kept. */
  get exists(): boolean {
    return existsSync(this.folder);
  }

  path(device: string): string {
    return join(this.folder, `${fileName(device)}${SUFFIX}`);
  }

  /** The lines of a device as text, see `endSince`; empty if nothing is kept of it. */
  read(device: string, since: number): string {
    return readSince(this.path(device), since);
  }

  /** When a device was last read. Undefined if nothing is kept of it, or the last line is damaged. */
  lastRead(device: string): Date | undefined {
    const text = attempt(DevshError, () => this.read(device, Infinity)) ?? '';
    const line = parseLine(text.slice(text.lastIndexOf('\n', text.length - 2) + 1, -1));
    return line === undefined || line.kind === 'life' ? undefined : new Date(line.to);
  }

  async paths(): Promise<string[]> {
    try {
      const names = (await readdir(this.folder)).filter((name) => name.endsWith(SUFFIX));
      return names.map((name) => join(this.folder, name));
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return [];
      throw fileError('read', this.folder, error);
    }
  }

  /** The files, with their sizes in bytes. */
  async sizes(): Promise<ReadonlyMap<string, number>> {
    const paths = await this.paths();
    return new Map(
      await Promise.all(paths.map(async (path) => [path, (await stat(path)).size] as const)),
    );
  }

  /** Renames the file of a device that has another name than before, but the same address. */
  async follow(devices: readonly DeviceRef[]): Promise<void> {
    const paths = new Set(await this.paths());
    const named = new Set(devices.map(({ name }) => this.path(name)));
    const orphaned = [...paths].filter((path) => !named.has(path));
    const unnamed = devices.filter(({ name }) => !paths.has(this.path(name)));
    if (orphaned.length === 0 || unnamed.length === 0) return;
    const wanted = new Map(unnamed.map(({ name, address }) => [address, this.path(name)]));
    await this.exclusively(async () => {
      for (const path of orphaned) {
        const { end } = replay(readSince(path, Infinity));
        const to = wanted.get(end?.identities[0].address ?? '');
        if (to !== undefined && !existsSync(to)) await rename(path, to);
      }
    });
  }

  /** Removes what is kept of a device; false if there is nothing. */
  async forget(device: string): Promise<boolean> {
    const path = this.path(device);
    if (!existsSync(path)) return false;
    await this.exclusively(async () => {
      try {
        await rm(path, { force: true });
      } catch (error) {
        throw fileError('remove', path, error);
      }
    });
    return true;
  }

  /** Runs `work` while no other devsh writes to these files. */
  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    return withLock(join(this.folder, 'history'), work, {
      purpose: textOf({ code: 'history', is: 'locked', folder: this.folder }),
    });
  }

  /** The key of the digests, made on first use. Call under the lock. */
  async key(): Promise<Buffer> {
    const known = await this.knownKey();
    if (known !== undefined) return known;
    await makePrivateFolder(this.folder);
    const key = randomBytes(KEY_BYTES);
    await writeTextAtomically(this.#keyPath, `${key.toString('base64')}\n`);
    this.#key = key;
    return key;
  }

  /** The key of the digests; undefined if there is none yet. */
  async knownKey(): Promise<Buffer | undefined> {
    if (this.#key !== undefined) return this.#key;
    const text = (await readBytes(this.#keyPath))?.toString('utf8').trim();
    const key = Buffer.from(text ?? '', 'base64');
    if (key.length === KEY_BYTES) this.#key = key;
    return this.#key;
  }

  get #keyPath(): string {
    return join(this.folder, 'digest-key');
  }
}

function readSince(path: string, since: number): string {
  try {
    return readBytesSync(path, (file) => endSince(file, since)).toString('utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    throw error instanceof SettingsError ? error : fileError('read', path, error);
  }
}

/** Enough for a day of most devices. */
const CHUNK_BYTES = 65_536;
const HEAD = '\n{"kind":"life"';

/** The end of an open file, from the last whole state before `since` (ms UTC) on; all of it if there is none. */
export function endSince(file: number, since: number): Buffer {
  const { size } = fstatSync(file);
  for (let length = CHUNK_BYTES; ; length *= 4) {
    const from = Math.max(0, size - length);
    const bytes = Buffer.alloc(size - from);
    readSync(file, bytes, 0, bytes.length, from);
    const start = wholeStateBefore(bytes, since);
    if (start !== undefined) return bytes.subarray(start);
    if (from === 0) return bytes;
  }
}

/** The offset of the last whole state before `since`; undefined if there is none. */
export function wholeStateBefore(bytes: Buffer, since: number): number | undefined {
  for (let at = bytes.length; at > 0;) {
    at = bytes.lastIndexOf(HEAD, at - 1);
    if (at < 0) return undefined;
    const line = parseLine(bytes.toString('utf8', at + 1, bytes.indexOf('\n', at + 1)));
    if (line?.kind === 'life' && line.upTo !== undefined && line.upTo <= since) return at + 1;
  }
  return undefined;
}

/** A name that is safe on every file system, also if `FW1` and `fw1` are the same file there. */
function fileName(device: string): string {
  if (/^[a-z0-9_-][a-z0-9_.-]{0,149}$/.test(device)) return device;
  const bytes = Buffer.from(device).toString('latin1');
  const name = bytes.replace(/^\.|[^a-z0-9_.-]/g, (byte) => {
    return `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  if (name.length <= 150) return name;
  const hash = createHash('sha256').update(device).digest('hex').slice(0, 32);
  return `${name.slice(0, 100)}%${hash}`;
}
