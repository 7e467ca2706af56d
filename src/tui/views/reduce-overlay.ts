import type { MoveAction } from '../keys/key-binding.ts';
import { layoutOf } from '../screen/layout.ts';
import { movedTop } from '../table/moved-top.ts';
import { overlayLines } from './overlay-lines.ts';
import type { Overlay, RollOutState, State } from '../state.ts';
import { keyOfRow, tableRows } from '../table/rows.ts';
import { devicesBeyond, driftRows } from './drift-list.ts';
import { listed } from './listed.ts';
import { opened } from './trail.ts';

/** The record with the cursor, field by field; nothing when there is none. */
export function openedDetails(state: State): State {
  const { overlay } = state;
  if (overlay.kind === 'drift') {
    const row = driftRows(overlay, state.find)[overlay.cursor];
    if (row === undefined) return state;
    const details = { kind: 'of-drift', key: row.key, drift: overlay.output, row } as const;
    return opened(state, { kind: 'details', details, top: 0 });
  }
  const { rows, keyField } = tableRows(state);
  const row = rows[state.table.cursor];
  if (row === undefined) return state;
  const details = { kind: 'of-table', key: keyOfRow(row, keyField) } as const;
  return opened(state, { kind: 'details', details, top: 0 });
}

/** All messages of the session, the newest in sight. */
export function openedMessages(state: State): State {
  const lines = state.log.all.map(({ text, whole = text }) => whole);
  const shown = lines.length > 0 ? lines : ['nothing was said yet'];
  return opened(state, { kind: 'pager', title: 'messages', lines: shown, top: Infinity });
}

/** A roll-out is told of as long as it goes on, in sight or below another view. */
export function changeRollOut(
  state: State,
  change: (rollOut: RollOutState) => RollOutState,
): State {
  const changed = (overlay: Overlay): Overlay =>
    overlay.kind === 'roll-out' ? { ...overlay, rollOut: change(overlay.rollOut) } : overlay;
  const isBelow = state.trail.some(({ overlay }) => overlay.kind === 'roll-out');
  const trail = isBelow
    ? state.trail.map((place) => ({ ...place, overlay: changed(place.overlay) }))
    : state.trail;
  const overlay = changed(state.overlay);
  return overlay === state.overlay && !isBelow ? state : { ...state, overlay, trail };
}

/** Lists move their cursor, texts scroll by lines. */
export function scrolled(state: State, action: MoveAction): State {
  const { overlay } = state;
  const height = Math.max(1, layoutOf(state).body);
  if ('cursor' in overlay) {
    const last = Math.max(0, (listed(state)?.rows.length ?? 0) - 1);
    const cursor = movedTop(overlay.cursor, action, Math.max(1, height - 1), last);
    return { ...state, overlay: { ...overlay, cursor } };
  }
  if (!('top' in overlay)) return state;
  const last = Math.max(0, overlayLines(state).length - height);
  return { ...state, overlay: { ...overlay, top: movedTop(overlay.top, action, height, last) } };
}

/** The matrix: devices to the left and right, all records or only those that differ. */
export function changedDrift(state: State, action: 'left' | 'right' | 'whole'): State {
  const { overlay } = state;
  if (overlay.kind !== 'drift') return state;
  const { shift, isWhole } = overlay;
  switch (action) {
    case 'left':
      return { ...state, overlay: { ...overlay, shift: Math.max(0, shift - 1) } };
    case 'right':
      if (devicesBeyond(overlay, state.find, state.size.columns - 2) === 0) return state;
      return { ...state, overlay: { ...overlay, shift: shift + 1 } };
    case 'whole':
      return { ...state, overlay: { ...overlay, isWhole: !isWhole } };
  }
}
