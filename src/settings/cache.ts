import { basename, dirname, join } from 'node:path';
import { createHash } from 'node:crypto';
import { copyFile } from 'node:fs/promises';
import { VERSION } from '../version.ts';
import {
  errorCode,
  fileError,
  fileStamp,
  ignoreFileError,
  readText,
  writeTextAtomically,
} from '../os/files.ts';

/** What a file of the cache holds; undefined where there is none, or it cannot be read: it can be had again. */
export async function readCached(path: string): Promise<unknown> {
  const text = await readText(path).catch(ignoreFileError);
  return text === undefined ? undefined : jsonIn(text);
}

/** Undefined for what is no JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface Kept<Content> {
  readonly version: string;
  readonly stamp: string;
  readonly content: Content;
}

/**
 * What can be had again, kept in the cache as JSON for the user only. It counts only for the same version,
 * and for the same state of what it was made of. Reading and writing fail in silence, and nobody waits
 * for the disk.
 */
export class CachedFile<Content> {
  readonly #path: string;
  readonly #version: string;

  /** @param version of the content; that of devsh where it says what devsh understood */
  constructor(folder: string, name: string, version = VERSION) {
    this.#path = join(folder, `${name}.json`);
    this.#version = version;
  }

  /** Undefined when nothing is kept of this state (`fileStamp`). */
  async read(stamp = ''): Promise<Content | undefined> {
    const kept = (await readCached(this.#path)) as Kept<Content> | undefined;
    return kept?.version === this.#version && kept.stamp === stamp ? kept.content : undefined;
  }

  async keep(content: Content, stamp = ''): Promise<void> {
    const kept: Kept<Content> = { version: this.#version, stamp, content };
    await writeTextAtomically(this.#path, `${JSON.stringify(kept)}\n`, false).catch(
      ignoreFileError,
    );
  }
}

/**
 * Marks what this devsh writes to its cache: what comes back as it was written needs no check against
 * its schema, which takes longer than reading it. No protection against anybody who wants to forge it.
 */
export function seal<Content extends object>(content: Content): Content & { seal: string } {
  return { ...content, seal: sumOf(content) };
}

/** Whether this version wrote it, and nobody has touched it since. */
export function isSealed(data: unknown): data is object {
  if (typeof data !== 'object' || data === null || !('seal' in data)) return false;
  const { seal: sum, ...content } = data;
  return sum === sumOf(content);
}

function sumOf(content: object): string {
  return createHash('sha256')
    .update(`${VERSION} ${JSON.stringify(content)}`)
    .digest('base64url');
}

/**
 * The last good copy of a file that is worth more than a warning: when the file is damaged, what it
 * held is not lost. The copy lies apart from the file, so that what befalls a folder befalls one.
 */
export class GoodCopy {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Undefined when there is none, or it cannot be read: a copy is no reason to fail. */
  async read(): Promise<string | undefined> {
    return readText(this.path).catch(ignoreFileError);
  }

  /** As `fileStamp`; empty, too, when it cannot be looked at. */
  async stamp(): Promise<string> {
    return (await fileStamp(this.path).catch(ignoreFileError)) ?? '';
  }

  /** Keeps the text, unless it is there already. A disk that is full or read-only is no reason to fail. */
  async keep(text: string): Promise<void> {
    if ((await this.read()) === text) return;
    await writeTextAtomically(this.path, text).catch(ignoreFileError);
  }

  /** Keeps what the copy holds now for good. Resolves to the file that holds it. */
  async keepOlder(): Promise<string> {
    const older = `${this.path}.older`;
    const text = await this.read();
    if (text !== undefined) await writeTextAtomically(older, text).catch(ignoreFileError);
    return older;
  }
}

/** Copies a damaged file to a name of its own beside it. Resolves to that name; undefined when there is no file. */
export async function keepAside(path: string, now: Date): Promise<string | undefined> {
  const stamp = now.toISOString().replace(/[-:.]/g, '');
  const aside = join(dirname(path), `${basename(path)}.damaged-${stamp}`);
  try {
    await copyFile(path, aside);
    return aside;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw fileError('copy', path, error);
  }
}
