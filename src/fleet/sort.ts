import { type Value, valueText } from '../device/record.ts';

/** Created on first use: it costs more than sorting a table. */
let collator: Intl.Collator | undefined;

function compareTexts(a: string, b: string): number {
  collator ??= new Intl.Collator('en', { numeric: true });
  return collator.compare(a, b);
}

const NUMBER = /^-?\d+(\.\d+)?$/;

/** Most important first; `-` reverses. Numbers by size, before text; empty values last either way. Stable. */
export function sortBy<T>(
  items: readonly T[],
  fields: readonly string[],
  valueOf: (item: T, field: string) => Value | undefined,
): T[] {
  // Starts with the least important field, because each pass is stable.
  return fields.reduceRight<T[]>(
    (sorted, field) => {
      const isReversed = field.startsWith('-');
      const name = isReversed ? field.slice(1) : field;
      const texts = sorted.map((item) => valueText(valueOf(item, name)));
      return inOrder(sorted, places(texts, isReversed));
    },
    [...items],
  );
}

/** The rank of each text among the distinct ones; collates each of them only once. */
function places(texts: readonly string[], isReversed: boolean): readonly number[] {
  const distinct = new Map<string, number>();
  for (const text of texts) distinct.set(text, 0);
  const hasEmpty = distinct.delete('');
  const keys = [...distinct.keys()];
  const numbers = keys.filter(isNumber).map(toNumberKey).sort(compareNumbers);
  const words = inCollation(keys.filter((text) => !isNumber(text)));
  let place = -1;
  for (const [index, key] of numbers.entries()) {
    const previous = numbers[index - 1];
    if (previous === undefined || compareNumbers(previous, key) !== 0) place += 1;
    distinct.set(key.text, place);
  }
  for (const [index, word] of words.entries()) {
    const previous = words[index - 1];
    if (previous === undefined || !isSame(previous, word)) place += 1;
    distinct.set(word.text, place);
  }
  if (isReversed) for (const [text, at] of distinct) distinct.set(text, place - at);
  if (hasEmpty) distinct.set('', place + 1);
  return texts.map((text) => distinct.get(text) ?? 0);
}

interface Word {
  readonly text: string;
  /** Undefined if only the collator can compare it. */
  readonly key: string | undefined;
}

function isSame(a: Word, b: Word): boolean {
  if (a.key !== undefined && b.key !== undefined) return a.key === b.key;
  return compareTexts(a.text, b.text) === 0;
}

/** The latest order: a growing table is not collated again for each new row. */
let ordered: readonly Word[] = [];

/** Sorts texts as the collator does; plain texts, which are most, without it. */
function inCollation(texts: readonly string[]): readonly Word[] {
  const left = new Set(texts);
  const before = ordered.filter(({ text }) => left.delete(text));
  const plain: { text: string; key: string }[] = [];
  const others: Word[] = [];
  for (const text of left) {
    const key = plainKey(text);
    if (key === undefined) others.push({ text, key });
    else plain.push({ text, key });
  }
  plain.sort((a, b) => {
    if (a.key === b.key) return 0;
    return a.key < b.key ? -1 : 1;
  });
  others.sort((a, b) => compareTexts(a.text, b.text));
  ordered = merged(before, merged(plain, others));
  return ordered;
}

/** Merges two sorted lists by inserting the shorter one into the longer one. */
function merged(one: readonly Word[], other: readonly Word[]): readonly Word[] {
  const [long, short] = one.length < other.length ? [other, one] : [one, other];
  if (short.length === 0) return long;
  const words: Word[] = [];
  let from = 0;
  for (const word of short) {
    const end = firstAfter(long, word, from);
    for (const other of long.slice(from, end)) words.push(other);
    words.push(word);
    from = end;
  }
  for (const word of long.slice(from)) words.push(word);
  return words;
}

/** The index of the first word after another one, from `from` on. */
function firstAfter(words: readonly Word[], word: Word, from: number): number {
  let [low, high] = [from, words.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = words[middle];
    if (other !== undefined && isAfter(other, word)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function isAfter(a: Word, b: Word): boolean {
  if (a.key !== undefined && b.key !== undefined) return a.key > b.key;
  return compareTexts(a.text, b.text) > 0;
}

/** Signs, digits and small letters; excludes combining characters and numbers too long for a key. */
const PLAIN = /^(?!.*\d{50})[_\-.@0-9a-z]+$/;
/** In collator order. */
const SIGNS = '_-.@';

/** Its code unit order is the collator's order: signs, numbers by size, letters. Undefined for other texts. */
export function plainKey(text: string): string | undefined {
  if (!PLAIN.test(text)) return undefined;
  return text.replace(/[_\-.@]|\d+/g, (part) => {
    const sign = SIGNS.indexOf(part);
    if (sign !== -1) return String.fromCharCode(1 + sign);
    const digits = part.replace(/^0+(?=\d)/, '');
    // The number with more digits is larger.
    return String.fromCharCode(0x20 + digits.length) + digits;
  });
}

/** A stable counting sort by rank. */
function inOrder<T>(items: readonly T[], placeOf: readonly number[]): T[] {
  const starts = new Uint32Array(items.length + 1);
  for (const place of placeOf) starts[place + 1] = (starts[place + 1] ?? 0) + 1;
  for (let place = 1; place < starts.length; place += 1) {
    starts[place] = (starts[place] ?? 0) + (starts[place - 1] ?? 0);
  }
  const sorted = [...items];
  items.forEach((item, index) => {
    const place = placeOf[index] ?? 0;
    const at = starts[place] ?? 0;
    sorted[at] = item;
    starts[place] = at + 1;
  });
  return sorted;
}

function isNumber(text: string): boolean {
  return NUMBER.test(text);
}

interface NumberKey {
  readonly text: string;
  readonly number: number | bigint;
}

function toNumberKey(text: string): NumberKey {
  // Beyond 15 digits a double would make neighbours equal.
  return { text, number: text.length > 15 && !text.includes('.') ? BigInt(text) : Number(text) };
}

function compareNumbers({ number: a }: NumberKey, { number: b }: NumberKey): number {
  if (a < b) return -1;
  return a > b ? 1 : 0;
}
