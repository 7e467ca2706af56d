import { basename, dirname, join } from 'node:path';
import { createHash } from 'node:crypto';
import { copyFile } from 'node:fs/promises';
import { VERSION } from '../version.ts';
import {
  errorCode,
  fileError,
  fileStamp,
  ignoreFileError,
  readBytes,
  readBytesSync,
  readText,
  writeTextAtomically,
} from '../os/files.ts';
import { attempt } from '../errors.ts';

/** The content of a cache file; undefined if it is missing or unreadable, as it can be made again. */
export function readCached(path: string): unknown {
  return attempt(Error, () => JSON.parse(readBytesSync(path).toString()) as unknown);
}

/** Returns undefined for invalid JSON. */
export function jsonIn(text: string): unknown {
  return attempt(SyntaxError, () => JSON.parse(text) as unknown);
}

/** The first line of a cache file. The second one is the content. */
interface CacheHead {
  readonly version: string;
  readonly stamp: string;
  readonly sha256: string;
}

/** Data that can be read again, for one version and state of its source. Errors are ignored, nobody waits. */
export class CachedFile<Content> {
  readonly #path: string;
  readonly #version: string;

  /** @param version of the content; that of devsh if the content depends on devsh's code */
  constructor(folder: string, name: string, version = VERSION) {
    this.#path = join(folder, `${name}.json`);
    this.#version = version;
  }

  /** Undefined if nothing is cached for this state (`fileStamp`). */
  async read(stamp = ''): Promise<Content | undefined> {
    const bytes = await readBytes(this.#path).catch(ignoreFileError);
    if (bytes === undefined) return undefined;
    const end = bytes.indexOf('\n');
    const content = bytes.subarray(end + 1);
    const head = jsonIn(bytes.toString('utf8', 0, end)) as CacheHead | null | undefined;
    const isValid =
      head?.version === this.#version && head.stamp === stamp && head.sha256 === digest(content);
    return isValid ? (JSON.parse(content.toString()) as Content) : undefined;
  }

  async keep(content: Content, stamp = ''): Promise<void> {
    const line = `${JSON.stringify(content)}\n`;
    const head: CacheHead = { version: this.#version, stamp, sha256: digest(line) };
    const text = `${JSON.stringify(head)}\n${line}`;
    await writeTextAtomically(this.#path, text, false).catch(ignoreFileError);
  }
}

/** What returns unchanged from the cache needs no check against its schema. No protection against forgery. */
export function seal<Content extends object>(content: Content): Content & { seal: string } {
  return { ...content, seal: sumOf(content) };
}

/** Whether this version wrote it and it is unchanged. */
export function isSealed(data: unknown): data is object {
  if (typeof data !== 'object' || data === null || !('seal' in data)) return false;
  const { seal: sum, ...content } = data;
  return sum === sumOf(content);
}

function sumOf(content: object): string {
  return digest(`${VERSION} ${JSON.stringify(content)}`);
}

function digest(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('base64url');
}

/** The last good text of a file, in another folder, so that the loss of one folder spares the other. */
export class GoodCopy {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Undefined if it is missing or unreadable: a copy is no reason to fail. */
  async read(): Promise<string | undefined> {
    return readText(this.path).catch(ignoreFileError);
  }

  /** As `fileStamp`; empty also if the copy cannot be examined. */
  async stamp(): Promise<string> {
    return (await fileStamp(this.path).catch(ignoreFileError)) ?? '';
  }

  /** Stores the text unless the copy has it already. A full or read-only disk is no reason to fail. */
  async keep(text: string): Promise<void> {
    if ((await this.read()) === text) return;
    await writeTextAtomically(this.path, text).catch(ignoreFileError);
  }

  /** Keeps the current content of the copy for good. Resolves to the file that has it. */
  async keepOlder(): Promise<string> {
    const older = `${this.path}.older`;
    const text = await this.read();
    if (text !== undefined) await writeTextAtomically(older, text).catch(ignoreFileError);
    return older;
  }
}

/** Copies a file that is replaced to a new name beside it. Resolves to that name; undefined if there is no file. */
export async function keepAside(
  path: string,
  now: Date,
  why: 'damaged' | 'before' = 'damaged',
): Promise<string | undefined> {
  const stamp = now.toISOString().replace(/[-:.]/g, '');
  const aside = join(dirname(path), `${basename(path)}.${why}-${stamp}`);
  try {
    await copyFile(path, aside);
    return aside;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw fileError('copy', path, error);
  }
}
