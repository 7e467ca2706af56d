/** Before the first column: the cursor, the sign of the row, and its mark. */
export const GUTTER = 3;
export const GAP = '  ';

/** Cells of a column; with less than `least` it is left out. */
export interface ColumnNeed {
  readonly wanted: number;
  readonly least: number;
  /** The width up to which it grows if no other column needs the room. */
  readonly most?: number;
}

/** The width of each column that has room. Each group gets its least width, then all share: the widest are cut. */
export function fittedWidths<C extends ColumnNeed>(
  groups: readonly (readonly C[])[],
  room: number,
): ReadonlyMap<C, number> {
  const widths = new Map<C, number>();
  let left = room;
  const grow = (columns: readonly C[], limitOf: (one: C) => number): void => {
    const needs = columns
      .map((one) => ({ one, now: widths.get(one) ?? Infinity, limit: limitOf(one) }))
      .filter(({ now, limit }) => now < limit)
      .sort((a, b) => a.limit - a.now - (b.limit - b.now));
    for (const [index, { one, now, limit }] of needs.entries()) {
      const more = Math.min(limit - now, Math.ceil(left / (needs.length - index)));
      widths.set(one, now + more);
      left -= more;
    }
  };
  for (const group of groups) {
    for (const one of group) {
      const gap = widths.size === 0 ? 0 : GAP.length;
      if (left < one.least + gap && widths.size > 0) break;
      const cells = Math.max(1, Math.min(one.least, left));
      widths.set(one, cells);
      left -= cells + gap;
    }
    grow(group, ({ wanted }) => wanted);
  }
  grow(groups.flat(), ({ wanted, most = wanted }) => most);
  return widths;
}
