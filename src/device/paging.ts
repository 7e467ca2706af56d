import { isValueObject, type DeviceRecord, type Value } from './record.ts';
import type { PageStep } from './facts-schema.ts';
import type { ListFacts } from './profile.ts';

/** What a response says about further pages of the list. */
export interface PageMarks {
  /** The link to the next page, as written. */
  readonly next?: string;
  /** The number of records on all pages. */
  readonly total?: number;
  /** All numbers beside the records, by name: `current`, `rowCount`, `offset`. */
  readonly numbers?: Readonly<Record<string, number>>;
}

/** One response to a list request. */
export interface DecodedList extends PageMarks {
  readonly records: readonly DeviceRecord[];
  /** The form of the response: `array`, `results`, `keyed by id`, `form text` … */
  readonly envelope: string;
  /** The response is one object without a key, not a list. */
  readonly single?: true;
}

type JsonObject = Readonly<Record<string, Value>>;

/** Objects beside the records that contain page marks. */
const PLACES = ['links', '_links', 'meta', '_meta', 'metadata', 'paging', 'pagination', 'page'];

/** Names of the link to the next page; OData adds a prefix. */
const NEXT = /^(?:next|nextLink|next_link|next_url|next_page_url|(?:.+)?@odata\.nextLink)$/;

const TOTALS =
  /^(?:count|total|total_count|totalCount|total_records|totalRecords|total_items|totalItems|totalElements|(?:.+)?@odata\.count)$/;

/** Reads the page marks in the envelope of a list; none of them is reliable. */
export function pageMarksOf(envelope: JsonObject): PageMarks {
  const places = [
    envelope,
    ...PLACES.map((name) => envelope[name]).filter((place) => isValueObject(place)),
  ];
  const next = places
    .flatMap((place) => Object.entries(place))
    .filter(([name]) => NEXT.test(name))
    .map(([, value]) => linkIn(value))
    .find((link) => link !== undefined);
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

const NUMBERED: readonly PageStep[] = [
  { kind: 'page', parameter: 'current', size: 'rowCount' },
  { kind: 'page', parameter: 'page' },
];

const COUNTED: readonly PageStep[] = [
  { kind: 'offset', parameter: 'offset', size: 'limit' },
  { kind: 'offset', parameter: 'start', size: 'limit' },
];

const SIZES = ['page_size', 'pageSize', 'per_page', 'perPage', 'limit'];

/** Most likely first: what worked the last time, what is configured or named in the response, common ones. */
export function pageSteps(
  facts: ListFacts,
  { numbers = {} }: PageMarks,
  worked?: PageStep,
): readonly PageStep[] {
  const { paging, parameter, sizeParameter } = facts;
  if (paging === 'none' || paging === 'next') return [];
  const usual = paging === 'page' ? NUMBERED : paging === 'offset' ? COUNTED : undefined;
  if (usual !== undefined && parameter !== undefined) {
    const kind = paging === 'page' ? 'page' : 'offset';
    return [{ kind, parameter, ...(sizeParameter !== undefined && { size: sizeParameter }) }];
  }
  const size = SIZES.find((name) => name in numbers);
  const known = (usual ?? [...NUMBERED, ...COUNTED]).map((step) => {
    const isPlainPage = step.kind === 'page' && step.size === undefined;
    return isPlainPage && size !== undefined ? { ...step, size } : step;
  });
  const named = known.filter(({ parameter: name }) => name in numbers);
  const guessed = (usual ?? [...COUNTED.slice(0, 1), ...NUMBERED]).flatMap(
    (step) => known.find(({ parameter: name }) => name === step.parameter) ?? [],
  );
  const first = known.filter(
    ({ parameter: name, size: own }) => name === worked?.parameter && own === worked.size,
  );
  return [...new Set([...first, ...named, ...guessed])];
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

/** In words: `by the next link`, `by ?offset=&limit=`. */
export function pagingText(paging: 'next' | PageStep): string {
  if (paging === 'next') return 'by the next link';
  return `by ?${paging.parameter}=${paging.size === undefined ? '' : `&${paging.size}=`}`;
}
