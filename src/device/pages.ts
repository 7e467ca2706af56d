import type { DecodedList } from './json-records.ts';
import { ProtocolError, RejectedError } from './errors.ts';
import { jsonText, valueText } from './value-text.ts';
import { pageSteps, stepPath } from './paging.ts';
import type { PageStep } from './learned-schema.ts';
import { keyFieldOf, type ListFacts, type Profile } from './profile.ts';
import type { DeviceRecord, DeviceRef } from './record.ts';
import { oneLine } from '../text/one-line.ts';

const MAX_PAGES = 1000;
const MAX_RECORDS = 1_000_000;

/** How often a list is read anew that changes while its pages are read. */
const MAX_READINGS = 3;

/** A list of one page or more. */
export interface ReadPages {
  readonly records: readonly DeviceRecord[];
  readonly envelope: string;
  /** How further pages were reached; absent when there was only one. */
  readonly paging?: 'next' | PageStep;
  /** Where it was found, when that is not where the profile said. */
  readonly path?: string;
  /** It is no list but one object. */
  readonly single?: true;
}

interface ReadOptions {
  /** How the device pages; `auto` unless told. */
  readonly facts?: ListFacts;
  /** What led to further pages the last time: it is tried first. */
  readonly known?: PageStep | undefined;
  /** No further page is asked for after so long. */
  readonly maxMs?: number;
  /** What tells two records apart; without it, none comes twice. */
  readonly idOf?: (record: DeviceRecord) => string | undefined;
}

/**
 * Reads a list page by page. Of `next` only path and query count: behind a proxy it may name another
 * host, which must never get a request. Without it, an answer that says that there are more records is
 * followed by page number or offset, as long as that brings new ones. A list that changes meanwhile is
 * read anew. Throws ProtocolError rather than leave records out.
 */
export async function readPages(
  path: string,
  device: DeviceRef,
  readPage: (path: string) => Promise<DecodedList>,
  {
    facts = { path, paging: 'auto' },
    known,
    maxMs = Infinity,
    idOf = () => undefined,
  }: ReadOptions = {},
): Promise<ReadPages> {
  const deadline = performance.now() + maxMs;
  const reading = new Reading({ path, device, readPage, facts, known, deadline, idOf });
  for (let attempt = 1; ; attempt += 1) {
    const pages = await reading.once(attempt === MAX_READINGS);
    if (pages !== 'changed') return pages;
    if (attempt === MAX_READINGS) {
      throw new ProtocolError(
        device,
        `${path} changes while its pages are read, ${MAX_READINGS} times in turn. Try again`,
      );
    }
  }
}

/** The pages gathered so far. */
interface Gathered {
  readonly records: DeviceRecord[];
  readonly first: DecodedList;
  /** What the latest page said. */
  total: number | undefined;
  /** Whether the list became shorter on the way: then a record may have moved to a page read before. */
  hasShrunk: boolean;
  hasGrown: boolean;
}

/** What is read, and how. */
interface Source {
  readonly path: string;
  readonly device: DeviceRef;
  readonly readPage: (path: string) => Promise<DecodedList>;
  readonly facts: ListFacts;
  readonly known: PageStep | undefined;
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
  readonly idOf: (record: DeviceRecord) => string | undefined;
}

class Reading {
  readonly #source: Source;

  constructor(source: Source) {
    this.#source = source;
  }

