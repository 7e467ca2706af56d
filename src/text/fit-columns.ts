/** Before the first column: the cursor, the sign of the row, and its mark. */
export const GUTTER = 3;
/** Between two columns. */
export const GAP = '  ';

/** Cells of a column; with less than `least` it is left out. */
export interface ColumnNeed {
  readonly wanted: number;
  readonly least: number;
}

/**
 * The width of each column that has room; the first one always has. Group after group, each column gets its
 * least width in the order of the group, then its wanted width while there is room.
 */
export function fittedWidths<C extends ColumnNeed>(
  groups: readonly (readonly C[])[],
  room: number,
): ReadonlyMap<C, number> {
  const widths = new Map<C, number>();
  let left = room;
  for (const group of groups) {
    for (const one of group) {
      const gap = widths.size === 0 ? 0 : GAP.length;
      if (left < one.least + gap && widths.size > 0) break;
      const cells = Math.max(1, Math.min(one.least, left));
      widths.set(one, cells);
      left -= cells + gap;
    }
    for (const one of group) {
      const now = widths.get(one);
      if (now === undefined || left <= 0) continue;
      const more = Math.min(left, Math.max(0, one.wanted - now));
      widths.set(one, now + more);
      left -= more;
    }
  }
  return widths;
}
