import { listView } from '../views/views.ts';
import { listTop } from '../views/view.ts';
import { menuTop } from '../prompt/reduce-prompt.ts';
import type { RowTarget, State } from '../state.ts';
import { isTooSmall, layoutOf } from './layout.ts';
import { tableWidth } from '../table/pane.ts';
import { tableRows } from '../table/rows.ts';

/** Below the bar and the title. */
const BODY = 2;

/** What is at a place of the screen; undefined: nothing that a click means. */
export type Target = { readonly kind: 'prompt' } | { readonly kind: 'body' } | RowTarget;

/** A click answers no question and runs no form: that takes keys. */
export function targetAt(
  state: State,
  { row, column }: { readonly row: number; readonly column: number },
  inForm: (state: State, row: number, height: number) => RowTarget | undefined,
): Target | undefined {
  const { questions, form, overlay, table, prompt } = state;
  if (isTooSmall(state) || questions.length > 0) return undefined;
  const { body, inputRow, under } = layoutOf(state);
  if (form !== undefined && overlay.kind === 'none') return inForm(state, row - BODY, body);
  if (prompt.menu !== undefined && row > inputRow && row <= inputRow + under)
    return { kind: 'proposal', index: menuTop(prompt.menu, under) + row - inputRow - 1 };
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
