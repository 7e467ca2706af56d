import { type Value, valueText } from '../device/record.ts';

/** Created on first use: it costs more than sorting a table. */
let collator: Intl.Collator | undefined;

function compareTexts(a: string, b: string): number {
  collator ??= new Intl.Collator('en', { numeric: true });
  return collator.compare(a, b);
}

/**
 * Most important first; `-` reverses. Numbers by size, before text; empty values last either way. Stable.
 *
 * @param isWhole the items are a table that may grow, not a part of one
 */
export function sortBy<T>(
  items: readonly T[],
  [field, ...others]: readonly string[],
  valueOf: (item: T, field: string) => Value | undefined,
  isWhole = true,
): T[] {
  if (field === undefined || items.length < 2) return [...items];
  const isReversed = field.startsWith('-');
  const name = isReversed ? field.slice(1) : field;
  const texts = items.map((item) => valueText(valueOf(item, name)));
  const { order, ends } = inOrder(items, places(texts, isReversed, isWhole));
  if (others.length === 0) return order;
  // The other fields only decide between items with equal values: short lists sort faster.
  let start = 0;
  for (const end of ends) {
    if (end - start > 1) {
      const equal = sortBy(order.slice(start, end), others, valueOf, false);
      for (const [index, item] of equal.entries()) order[start + index] = item;
    }
    start = end;
  }
  return order;
}

/** One of the distinct texts of a field. */
interface Word {
  readonly text: string;
  /** 0 for numbers, 1 for other texts, 2 for the empty one. */
  readonly kind: number;
  /** Orders words of one kind; undefined if only the collator can. */
  readonly key: string | number | bigint | undefined;
  /** Its rank; -1 if it is only in an earlier list. */
  place: number;
}

const EMPTY = 2;

function wordOf(text: string): Word {
  if (text === '') return { text, kind: EMPTY, key: '', place: 0 };
  if (!/^-?\d+(\.\d+)?$/.test(text)) return { text, kind: 1, key: plainKey(text), place: 0 };
  // Beyond 15 digits a double would make neighbours equal.
  const key = text.length > 15 && !text.includes('.') ? BigInt(text) : Number(text);
  return { text, kind: 0, key, place: 0 };
}

function compareWords(a: Word, b: Word): number {
  if (a.kind !== b.kind) return a.kind - b.kind;
  if (a.key === undefined || b.key === undefined) return compareTexts(a.text, b.text);
  if (a.key < b.key) return -1;
  return a.key > b.key ? 1 : 0;
}

/** The latest order: a growing table is not collated again for each new row. */
let ordered: readonly Word[] = [];

/** The rank of each text among the distinct ones; collates each of them only once. */
function places(texts: readonly string[], isReversed: boolean, isWhole: boolean): number[] {
  const distinct = new Map<string, Word>();
  const earlier = isWhole ? ordered : [];
  for (const word of earlier) {
    word.place = -1;
    distinct.set(word.text, word);
  }
  const keyed: Word[] = [];
  const others: Word[] = [];
  const words = texts.map((text) => {
    let word = distinct.get(text);
    if (word === undefined) {
      word = wordOf(text);
      distinct.set(text, word);
      (word.key === undefined ? others : keyed).push(word);
    }
    word.place = 0;
    return word;
  });
  const fresh = merged(keyed.sort(compareWords), others.sort(compareWords));
  const order = merged(
    earlier.filter(({ place }) => place === 0),
    fresh,
  );
  if (isWhole) ordered = order;
  let last: Word | undefined;
  for (const word of order) {
    if (last !== undefined) word.place = last.place + (compareWords(last, word) === 0 ? 0 : 1);
    last = word;
  }
  if (!isReversed || last === undefined) return words.map(({ place }) => place);
  const most = last.kind === EMPTY ? last.place - 1 : last.place;
  return words.map(({ kind, place }) => (kind === EMPTY ? place : most - place));
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
    if (other !== undefined && compareWords(other, word) > 0) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Signs, digits and small letters; excludes combining characters, and numbers too long for a key. */
const PLAIN = /^[_\-.@0-9a-z]{1,59}$/;
/** In collator order. */
const SIGNS = '_-.@';

/** Its code unit order is the collator's order: signs, numbers by size, letters. Undefined for other texts. */
export function plainKey(text: string): string | undefined {
  if (!PLAIN.test(text)) return undefined;
  // The number with more digits is larger.
  return text.replace(/[_\-.@]|0*(\d+)/g, (sign, digits?: string) =>
    digits === undefined
      ? String.fromCharCode(1 + SIGNS.indexOf(sign))
      : String.fromCharCode(0x20 + digits.length) + digits,
  );
}

/** A stable counting sort by rank. `ends`: where the items of each rank end. */
function inOrder<T>(
  items: readonly T[],
  placeOf: readonly number[],
): { order: T[]; ends: Uint32Array } {
  const starts = new Uint32Array(items.length + 1);
  for (const place of placeOf) starts[place + 1] = (starts[place + 1] ?? 0) + 1;
  for (let place = 1; place < starts.length; place += 1) {
    starts[place] = (starts[place] ?? 0) + (starts[place - 1] ?? 0);
  }
  const order = [...items];
  items.forEach((item, index) => {
    const place = placeOf[index] ?? 0;
    const at = starts[place] ?? 0;
    order[at] = item;
    starts[place] = at + 1;
  });
  return { order, ends: starts };
}
