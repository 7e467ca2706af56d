/** The same seed gives the same sequence on every machine. */
export interface Random {
  /** From 0 (inclusive) to 1 (exclusive). */
  next(): number;
  /** A whole number from 0 to `limit - 1`. */
  below(limit: number): number;
  pick<T>(list: readonly [T, ...T[]]): T;
  /** A copy in another order. */
  shuffle<T>(list: readonly T[]): T[];
  /** Lower-case hex digits. */
  hex(digits: number): string;
  /** A version 4 UUID. */
  uuid(): string;
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}

/** Mulberry32: good enough for test data, not for secrets. */
export function createRandom(seed: string): Random {
  let state = hash(seed);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  const hex = (digits: number): string =>
    Array.from({ length: digits }, () => below(16).toString(16)).join('');
  return {
    next,
    below,
    hex,
    pick: ([first, ...rest]) => {
      const index = below(rest.length + 1);
      return index === 0 ? first : (rest[index - 1] ?? first);
    },
    shuffle: (list) =>
      list
        .map((item) => ({ item, rank: next() }))
        .sort((a, b) => a.rank - b.rank)
        .map(({ item }) => item),
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-${(8 + below(4)).toString(16)}${hex(3)}-${hex(12)}`,
  };
}
