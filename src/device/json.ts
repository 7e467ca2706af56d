import { isValueList, type Value } from './record.ts';

/** Text that is no JSON, or JSON nested too deep to be walked safely. */
export class JsonFailure extends Error {
  /** Where in the text, when that is known. */
  readonly offset: number | undefined;

  constructor(message: string, options: ErrorOptions & { offset?: number } = {}) {
    super(message, options);
    this.offset = options.offset;
  }
}

/** A name that one object of a JSON text has twice, and where the second one is. */
export interface RepeatedName {
  readonly name: string;
  readonly offset: number;
}

/** Deeper than any record; far below where a recursive walk overflows the stack. */
const MAX_DEPTH = 64;

/** Longer than any number means anything; `BigInt` takes time in the square of its digits. */
const MAX_DIGITS = 1000;

const COLON = 0x3a;

/** Digits from which on an integer may not fit into a number. */
const LONG_DIGITS = 16;

/**
 * Reads JSON without loss: integers beyond 2^53 become `bigint`, numbers beyond all numbers their text. A byte order mark is skipped, of
 * duplicate keys the last wins, `__proto__` is a field like any other. Throws JsonFailure.
 *
 * @param onRepeated is told the first name that is there twice in one object
 */
export function parseJson(text: string, onRepeated?: (repeated: RepeatedName) => void): Value {
  const source = text.startsWith('\ufeff') ? text.slice(1) : text;
  const { depth, members, longNumbers } = scan(source);
  if (depth > MAX_DEPTH) throw new JsonFailure(`JSON nested more than ${MAX_DEPTH} levels deep`);
  const mark = longNumbers.length === 0 ? undefined : unusedMark(source);
  const parsed = parse(mark === undefined ? source : quoted(source, longNumbers, mark));
  // Counting takes next to no time; which one it is is looked for only when one is missing.
  if (onRepeated !== undefined && memberCount(parsed) < members) {
    const repeated = repeatedName(source);
    const skipped = text.length - source.length;
    if (repeated) onRepeated({ ...repeated, offset: repeated.offset + skipped });
  }
  return mark === undefined ? parsed : restore(parsed, mark);
}

/** The same for what a person wrote: a name that is there twice in one object is a JsonFailure. */
export function parseStrictJson(text: string): Value {
  return parseJson(text, ({ name, offset }) => {
    throw new JsonFailure(`${JSON.stringify(name)} is there twice in one object`, { offset });
  });
}

/** The same for what need not be JSON: undefined where it is none. */
export function jsonIn(text: string): Value | undefined {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonFailure) return undefined;
    throw error;
  }
}

/** How many names all objects in it have. Not deep: `scan` has limited the levels. */
function memberCount(value: Value): number {
  let count = 0;
  if (isValueList(value)) {
    for (const item of value) if (typeof item === 'object') count += memberCount(item);
  } else if (typeof value === 'object' && value !== null) {
    // Not Object.values: this is asked of each of 100,000 records, and makes nothing.
    for (const name in value) {
      count += 1;
      const held = value[name];
      if (typeof held === 'object') count += memberCount(held);
    }
  }
  return count;
}

/** The first name that is there twice in one object of a text that is JSON. */
function repeatedName(source: string): RepeatedName | undefined {
  const open: Set<string>[] = [];
  for (let index = 0; index < source.length; index += 1) {
    if (source[index] === '{') open.push(new Set());
    else if (source[index] === '}') open.pop();
    if (source[index] !== '"') continue;
    const end = endOfString(source, index);
    COLON_NEXT.lastIndex = end;
    if (COLON_NEXT.test(source)) {
      const name = JSON.parse(source.slice(index, end)) as string;
      if (open.at(-1)?.has(name) === true) return { name, offset: index };
      open.at(-1)?.add(name);
    }
    index = end - 1;
  }
  return undefined;
}

const COLON_NEXT = /\s*:/y;

function parse(source: string): Value {
  try {
    return JSON.parse(source) as Value;
  } catch (error) {
    throw new JsonFailure('not valid JSON', { cause: error });
  }
}

type Span = readonly [start: number, end: number];

