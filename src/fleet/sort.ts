import type { Value } from '../device/record.ts';
import { valueText } from '../device/value-text.ts';

/** Made once, when first used: creating a Collator costs more than sorting a table. */
let collator: Intl.Collator | undefined;

function compareTexts(a: string, b: string): number {
  collator ??= new Intl.Collator('en', { numeric: true });
  return collator.compare(a, b);
}

const NUMBER = /^-?\d+(\.\d+)?$/;

/**
 * Sorts by several fields, most important first; a leading `-` reverses. Numbers, also those that a
 * device sent as text, come by size and before text; what has no value comes last in both
 * directions. Stable.
 */
export function sortBy<T>(
  items: readonly T[],
  fields: readonly string[],
  valueOf: (item: T, field: string) => Value | undefined,
): T[] {
  const keys = fields.map((field) => {
    const isReversed = field.startsWith('-');
    const name = isReversed ? field.slice(1) : field;
    return ranks(
      items.map((item) => valueText(valueOf(item, name))),
      isReversed ? -1 : 1,
    );
  });
  const order = items.map((item, index) => ({ item, index }));
  order.sort((left, right) => {
    for (const key of keys) {
      const a = key[left.index] ?? 0;
      const b = key[right.index] ?? 0;
      if (a !== b) return a < b ? -1 : 1;
    }
    return left.index - right.index;
  });
  return order.map(({ item }) => item);
}

/** One number for each text, in sorting order: each distinct text is collated only once. */
function ranks(texts: readonly string[], direction: 1 | -1): Float64Array {
  const rankOf = new Map<string, number>();
  const distinct = [...new Set(texts)].filter((text) => text !== '').map(toKey);
  distinct.sort(compareKeys);
  let rank = 0;
  distinct.forEach((key, index) => {
    const previous = distinct[index - 1];
    if (previous && compareKeys(previous, key) !== 0) rank += 1;
    rankOf.set(key.text, rank * direction);
  });
  return Float64Array.from(texts, (text) => rankOf.get(text) ?? Infinity);
}

interface Key {
  readonly text: string;
  /** Absent when the text is no number. */
  readonly number?: number | bigint;
}

function toKey(text: string): Key {
  if (!NUMBER.test(text)) return { text };
  // Beyond 15 digits a double would make neighbours equal.
  return { text, number: text.length > 15 && !text.includes('.') ? BigInt(text) : Number(text) };
}

function compareKeys(a: Key, b: Key): number {
  if (a.number !== undefined && b.number !== undefined) {
    if (a.number < b.number) return -1;
    return a.number > b.number ? 1 : 0;
  }
  if (a.number !== undefined) return -1;
  if (b.number !== undefined) return 1;
  return compareTexts(a.text, b.text);
}
