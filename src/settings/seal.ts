import { createHash } from 'node:crypto';
import { VERSION } from '../version.ts';

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
