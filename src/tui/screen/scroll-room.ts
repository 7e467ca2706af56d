import type { ViewAction } from '../keys/key-binding.ts';
import type { Effect } from '../keys/key-binding.ts';
import { layoutOf, questionWindow } from './layout.ts';
import { overlayLines } from '../views/overlay-lines.ts';
import type { State } from '../state.ts';

/** Keys that only scroll, where everything is in sight: nothing to tell of in the footer. */
export function isIdleScroll(action: ViewAction | Effect, state: State): boolean {
  return (action === 'down' || action === 'page-down') && !canScroll(state);
}

/** Whether a question, or the text over the table, has lines out of sight; lists have a cursor to move. */
function canScroll(state: State): boolean {
  const [question] = state.questions;
  if (question !== undefined) return questionWindow(state, question).depth > 0;
  return !('top' in state.overlay) || overlayLines(state).length > layoutOf(state).body;
}
