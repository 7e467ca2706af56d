import { ProtocolError, RejectedError } from './errors.ts';
import { isEqual } from './equality.ts';
import {
  type DeviceRecord,
  type DeviceRef,
  jsonText,
  isValueObject,
  type Value,
} from './record.ts';
import type { ListFacts } from './profile.ts';
import { oneLine } from '../text/one-line.ts';
import { maskedPath } from './sensitive-fields.ts';
import type { Note } from '../output/sentences.ts';

export interface PageStep {
  readonly kind: 'page' | 'offset';
  /** The query parameter for the page number, or for the index of the first record. */
  readonly parameter: string;
  /** The query parameter for the number of records per page. */
  readonly size?: string;
}

/** No device has more in one response: limits time and memory. */
export const MAX_RECORDS = 1_000_000;

const MAX_PAGES = 1000;

/** How often a list that changes while it is read is started again. */
const MAX_READINGS = 3;

export interface ReadPages extends Pick<DecodedList, 'records' | 'envelope' | 'single'> {
  /** The device said where it ends: a total, or no next page. */
  readonly hasEnd?: boolean;
  /** How further pages were reached; absent for one page. */
  readonly paging?: 'next' | PageStep | undefined;
  /** The path where it was found, if it differs from the profile's. */
  readonly path?: string;
  /** What the paths before it answered: `/api/user/ (404)`. */
  readonly tried?: readonly string[];
}

export interface ReadOptions {
  /** How the device pages; `auto` when absent. */
  readonly facts?: ListFacts;
  /** What led to further pages the last time; tried first. */
  readonly known?: PageStep | undefined;
  /** No further page is requested after this time. */
  readonly maxMs?: number;
  /** Asks for a page behind a list that may have one. */
  readonly probes?: boolean;
  readonly idOf?: (record: DeviceRecord) => string | undefined;
}

/** Reads all pages, or throws ProtocolError. Of `next` only path and query count: no other host gets a request. */
export async function readPages(
  path: string,
  device: DeviceRef,
  readPage: (path: string) => Promise<DecodedList>,
  options: ReadOptions = {},
): Promise<ReadPages> {
  const deadline = performance.now() + (options.maxMs ?? Infinity);
  const facts = { path, paging: 'auto' } as const;
  const source = { facts, ...options, path, readPage, device, deadline };
  for (let reading = 1; reading <= MAX_READINGS; reading += 1) {
    const pages = await new PageReader(source, await readPage(path)).finish();
    if (pages !== 'changed') return pages;
  }
  const what = { code: 'pages', is: 'unstable', path: maskedPath(path) } as const;
  throw new ProtocolError(device, { ...what, count: MAX_READINGS });
}

interface Source extends ReadOptions {
  readonly path: string;
  readonly device: DeviceRef;
  readonly readPage: (path: string) => Promise<DecodedList>;
  readonly facts: ListFacts;
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
}

class PageReader {
  readonly #source: Source;
  readonly #first: DecodedList;
  readonly #records: DeviceRecord[];
  /** As the latest page reported it. */
  #total: number | undefined;
  /** The list became shorter: a record may have moved to a page that was read before. */
  #hasShrunk = false;
  #hasGrown = false;

  constructor(source: Source, first: DecodedList) {
    this.#source = source;
    this.#first = first;
    this.#records = [...first.records];
    this.#total = first.total;
  }