  /** Reads all pages once; `changed` when they do not fit together. `isLast`: says then what is wrong. */
  async once(isLast: boolean): Promise<ReadPages | 'changed'> {
    const first = await this.#source.readPage(this.#source.path);
    const { envelope } = first;
    if (first.single) return { records: first.records, envelope, single: true };
    const gathered: Gathered = {
      records: [...first.records],
      first,
      total: first.total,
      hasShrunk: false,
      hasGrown: false,
    };
    const { paging } = this.#source.facts;
    if (paging === 'none') return { records: gathered.records, envelope };
    if (first.next !== undefined && (paging === 'auto' || paging === 'next')) {
      const end = await this.#followLinks(gathered, isLast);
      // Where one comes twice, the order has changed between two pages, and another may never come.
      if (end === 'gone' || hasMoved(gathered) || this.#comesTwice(gathered)) return 'changed';
      if (isWhole(gathered)) return { records: gathered.records, envelope, paging: 'next' };
      throw this.#tooFew(gathered);
    }
    const isEndless = paging === 'page' || paging === 'offset';
    if (isWhole(gathered) && !(isEndless && first.total === undefined)) {
      return { records: gathered.records, envelope };
    }
    return this.#followNumbers(gathered);
  }

  #comesTwice({ records }: Gathered): boolean {
    const byId = new Map<string, DeviceRecord>();
    return records.some((record) => {
      const id = this.#source.idOf(record);
      if (id === undefined) return false;
      const earlier = byId.get(id);
      byId.set(id, record);
      // Ids that begin anew on each page say nothing.
      return earlier !== undefined && jsonText(earlier) === jsonText(record);
    });
  }

  async #followLinks(gathered: Gathered, isLast: boolean): Promise<'end' | 'gone'> {
    const seen = new Set([this.#source.path]);
    let page = gathered.first;
    let previous = this.#source.path;
    while (page.next !== undefined) {
      const next = nextPath(page.next, previous, this.#source.path);
      if (next === undefined) {
        throw new ProtocolError(
          this.#source.device,
          `the next page of ${this.#source.path} is elsewhere: ${oneLine(page.next)}`,
        );
      }
      if (seen.has(next)) {
        throw new ProtocolError(
          this.#source.device,
          `the pages of ${this.#source.path} go in a circle: ${oneLine(next)} again`,
        );
      }
      this.#checkBounds(seen.size, gathered);
      seen.add(next);
      const answer = isLast ? await this.#source.readPage(next) : await this.#further(next, [404]);
      if (answer === undefined) return 'gone';
      if (isSamePage(page, answer)) {
        // Records that were added in front move a page on; read again, they do so no more.
        if (!isLast) return 'gone';
        throw new ProtocolError(
          this.#source.device,
          `the pages of ${this.#source.path} repeat: ${oneLine(next)} has the records of the page before`,
        );
      }
      page = answer;
      take(gathered, page, page.records);
      previous = next;
    }
    return 'end';
  }

  /** Tries one way after the other until one brings records that are new. */
  async #followNumbers(gathered: Gathered): Promise<ReadPages | 'changed'> {
    const { first } = gathered;
    const { envelope } = first;
    if (first.records.length > 0) {
      const { facts, known } = this.#source;
      for (const step of pageSteps(facts, first, known)) {
        const start = first.records.length;
        await this.#follow(gathered, step);
        if (hasMoved(gathered)) return 'changed';
        if (gathered.records.length === start) continue;
        if (isWhole(gathered)) return { records: gathered.records, envelope, paging: step };
        throw this.#tooFew(gathered);
      }
    }
    if (isWhole(gathered)) return { records: gathered.records, envelope };
    throw this.#tooFew(gathered);
  }

  async #follow(gathered: Gathered, step: PageStep): Promise<void> {
    const { first, records } = gathered;
    const known = new Set(records.map((record) => jsonText(record)));
    for (let index = 1; gathered.total === undefined || !isWhole(gathered); index += 1) {
      this.#checkBounds(index, gathered);
      const place = { index, read: records.length, sizeOfFirst: first.records.length };
      const page = await this.#further(stepPath(this.#source.path, step, place), [400, 404, 416]);
      // A device that does not know the parameter gives its first page once more.
      const fresh = page?.records.filter((record) => !known.has(jsonText(record))) ?? [];
      if (page === undefined || fresh.length === 0) return;
      for (const record of fresh) known.add(jsonText(record));
      take(gathered, page, fresh);
    }
  }

  /** A page after the first; undefined where the device says that there is none. */
  async #further(path: string, none: readonly number[]): Promise<DecodedList | undefined> {
    try {
      return await this.#source.readPage(path);
    } catch (error) {
      if (error instanceof RejectedError && none.includes(error.status)) return undefined;
      throw error;
    }
  }

  #checkBounds(pages: number, { records }: Gathered): void {
    const isLate = performance.now() > this.#source.deadline;
    if (!isLate && pages < MAX_PAGES && records.length < MAX_RECORDS) return;
    throw new ProtocolError(
      this.#source.device,
      `${this.#source.path} does not end: ${pages} pages with ${records.length} records so far` +
        (isLate ? '. Give it longer with --timeout' : ''),
    );
  }

  #tooFew({ records, total }: Gathered): ProtocolError {
    return new ProtocolError(
      this.#source.device,
      `${this.#source.path} says that there are ${total ?? '?'} records, but gives only ${records.length} and no next page`,
    );
  }
}

