import { widthOf } from '../../text/width.ts';
import { contextOf, footerHints, type FooterHint } from './keymap.ts';
import { layoutOf, questionWindow } from '../screen/layout.ts';
import { viewLines } from '../views/views.ts';
import type { State } from '../state.ts';

export const SEPARATOR = ' · ';

/** What never goes for want of room: help, and the way out. */
const KEPT: readonly string[] = [
  'help',
  'quit',
  'end-of-input',
  'close',
  'close-form',
  'close-choices',
  'menu-close',
  'search-cancel',
  'clear-filter',
  'clear-find',
  'decline',
];

/** The hints of the footer that have room, the most important first; help and the way out go last of all. */
export function shownHints(state: State, columns: number): readonly FooterHint[] {
  const isTyped = contextOf(state) === 'prompt';
  const shown = footerHints(state).filter(
    ({ action }) =>
      action === undefined ||
      (!isIdleScroll(action, state) && !(isTyped && action === 'end-of-input')),
  );
  while (widthOfAll(shown) > columns) {
    shown.splice(
      shown.findLastIndex(
        ({ action }) => !KEPT.includes(action ?? '') && !(isTyped && action === 'go-table'),
      ),
      1,
    );
  }
  return shown;
}

function widthOfAll(hints: readonly FooterHint[]): number {
  const used = hints.reduce((sum, { text }) => sum + SEPARATOR.length + widthOf(text), 0);
  return Math.max(0, used - SEPARATOR.length);
}

/** Keys that only scroll, where everything is in sight: nothing to tell of in the footer. */
function isIdleScroll(action: string, state: State): boolean {
  return (action === 'down' || action === 'page-down') && !canScroll(state);
}

/** Whether a question, or the text over the table, has lines out of sight; lists have a cursor to move. */
function canScroll(state: State): boolean {
  const [question] = state.questions;
  if (question !== undefined) return questionWindow(state, question).depth > 0;
  return !('top' in state.overlay) || viewLines(state).length > layoutOf(state).body;
}
