import type { DecodedList } from './decode.ts';
import { ProtocolError } from './errors.ts';
import type { DeviceRecord, DeviceRef } from './record.ts';
import { oneLine } from './text.ts';

const MAX_PAGES = 1000;
const MAX_RECORDS = 1_000_000;

/**
 * Reads a list page by page until there is no next one. Of `next` only path and query count: behind
 * a proxy it may name another host, which must never get a request. Throws ProtocolError rather than
 * leave records out.
 *
 * @param maxMs no further page is asked for after so long
 */
export async function readPages(
  path: string,
  device: DeviceRef,
  readPage: (path: string) => Promise<DecodedList>,
  maxMs = Infinity,
): Promise<{ records: readonly DeviceRecord[]; envelope: string }> {
  const startedAt = performance.now();
  const seen = new Set([path]);
  const first = await readPage(path);
  const records: DeviceRecord[] = [...first.records];
  let page = first;
  let previous = path;
  while (page.next !== undefined) {
    const next = nextPath(page.next, previous, path);
    if (next === undefined) {
      throw new ProtocolError(
        device,
        `the next page of ${path} is elsewhere: ${oneLine(page.next)}`,
      );
    }
    if (seen.has(next)) {
      throw new ProtocolError(
        device,
        `the pages of ${path} go in a circle: ${oneLine(next)} again`,
      );
    }
    const isLate = performance.now() - startedAt > maxMs;
    if (isLate || seen.size >= MAX_PAGES || records.length >= MAX_RECORDS) {
      throw new ProtocolError(
        device,
        `${path} does not end: ${seen.size} pages with ${records.length} records so far` +
          (isLate ? '. Give it longer with --timeout' : ''),
      );
    }
    seen.add(next);
    page = await readPage(next);
    for (const record of page.records) records.push(record);
    previous = next;
  }
  const total = page.total ?? first.total;
  if (total !== undefined && total > records.length) {
    throw new ProtocolError(
      device,
      `${path} says that there are ${total} records, but gives only ${records.length} and no next page`,
    );
  }
  return { records, envelope: first.envelope };
}

/** Path and query of the next page; undefined when it is not a page of the same list. */
function nextPath(next: string, previous: string, path: string): string | undefined {
  const base = `https://device.invalid${previous}`;
  if (!URL.canParse(next, base)) return undefined;
  const url = new URL(next, base);
  return url.pathname === path ? url.pathname + url.search : undefined;
}
