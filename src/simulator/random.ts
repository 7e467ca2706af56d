/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}

export type Random = ReturnType<typeof createRandom>;

/** Mulberry32, for test data, not for secrets. A seed gives the same sequence on every machine. */
export function createRandom(seed: string) {
  let state = hash(seed);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  /** A whole number from 0 to `limit - 1`. */
  const below = (limit: number): number => Math.floor(next() * limit);
  const hex = (digits: number): string =>
    Array.from({ length: digits }, () => below(16).toString(16)).join('');
  return {
    below,
    hex,
    /** One of a list that is not empty. */
    pick: <T>(list: readonly T[]): T => list[below(list.length)] as T,
    /** A copy in another order. */
    shuffle: <T>(list: readonly T[]): T[] =>
      list
        .map((item) => ({ item, rank: next() }))
        .sort((a, b) => a.rank - b.rank)
        .map(({ item }) => item),
    uuid: (): string =>
      `${hex(8)}-${hex(4)}-4${hex(3)}-${(8 + below(4)).toString(16)}${hex(3)}-${hex(12)}`,
  };
}
