/** Lines of the screen that moved up or down together, from row `top` to row `bottom`, both from 0. */
export interface Scroll {
  readonly top: number;
  readonly bottom: number;
  /** By so many rows; negative: down. */
  readonly up: number;
}

/**
 * What moved from the one screen to the next, when moving it leaves fewer lines to be written than
 * writing all that changed. Undefined: nothing worth it.
 */
export function scrollBetween(
  before: readonly string[],
  after: readonly string[],
): Scroll | undefined {
  const scroll = widestScroll(before, after);
  if (scroll === undefined) return undefined;
  const saved = changedRows(before, after) - changedRows(scrolled(before, scroll), after);
  // The sequences of the scroll are about as long as a short line.
  return saved > 1 ? scroll : undefined;
}

/** The lines after the scroll; those that came in are empty. */
export function scrolled(lines: readonly string[], { top, bottom, up }: Scroll): readonly string[] {
  return lines.map((line, row) => {
    if (row < top || row > bottom) return line;
    const from = row + up;
    return from < top || from > bottom ? '' : (lines[from] ?? '');
  });
}

/** All lines that moved by the distance by which most of them did. */
function widestScroll(before: readonly string[], after: readonly string[]): Scroll | undefined {
  const rowOf = new Map(before.map((line, row) => [line, row]));
  const moved = new Map<number, { first: number; last: number; count: number }>();
  after.forEach((line, row) => {
    const from = rowOf.get(line);
    if (line === '' || from === undefined || line === before[row]) return;
    const { first = row, count = 0 } = moved.get(from - row) ?? {};
    moved.set(from - row, { first, last: row, count: count + 1 });
  });
  const [most] = [...moved].sort(([, a], [, b]) => b.count - a.count);
  if (most === undefined) return undefined;
  const [up, { first, last }] = most;
  return { top: Math.min(first, first + up), bottom: Math.max(last, last + up), up };
}

function changedRows(before: readonly string[], after: readonly string[]): number {
  return after.reduce((count, line, row) => (line === (before[row] ?? '') ? count : count + 1), 0);
}