  /** Reads the other pages; `changed` if they do not fit together. */
  async finish(): Promise<ReadPages | 'changed'> {
    const { records, envelope, total, next, single } = this.#first;
    if (single) return { records, envelope, single };
    const { paging } = this.#source.facts;
    if (paging === 'none') return this.#pages();
    if (next !== undefined && (paging === 'auto' || paging === 'next')) {
      const isMissing = await this.#followLinks(next);
      if (isMissing || this.#hasShrunk || this.#hasRepeated()) return 'changed';
      return this.#complete('next');
    }
    const { known, probes = false } = this.#source;
    const isEndless = /^(?:page|offset)/.test(paging) || probes || known !== undefined;
    if (this.#isWhole() && !(isEndless && total === undefined)) return this.#pages();
    if (records.length === 0) return this.#complete();
    // Tries each way until one returns new records.
    for (const step of pageSteps(this.#source.facts, this.#first, this.#source.known)) {
      if ((await this.#followNumbers(step)) || this.#hasShrunk) return 'changed';
      if (this.#records.length > records.length) return this.#complete(step);
    }
    return this.#complete();
  }

  #pages(paging?: 'next' | PageStep): ReadPages {
    const { envelope, isLast = false } = this.#first;
    const isStated = this.#source.facts.paging === 'none' || this.#total !== undefined;
    const hasEnd = isStated || isLast || paging !== undefined;
    return { records: this.#records, envelope, paging, hasEnd };
  }

  #complete(paging?: 'next' | PageStep): ReadPages {
    if (this.#isWhole()) return this.#pages(paging);
    const [path, total, read] = [this.#path, this.#total ?? '?', this.#records.length];
    throw this.#error({ code: 'pages', is: 'missing', path, total, read });
  }

  #isWhole(): boolean {
    return this.#total === undefined || this.#records.length >= this.#total;
  }

  /** A repeated record means a new order between two pages: another one may be missing. */
  #hasRepeated(): boolean {
    // Without an id, equal records may be several.
    const isOne = (record: DeviceRecord): boolean => this.#source.idOf?.(record) !== undefined;
    const texts = this.#records
      .filter((record) => this.#hasGrown || isOne(record))
      .map((record) => jsonText(record));
    return new Set(texts).size < texts.length;
  }

  /** Whether a linked page was missing because the list has changed. */
  async #followLinks(first: string): Promise<boolean> {
    const { path } = this.#source;
    const seen = new Set([path]);
    let page = this.#first;
    let previous = path;
    for (let link: string | undefined = first; link !== undefined; link = page.next) {
      const next = nextPath(link, previous, path);
      if (next === undefined || seen.has(next)) {
        const is = next === undefined ? 'elsewhere' : 'loop';
        const place = maskedPath(oneLine(next ?? link));
        throw this.#error({ code: 'pages', is, path: this.#path, link: place });
      }
      this.#checkBounds(seen.size);
      seen.add(next);
      const further = await this.#readFurther(next, [404]);
      if (further === undefined) return true;
      // Records inserted at the front shift a page; a second reading has no such shift.
      if (isSamePage(page, further)) return true;
      if (await this.#hasShifted(previous, page)) return true;
      page = further;
      this.#append(page, page.records);
      previous = next;
    }
    return false;
  }

  /** Whether a page was missing a record because the list has changed. */
  async #followNumbers(step: PageStep): Promise<boolean> {
    const { facts } = this.#source;
    const records = this.#records;
    const sizeOfFirst = this.#first.records.length;
    const known = new Set(records.map((record) => jsonText(record)));
    let [previous, last] = [this.#source.path, this.#first];
    for (let index = 1; this.#total === undefined || !this.#isWhole(); index += 1) {
      this.#checkBounds(index);
      const place = { index, read: records.length, sizeOfFirst };
      const path = stepPath(this.#source.path, step, place);
      const page = await this.#readFurther(path, [400, 404, 416]);
      // A device that does not know the parameter returns its first page again.
      const fresh = page?.records.filter((record) => !known.has(jsonText(record))) ?? [];
      const isBehind = page === undefined || fresh.length === 0;
      // The first page of a device that may have no pages at all is not read twice.
      const isGuess = index === 1 && facts.paging === 'auto';
      if (!(isBehind && isGuess) && (await this.#hasShifted(previous, last))) return true;
      if (isBehind) return false;
      for (const record of fresh) known.add(jsonText(record));
      this.#append(page, fresh);
      [previous, last] = [path, page];
    }
    return false;
  }

  /** Whether a page without a total shows other records by now: one of the next page may have moved to it. */
  async #hasShifted(path: string, { total, records }: DecodedList): Promise<boolean> {
    const idsOf = (all: readonly DeviceRecord[]): string =>
      jsonText(all.map((record) => this.#source.idOf?.(record) ?? null));
    if (total !== undefined) return false;
    const again = await this.#readFurther(path, [404]);
    return again === undefined || idsOf(again.records) !== idsOf(records);
  }

  /** A page after the first; undefined if the device says that there is none. */
  async #readFurther(path: string, none: readonly number[]): Promise<DecodedList | undefined> {
    try {
      return await this.#source.readPage(path);
    } catch (error) {
      if (error instanceof RejectedError && none.includes(error.status)) return undefined;
      throw error;
    }
  }

  #append({ total, records }: DecodedList, fresh: readonly DeviceRecord[]): void {
    for (const record of fresh) this.#records.push(record);
    if (total === undefined) return;
    // A count per page says nothing about the list.
    const isOfPage = total === records.length && this.#first.total === this.#first.records.length;
    if (!isOfPage) {
      this.#hasShrunk ||= total < (this.#total ?? 0);
      this.#hasGrown ||= total > (this.#total ?? 0);
    }
    this.#total = total;
  }

  #checkBounds(pages: number): void {
    const read = this.#records.length;
    const isLate = performance.now() > this.#source.deadline;
    if (!isLate && pages < MAX_PAGES && read < MAX_RECORDS) return;
    const is = isLate ? 'late' : 'endless';
    throw this.#error({ code: 'pages', is, path: this.#path, count: pages, read });
  }

  get #path(): string {
    return maskedPath(this.#source.path);
  }

  #error(what: Note): ProtocolError {
    return new ProtocolError(this.#source.device, what);
  }
}

function isSamePage({ records: one }: DecodedList, { records: other }: DecodedList): boolean {
  return (
    one.length > 0 &&
    one.length === other.length &&
    one.every((record, index) => isEqual(record, other[index]))
  );
}

/** Path and query of the next page; undefined if it is not a page of the same list. */
function nextPath(next: string, previous: string, path: string): string | undefined {
  const base = `https://device.invalid${previous}`;
  if (!URL.canParse(next, base)) return undefined;
  const url = new URL(next, base);
  return url.pathname === new URL(path, base).pathname ? url.pathname + url.search : undefined;
}

export interface PageMarks {
  readonly next?: string;
  /** The number of records on all pages. */
  readonly total?: number;
  readonly isLast?: true;
  /** All numbers beside the records, by name: `current`, `rowCount`, `offset`. */
  readonly numbers?: Readonly<Record<string, number>>;
}

export interface DecodedList extends PageMarks {
  readonly records: readonly DeviceRecord[];
  /** The form of the response: `array`, `results`, `keyed by id`, `form text` … */
  readonly envelope: string;
  /** The response is one object without a key, not a list. */
  readonly single?: true;
}

/** Objects beside the records that contain page marks. */
const PLACES = ['links', '_links', 'meta', '_meta', 'metadata', 'paging', 'pagination', 'page'];

const NEXT = /^(?:next|nextLink|next_link|next_url|next_page_url|(?:.+)?@odata\.nextLink)$/;

const TOTALS =
  /^(?:count|total|total_count|totalCount|total_records|totalRecords|total_items|totalItems|totalElements|(?:.+)?@odata\.count)$/;

/** Reads the page marks in the envelope of a list; none of them is reliable. */
export function pageMarksOf(envelope: DeviceRecord): PageMarks {
  const places = [
    envelope,
    ...PLACES.map((name) => envelope[name]).filter((place) => isValueObject(place)),
  ];
  const links = places
    .flatMap((place) => Object.entries(place))
    .filter(([name]) => NEXT.test(name));
  const next = links.map(([, value]) => linkIn(value)).find((link) => link !== undefined);
  const numbers: Record<string, number> = {};
  for (const place of places.toReversed()) {
    for (const [name, value] of Object.entries(place)) {
      const number = wholeNumber(value);
      if (number !== undefined && name !== '__proto__') numbers[name] = number;
    }
  }
  const total = Object.entries(numbers).flatMap(([name, number]) =>
    TOTALS.test(name) ? [number] : [],
  );
  return {
    ...(next !== undefined && { next }),
    ...(next === undefined && links.length > 0 && { isLast: true }),
    // One of several may count only this page; the highest counts all.
    ...(total.length > 0 && { total: Math.max(...total) }),
    ...(Object.keys(numbers).length > 0 && { numbers }),
  };
}

/** Reads the page marks in headers: `Link` (RFC 8288), `Content-Range: 0-9/37`, `X-Total-Count`. */
export function pageMarksInHeaders(headers: Readonly<Record<string, string>>): PageMarks {
  const links = (headers['link'] ?? '').matchAll(/<([^<>]*)>([^<]*)/g);
  const next = [...links].find(([, , parameters = '']) => isNext(parameters))?.[1];
  const range = /^(?!bytes )(?:[\w-]+ )?(?:\d+-\d+|\*)\/(\d+)$/.exec(
    headers['content-range'] ?? '',
  );
  const count = range?.[1] ?? headers['x-total-count'] ?? headers['x-total'] ?? '';
  const total = wholeNumber(count.trim());
  return {
    ...(next !== undefined && next !== '' && { next }),
    ...(total !== undefined && { total }),
  };
}

function isNext(parameters: string): boolean {
  const [, quoted, bare = ''] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters) ?? [];
  return (quoted ?? bare).toLowerCase().split(/\s+/).includes('next');
}

function linkIn(value: Value | undefined): string | undefined {
  const link = isValueObject(value) ? value['href'] : value;
  return typeof link === 'string' && link !== '' ? link : undefined;
}

function wholeNumber(value: Value): number | undefined {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0
    ? number
    : undefined;
}

const STEPS: readonly PageStep[] = [
  { kind: 'offset', parameter: 'offset', size: 'limit' },
  { kind: 'page', parameter: 'current', size: 'rowCount' },
  { kind: 'page', parameter: 'page' },
  { kind: 'offset', parameter: 'start', size: 'limit' },
];

const SIZES = ['page_size', 'pageSize', 'per_page', 'perPage', 'limit'];

/** Most likely first: what worked the last time, what is configured or named in the response, common ones. */
export function pageSteps(
  { paging }: ListFacts,
  { numbers = {} }: PageMarks,
  worked?: PageStep,
): readonly PageStep[] {
  if (paging === 'none' || paging === 'next') return [];
  const stated = pageStep(paging);
  if (stated !== undefined) return [stated];
  const size = SIZES.find((name) => name in numbers);
  const usual = STEPS.filter(({ kind }) => paging === 'auto' || paging === kind).map((step) => ({
    ...(size !== undefined && { size }),
    ...step,
  }));
  const named = usual.filter(({ parameter }) => parameter in numbers);
  // Where nothing names it, `start` means too many things.
  const guessed = usual.filter(({ parameter }) => paging !== 'auto' || parameter !== 'start');
  return [...new Set([...(worked === undefined ? [] : [worked]), ...named, ...guessed])];
}

/** `index` is 1 for the page after the first; `sizeOfFirst` is the number of records on the first. */
export function stepPath(
  path: string,
  step: PageStep,
  { index, read, sizeOfFirst }: { index: number; read: number; sizeOfFirst: number },
): string {
  const url = new URL(path, 'https://device.invalid');
  const place = step.kind === 'page' ? index + 1 : read;
  url.searchParams.set(step.parameter, String(place));
  if (step.size !== undefined) url.searchParams.set(step.size, String(sizeOfFirst));
  return url.pathname + url.search;
}

/** As the fact `list.paging` says it: `next`, `page current rowCount`. */
export function pagingText(paging: 'next' | PageStep): string {
  if (paging === 'next') return paging;
  const { kind, parameter, size } = paging;
  return [kind, parameter, ...(size === undefined ? [] : [size])].join(' ');
}

/** Undefined unless it names its parameters. */
export function pageStep(paging: string | undefined): PageStep | undefined {
  const [, kind, parameter, size] = /^(page|offset) (\S+)(?: (\S+))?$/.exec(paging ?? '') ?? [];
  if (parameter === undefined) return undefined;
  return {
    kind: kind === 'page' ? kind : 'offset',
    parameter,
    ...(size !== undefined && { size }),
  };
}
