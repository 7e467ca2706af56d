import { type Value, valueText } from '../device/record.ts';

/** Created on first use, because that takes longer than to sort a table. */
let collator: Intl.Collator | undefined;

export function compareTexts(a: string, b: string): number {
  collator ??= new Intl.Collator('en', { numeric: true });
  return collator.compare(a, b);
}

/** Sorts by fields, the most important first; `-` reverses. Numbers come before text, empty values last. Stable. */
export function sortBy<T>(
  items: readonly T[],
  fields: readonly string[],
  valueOf: (item: T, field: string) => Value | undefined,
): T[] {
  if (items.length < 2) return [...items];
  // The least important field is sorted first: the stable sort of each other field keeps its order.
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

/** Sorts items by ranks. These are small whole numbers, so it counts them instead of comparing. */
function inOrder<T>(items: readonly T[], ranks: readonly number[]): T[] {
  // The place of the next item, by rank.
  const next = ordered.map(() => 0);
  for (const rank of ranks) next[rank + 1] = (next[rank + 1] ?? 0) + 1;
  for (const [rank, count] of next.entries()) next[rank] = count + (next[rank - 1] ?? 0);
  const order = [...items];
  for (const [index, item] of items.entries()) {
    const rank = ranks[index] ?? 0;
    const at = next[rank] ?? 0;
    order[at] = item;
    next[rank] = at + 1;
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
  place: number;
}

const EMPTY = 2;

/** The number of characters that are compared: no list shows more, and a device may send megabytes. */
const MOST_COMPARED = 1_000;

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

/** The words of the last lists, by text and in order: a list that has grown is sorted again quickly. */
let known = new Map<string, Word>();
let ordered: Word[] = [];

/** The rank of each text among the known ones; collates each of them only once. */
function places(texts: readonly string[], isReversed: boolean): number[] {
  if (ordered.length > 2 * texts.length) [known, ordered] = [new Map<string, Word>(), []];
  const words = texts.map((whole) => {
    const text = whole.slice(0, MOST_COMPARED);
    let word = known.get(text);
    if (word === undefined) {
      known.set(text, (word = wordOf(text)));
      ordered.push(word);
    }
    return word;
  });
  let last: Word | undefined;
  for (const word of ordered.sort(compareWords)) {
    word.place = last === undefined ? 0 : last.place + (compareWords(last, word) === 0 ? 0 : 1);
    last = word;
  }
  if (!isReversed || last === undefined) return words.map(({ place }) => place);
  const most = last.kind === EMPTY ? last.place - 1 : last.place;
  return words.map(({ kind, place }) => (kind === EMPTY ? place : most - place));
}

/** Signs, digits and small letters; excludes combining characters, and numbers too long for a key. */
const PLAIN = /^[_\-.@0-9a-z]{1,59}$/;
/** In collator order. */
const SIGNS = '_-.@';

/** A key that sorts by code units as the collator sorts the text: signs, numbers by size, letters. Else undefined. */
export function plainKey(text: string): string | undefined {
  if (!PLAIN.test(text)) return undefined;
  // The number with more digits is larger.
  return text.replace(/[_\-.@]|0*(\d+)/g, (sign, digits?: string) =>
    digits === undefined
      ? String.fromCharCode(1 + SIGNS.indexOf(sign))
      : String.fromCharCode(0x20 + digits.length) + digits,
  );
}
