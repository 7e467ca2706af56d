import { createStyle } from '../../output/streams.ts';
import { alignedLines } from '../../output/table-text.ts';
import { overlayLines } from './overlay-lines.ts';
import type { State } from '../state.ts';
import { columnLayout } from '../table/columns.ts';
import { tableRows } from '../table/rows.ts';
import { listView } from './list-view.ts';

/** What is in sight, whole: every line and every column, for the pager. */
export function pagerLines(state: State): readonly string[] {
  const { overlay } = state;
  const list = listView(state);
  if (list !== undefined) {
    const rows = Array.from({ length: list.count }, (_, index) => list.row(index).text);
    return rows.length === 0 ? [] : [list.header, ...rows];
  }
  // Not wrapped: the pager does that, and finds what stands at the end of a line.
  if (overlay.kind === 'pager') return overlay.lines;
  return overlay.kind === 'none' ? tableLines(state) : overlayLines(state);
}

function tableLines(state: State): readonly string[] {
  const { rows } = tableRows(state);
  if (rows.length === 0) return [];
  const unscrolled = { ...state, table: { ...state.table, shift: 0 } };
  const { columns } = columnLayout(unscrolled, Number.MAX_SAFE_INTEGER);
  const table = {
    columns: columns.map(({ title, kind }) => ({
      title,
      role: kind === 'note' ? ('note' as const) : ('field' as const),
    })),
    rows: rows.map((row) => columns.map(({ text }) => text(row))),
  };
  return alignedLines(table, Number.MAX_SAFE_INTEGER, createStyle(false));
}
