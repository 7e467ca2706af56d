import type { Value } from './record.ts';

/** What an answer says of its place in a list that has several pages. */
export interface PageMarks {
  /** Where the next page is, as the device wrote it. */
  readonly next?: string;
  /** How many records there are on all pages. */
  readonly total?: number;
  /** Every number beside the records, by its name: `current`, `rowCount`, `offset`. */
  readonly numbers?: Readonly<Record<string, number>>;
}

type JsonObject = Readonly<Record<string, Value>>;

/** Objects beside the records in which devices put such facts. */
const PLACES = ['links', '_links', 'meta', '_meta', 'metadata', 'paging', 'pagination', 'page'];

const TOTALS = ['count', 'total', 'total_count', 'totalCount', 'total_records', 'totalRecords'];

/** Reads them from the envelope of a list; nothing of it is a promise. */
export function pageMarksOf(envelope: JsonObject): PageMarks {
  const places = [
    envelope,
    ...PLACES.map((name) => envelope[name]).filter((place) => isObject(place)),
  ];
  const next = places.map((place) => linkIn(place['next'])).find((link) => link !== undefined);
  const numbers: Record<string, number> = {};
  for (const place of places.toReversed()) {
    for (const [name, value] of Object.entries(place)) {
      const number = wholeNumber(value);
      if (number !== undefined && name !== '__proto__') numbers[name] = number;
    }
  }
  const total = TOTALS.map((name) => numbers[name]).filter((number) => number !== undefined);
  return {
    ...(next !== undefined && { next }),
    // Where one of them counts this page only, the others are higher.
    ...(total.length > 0 && { total: Math.max(...total) }),
    ...(Object.keys(numbers).length > 0 && { numbers }),
  };
}

/** `next: "…"` or `next: {href: "…"}`. */
function linkIn(value: Value | undefined): string | undefined {
  const link = isObject(value) ? value['href'] : value;
  return typeof link === 'string' && link !== '' ? link : undefined;
}

function wholeNumber(value: Value): number | undefined {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0
    ? number
    : undefined;
}

function isObject(value: Value | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
