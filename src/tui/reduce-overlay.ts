import type { MoveAction } from './actions.ts';
import { layoutOf } from './layout.ts';
import { movedTop } from './moved-top.ts';
import { overlayLines } from './overlay-lines.ts';
import type { Overlay, RollOutState, State } from './state.ts';
import { keyOfRow, tableRows } from './table-rows.ts';

/** Lays something over the table. */
export function opened(state: State, overlay: Overlay): State {
  return { ...state, overlay };
}

/** The record with the cursor, field by field; nothing when there is none. */
export function openedDetails(state: State): State {
  const { rows, keyField } = tableRows(state);
  const row = rows[state.table.cursor];
  if (row === undefined) return state;
  return opened(state, { kind: 'details', key: keyOfRow(row, keyField), top: 0 });
}

/** All messages of the session, the newest in sight. */
export function openedMessages(state: State): State {
  const lines = state.log.all.map(({ text }) => text);
  const shown = lines.length > 0 ? lines : ['nothing was said yet'];
  return opened(state, { kind: 'pager', title: 'messages', lines: shown, top: Infinity });
}

export function changeRollOut(
  state: State,
  change: (rollOut: RollOutState) => RollOutState,
): State {
  const { overlay } = state;
  if (overlay.kind !== 'roll-out') return state;
  return { ...state, overlay: { ...overlay, rollOut: change(overlay.rollOut) } };
}

/** Overlays scroll by lines; they have no cursor. */
export function scrolled(state: State, action: MoveAction): State {
  const { overlay } = state;
  if (overlay.kind === 'none') return state;
  const height = Math.max(1, layoutOf(state).body - 1);
  if (overlay.kind === 'runs') {
    const last = Math.max(0, overlay.runs.length - 1);
    const cursor = movedTop(overlay.cursor, action, height, last);
    return { ...state, overlay: { ...overlay, cursor } };
  }
  const last = Math.max(0, overlayLines(state).length - height);
  return { ...state, overlay: { ...overlay, top: movedTop(overlay.top, action, height, last) } };
}
