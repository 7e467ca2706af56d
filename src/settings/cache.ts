import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { VERSION } from '../version.ts';
import { ignoreFileError, readText, writeTextAtomically } from '../os/files.ts';

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
 * What was made of a file, kept in the cache as JSON: to parse and check a large one takes longer than
 * all the rest of a start. It counts only for the same file in the same state and the same devsh. Reading
 * and writing fail in silence: the file itself is there.
 */
export class ParsedCopy<Content> {
  readonly #path: string;

  /** @param folder in the cache, for the user only */
  constructor(folder: string, name: string) {
    this.#path = join(folder, `${name}.json`);
  }

  /** Undefined when nothing is kept of this state of the file (`fileStamp`). */
  async read(stamp: string): Promise<Content | undefined> {
    const kept = (await readCached(this.#path)) as Kept<Content> | undefined;
    return kept?.version === VERSION && kept.stamp === stamp ? kept.content : undefined;
  }

  async keep(stamp: string, content: Content): Promise<void> {
    const kept: Kept<Content> = { version: VERSION, stamp, content };
    await writeTextAtomically(this.#path, `${JSON.stringify(kept)}\n`).catch(ignoreFileError);
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