/** One pass outside strings: how deep it nests, how many names there are, and where the long numbers are. */
function scan(source: string): { depth: number; members: number; longNumbers: readonly Span[] } {
  const longNumbers: Span[] = [];
  let level = 0;
  let depth = 0;
  let members = 0;
  let index = 0;
  while (index < source.length) {
    const code = source.charCodeAt(index);
    if (code === 0x22 /* " */) {
      index = endOfString(source, index);
      // Most colons follow at once: this spares them all the comparisons below.
      if (source.charCodeAt(index) === COLON) {
        members += 1;
        index += 1;
      }
      continue;
    }
    if (code === 0x5b /* [ */ || code === 0x7b /* { */) {
      level += 1;
      if (level > depth) depth = level;
      if (depth > MAX_DEPTH) break;
    } else if (code === 0x5d /* ] */ || code === 0x7d /* } */) {
      level -= 1;
    } else if (isDigit(code)) {
      const start = index;
      while (isDigit(source.charCodeAt(index))) index += 1;
      if (index - start > MAX_DIGITS) {
        throw new JsonFailure(`JSON with a number of more than ${MAX_DIGITS} digits`);
      }
      if (index - start >= LONG_DIGITS && isInteger(source, start, index)) {
        longNumbers.push([source[start - 1] === '-' ? start - 1 : start, index]);
      }
      const huge =
        source[index] === 'e' || source[index] === 'E' ? hugeAt(source, index) : undefined;
      if (huge !== undefined) {
        longNumbers.push(huge);
        index = huge[1];
      }
      continue;
    } else if (code === COLON) {
      members += 1;
    }
    index += 1;
  }
  return { depth, members, longNumbers };
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Whether the digits are a whole number that JSON allows, not a part of `1.5`, `1e9` or `007`. */
function isInteger(source: string, start: number, end: number): boolean {
  const next = source[end];
  const last = source[start - 1] === '-' ? source[start - 2] : source[start - 1];
  const isPart = /[.eE+\w-]/;
  if (source[start] === '0') return false;
  return !(next !== undefined && isPart.test(next)) && !(last !== undefined && isPart.test(last));
}

/** An exponent that makes a number beyond all numbers; bounded, as it is looked for at each `e`. */
const LARGE_EXPONENT = /[eE]\+?\d{3,400}(?![\w.+-])/y;

/** The number around such an exponent, if it is one. */
function hugeAt(source: string, exponent: number): Span | undefined {
  LARGE_EXPONENT.lastIndex = exponent;
  if (!LARGE_EXPONENT.test(source)) return undefined;
  const end = LARGE_EXPONENT.lastIndex;
  let start = exponent;
  while (/[\d.-]/.test(source[start - 1] ?? '')) start -= 1;
  const isNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(source.slice(start, exponent));
  return isNumber ? [start, end] : undefined;
}

/** The index after the closing quote; the end of the text when there is none. */
function endOfString(source: string, open: number): number {
  let close = source.indexOf('"', open + 1);
  while (close > 0) {
    let slashes = 0;
    while (source.charCodeAt(close - 1 - slashes) === 0x5c) slashes += 1;
    if (slashes % 2 === 0) return close + 1;
    close = source.indexOf('"', close + 1);
  }
  return source.length;
}

/** A prefix that no string of the text starts with, so that no string is taken for a number. */
function unusedMark(source: string): string {
  let mark = 'integer:';
  while (source.includes(mark)) mark = `integer${Math.random().toString(36).slice(2)}:`;
  return mark;
}

function quoted(source: string, spans: readonly Span[], mark: string): string {
  const parts: string[] = [];
  let from = 0;
  for (const [start, end] of spans) {
    parts.push(source.slice(from, start), `"${mark}${source.slice(start, end)}"`);
    from = end;
  }
  parts.push(source.slice(from));
  return parts.join('');
}

function exactNumber(text: string): Value {
  const number = Number(text);
  if (/^-?\d+$/.test(text)) return Number.isSafeInteger(number) ? number : BigInt(text);
  return Number.isFinite(number) ? number : text;
}

/** Not deep: `scan` has limited the levels. */
function restore(value: Value, mark: string): Value {
  if (typeof value === 'string') {
    if (!value.startsWith(mark)) return value;
    return exactNumber(value.slice(mark.length));
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Value) => restore(item, mark));
  return Object.fromEntries(
    Object.entries(value).map(([field, item]) => [field, restore(item, mark)]),
  );
}
