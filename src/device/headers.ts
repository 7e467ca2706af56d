import type { Answer } from './exchange.ts';
import { JsonFailure, parseJson } from './json.ts';

/** The longest wait that is waited for; a device that asks for more has refused. */
export const MAX_THROTTLE_MS = 30_000;
/** Reads wait so many times as long as one answer may take, where that is longer. */
export const READ_THROTTLE_TIME = 10;
/** So often a request is sent again because the device asked to wait. */
export const MAX_THROTTLES = 3;

/** How long a device asks to wait, from seconds or a date; undefined when it does not say. */
export function retryAfterMs(headers: Readonly<Record<string, string>>): number | undefined {
  const text = headers['retry-after']?.trim();
  if (text === undefined) return undefined;
  if (/^\d{1,15}(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  // Date.parse would take a negative number for a year.
  const until = /^-?\d/.test(text) ? NaN : Date.parse(text);
  if (Number.isNaN(until)) return undefined;
  // The device's own clock, where it tells the time: it may be far off from ours.
  const now = Date.parse(headers['date'] ?? '');
  return Math.max(0, until - (Number.isNaN(now) ? Date.now() : now));
}

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
