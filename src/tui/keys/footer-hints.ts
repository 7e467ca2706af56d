import { widthOf } from '../../text/width.ts';
import { contextOf, footerHints, type FooterHint } from './keymap.ts';
import { isIdleScroll } from '../screen/scroll-room.ts';
import type { State } from '../state.ts';

export const SEPARATOR = ' · ';

/** What never goes for want of room: help, and the way out. */
const KEPT: readonly FooterHint['action'][] = [
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
        ({ action }) => !KEPT.includes(action) && !(isTyped && action === 'go-table'),
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
