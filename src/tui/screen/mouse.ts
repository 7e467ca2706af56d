import { listView } from '../views/views.ts';
import { listTop } from '../views/view.ts';
import type { State } from '../state.ts';
import { isTooSmall, layoutOf } from './layout.ts';
import { tableWidth } from '../table/pane.ts';
import { tableRows } from '../table/rows.ts';

/** Below the bar and the title. */
const BODY = 2;

/** What is at a place of the screen; undefined: nothing that a click means. */
export type Target =
  | { readonly kind: 'prompt' }
  | { readonly kind: 'body' }
  /** `index`: of the row in its table or list. */
  | { readonly kind: 'row'; readonly index: number };

/** A click answers no question and changes no form: those take keys only. */
export function targetAt(
  state: State,
  { row, column }: { readonly row: number; readonly column: number },
): Target | undefined {
  const { questions, form, overlay, table } = state;
  if (isTooSmall(state) || questions.length > 0) return undefined;
  if (form !== undefined && overlay.kind === 'none') return undefined;
  const { body, inputRow } = layoutOf(state);
  if (row === inputRow) return { kind: 'prompt' };
  if (row < BODY || row >= BODY + body) return undefined;
  // The first line is the header.
  const line = row - BODY - 1;
  const list = listView(state);
  const [top, count] =
    overlay.kind === 'none'
      ? [table.top, column < tableWidth(state) ? tableRows(state).rows.length : 0]
      : list === undefined
        ? [0, 0]
        : [listTop(list, body), list.count];
  const index = top + line;
  return line >= 0 && index < count ? { kind: 'row', index } : { kind: 'body' };
}
