import type { ListView } from '../../../src/tui/views/view.ts';

/** The texts of all rows of a list, without its header. */
export function listRows(list: ListView | undefined, width = 78): string[] {
  const drawn = list?.drawn(width);
  return (list?.rows ?? []).map((_, index) =>
    (drawn?.row(index).parts ?? []).map(({ text }) => text).join(''),
  );
}