function isSamePage({ records: one }: DecodedList, { records: other }: DecodedList): boolean {
  return (
    one.length > 0 &&
    one.length === other.length &&
    one.every((record, index) => jsonText(record) === jsonText(other[index] ?? null))
  );
}

function take(gathered: Gathered, page: DecodedList, fresh: readonly DeviceRecord[]): void {
  for (const record of fresh) gathered.records.push(record);
  const { first, total = 0 } = gathered;
  if (page.total === undefined) return;
  // A count of each page alone says nothing of the list.
  const isOfPage = page.total === page.records.length && first.total === first.records.length;
  if (!isOfPage) {
    gathered.hasShrunk ||= page.total < total;
    gathered.hasGrown ||= page.total > total;
  }
  gathered.total = page.total;
}

/** Whether records may have moved from page to page unseen; one that comes twice has. */
function hasMoved({ records, hasShrunk, hasGrown }: Gathered): boolean {
  if (hasShrunk || !hasGrown) return hasShrunk;
  return new Set(records.map((record) => jsonText(record))).size < records.length;
}

function isWhole({ records, total }: Gathered): boolean {
  return total === undefined || records.length >= total;
}

/** Path and query of the next page; undefined when it is not a page of the same list. */
function nextPath(next: string, previous: string, path: string): string | undefined {
  const base = `https://device.invalid${previous}`;
  if (!URL.canParse(next, base)) return undefined;
  const url = new URL(next, base);
  return url.pathname === new URL(path, base).pathname ? url.pathname + url.search : undefined;
}

/** More records are not read one by one. */
const MAX_DETAILS = 1000;
const DETAILS_AT_ONCE = 2;

/**
 * The records in full, each read by `readOne`, two at a time and no longer than `maxMs`. Throws
 * ProtocolError when they are too many or too slow, and never gives a part of them.
 */
export async function readDetails(
  device: DeviceRef,
  resource: string,
  records: readonly DeviceRecord[],
  readOne: (record: DeviceRecord) => Promise<DeviceRecord>,
  maxMs: number,
): Promise<readonly DeviceRecord[]> {
  if (records.length > MAX_DETAILS) {
    throw new ProtocolError(
      device,
      `its list of ${resource}s leaves fields out, and ${records.length} records are too many to be ` +
        'read one by one: name fewer',
    );
  }
  const full = [...records];
  const left = records.entries();
  const deadline = performance.now() + maxMs;
  const readOn = async (): Promise<void> => {
    for (const [index, record] of left) {
      if (performance.now() > deadline) throw tooSlow(device, resource, index, records.length);
      full[index] = await readOne(record);
    }
  };
  await Promise.all(Array.from({ length: DETAILS_AT_ONCE }, readOn));
  return full;
}

/** The record with what its own path shows of it. Throws ProtocolError when that is another record. */
export function completed(
  device: DeviceRef,
  profile: Profile,
  resource: string,
  { path, record, full }: { path: string; record: DeviceRecord; full: DeviceRecord },
): DeviceRecord {
  const names = [keyFieldOf(profile, resource, [record]), ...profile.idFields];
  const other = names.find(
    (field) =>
      Object.hasOwn(record, field) &&
      Object.hasOwn(full, field) &&
      valueText(record[field]) !== valueText(full[field]),
  );
  if (other !== undefined) {
    throw new ProtocolError(device, `${path} answers with another ${resource} (${other})`);
  }
  return { ...record, ...full };
}

function tooSlow(device: DeviceRef, resource: string, read: number, all: number): ProtocolError {
  const text = `only ${read} of ${all} ${resource}s could be read one by one in time. Give it longer with --timeout`;
  return new ProtocolError(device, text);
}
