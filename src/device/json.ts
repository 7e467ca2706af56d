import { exactNumber, isNested, isValueList, type Value } from './record.ts';
import { attempt, UsageError } from '../errors.ts';
import { lineAndColumn } from '../text/one-line.ts';
import { type Note, textOf } from '../output/sentences.ts';

/** Text that is not JSON, or is nested too deep. */
export class JsonFailure extends Error {
  /** In UTF-16 units, if known. */
  readonly offset: number | undefined;

  constructor(what: Note, options: ErrorOptions & { offset?: number } = {}) {
    super(textOf(what), options);
    this.offset = options.offset;
  }
}

/** A name that one object has twice, and the offset of the second. */
export interface RepeatedName {
  readonly name: string;
  readonly offset: number;
}

/** Deeper than any record; far from overflowing the stack. */
const MAX_DEPTH = 64;

/** Longer than any useful number; `BigInt` takes quadratic time. */
const MAX_DIGITS = 1000;

const COLON = 0x3a;

/** Reads JSON without loss (`bigint`, `ExactNumber`); the last of two equal names wins. Throws JsonFailure. */
export function parseJson(text: string, onRepeated?: (repeated: RepeatedName) => void): Value {
  const source = text.startsWith('\ufeff') ? text.slice(1) : text;
  const { depth, members, hasExactNumbers } = scan(source);
  if (depth > MAX_DEPTH) throw new JsonFailure({ code: 'bad-json', is: 'depth', most: MAX_DEPTH });
  const parsed = parse(source, hasExactNumbers);
  // Counting is cheap; search for the name only if one is missing.
  if (onRepeated !== undefined && countOf(parsed) < members) {
    const repeated = repeatedName(source);
    const skipped = text.length - source.length;
    if (repeated) onRepeated({ ...repeated, offset: repeated.offset + skipped });
  }
  return parsed;
}

/** For files of users: a name that one object has twice throws JsonFailure. */
export function parseStrictJson(text: string): Value {
  return parseJson(text, ({ name, offset }) => {
    throw new JsonFailure(
      { code: 'bad-json', is: 'twice', name: JSON.stringify(name) },
      { offset },
    );
  });
}

/** The JSON of a file of the user. Throws a UsageError with `file:line:column`. */
export function parseJsonFile(text: string, file: string): Value {
  try {
    return parseStrictJson(text);
  } catch (error) {
    if (!(error instanceof JsonFailure)) throw error;
    const place = lineAndColumn(text, error.offset ?? 0);
    throw new UsageError(`${file}:${place}: ${error.message}`, { cause: error });
  }
}

/** For text that may not be JSON: undefined then. */
export function jsonIn(text: string): Value | undefined {
  return attempt(JsonFailure, () => parseJson(text));
}

/** The properties of an object; none for anything else. */
export function partsOf(data: unknown): Readonly<Partial<Record<string, unknown>>> {
  return typeof data === 'object' && data !== null ? { ...data } : {};
}

/** Counts the names of all objects. The depth is limited before. */
function countOf(value: Value | undefined): number {
  let count = 0;
  if (isValueList(value)) {
    for (const item of value) count += countOf(item);
  } else if (isNested(value)) {
    // Not Object.values: this runs for each of 100,000 records and must not allocate.
    for (const name in value) {
      const item = value[name];
      count += typeof item === 'string' ? 1 : 1 + countOf(item);
    }
  }
  return count;
}

/** The first name that one object of valid JSON has twice. */
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

/** Recursion is safe because `scan` limits the depth. */
function parse(source: string, hasExactNumbers: boolean): Value {
  try {
    return JSON.parse(source, hasExactNumbers ? keepDigits : undefined) as Value;
  } catch (error) {
    const [, position] = /at position (\d+)/.exec(String(error)) ?? [];
    const offset = position === undefined ? source.trimEnd().length : Number(position);
    throw new JsonFailure({ code: 'bad-json', is: 'syntax' }, { cause: error, offset });
  }
}

/** For `JSON.parse`: `source` is the text of a number. */
function keepDigits(_name: string, value: Value, { source }: { source?: string } = {}): Value {
  return typeof value === 'number' && source !== undefined && source !== String(value)
    ? exactNumber(source)
    : value;
}

/** One pass outside strings: nesting depth, number of names, whether JavaScript would print a number otherwise. */
function scan(source: string): { depth: number; members: number; hasExactNumbers: boolean } {
  let hasExactNumbers = false;
  let level = 0;
  let depth = 0;
  let members = 0;
  let index = 0;
  while (index < source.length) {
    const code = source.charCodeAt(index);
    if (code === 0x22 /* " */) {
      index = endOfString(source, index);
      // Most colons follow directly; this skips the comparisons below.
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
    } else if (code >= 0x30 && code <= 0x39) {
      const start = source[index - 1] === '-' ? index - 1 : index;
      NUMBER_END.lastIndex = index;
      index += NUMBER_END.exec(source)?.[0].length ?? 1;
      if (index - start > MAX_DIGITS) {
        throw new JsonFailure({ code: 'bad-json', is: 'digits', most: MAX_DIGITS });
      }
      const text = source.slice(start, index);
      hasExactNumbers ||= String(Number(text)) !== text;
      continue;
    } else if (code === COLON) {
      members += 1;
    }
    index += 1;
  }
  return { depth, members, hasExactNumbers };
}

/** From the first digit to the end of what may be a number. */
const NUMBER_END = /[\d.eE+-]+/y;

/** The index after the closing quote, or the end of the text. */
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
