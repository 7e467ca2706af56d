import type { ListView } from '../../../src/tui/views/view.ts';

/** The texts of all rows of a list, without its header. */
export function listRows(list: ListView | undefined): string[] {
  return Array.from({ length: list?.count ?? 0 }, (_, index) =>
    (list?.row(index).parts ?? []).map(({ text }) => text).join(''),
  );
}
