import type { State } from '../state.ts';
import { tableRows } from './rows.ts';

/** On a narrower screen, the columns of the table need all the room. */
export const PANE_COLUMNS = 120;

/** Cells of the details beside the table, with the rule between them; 0: there are none. */
export function paneWidth(state: Pick<State, 'table' | 'fleet' | 'size' | 'isPaneHidden'>): number {
  const { columns } = state.size;
  if (state.isPaneHidden || columns < PANE_COLUMNS) return 0;
  return tableRows(state).rows.length === 0 ? 0 : Math.min(80, Math.floor(columns * 0.4));
}

/** Cells of the table itself. */
export function tableWidth(state: Parameters<typeof paneWidth>[0]): number {
  return state.size.columns - paneWidth(state);
}
