import type { Answer } from './exchange.ts';
import { JsonFailure, parseJson } from './json.ts';

/** The state that one record is in, as `ETag` or the record itself names it; for `If-Match`. */
export function entityTagOf({ headers, body }: Answer): string | undefined {
  const tag = headers['etag'] ?? tagIn(body);
  // As RFC 9110 spells it: anything else may not be sent in a header.
  return tag !== undefined && /^(?:W\/)?"[\x21\x23-\x7e]*"$/.test(tag) ? tag : undefined;
}

function tagIn(body: string): string | undefined {
  try {
    const record = parseJson(body);
    if (typeof record !== 'object' || record === null || !('@odata.etag' in record)) {
      return undefined;
    }
    const tag = record['@odata.etag'];
    return typeof tag === 'string' ? tag : undefined;
  } catch (error) {
    if (error instanceof JsonFailure) return undefined;
    throw error;
  }
}
