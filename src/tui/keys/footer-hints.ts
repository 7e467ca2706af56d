import { widthOf } from '../../output/width.ts';
import { footerHints, type FooterHint } from './keymap.ts';
import { isIdleScroll } from '../screen/scroll-room.ts';
import type { State } from '../state.ts';

export const SEPARATOR = ' · ';

/** The hints of the footer that have room, the most important first; the key for help goes last of all. */
export function shownHints(state: State, columns: number): readonly FooterHint[] {
  const shown = footerHints(state).filter(
    ({ action }) => action === undefined || !isIdleScroll(action, state),
  );
  while (widthOfAll(shown) > columns) {
    shown.splice(
      shown.findLastIndex(({ action }) => action !== 'help'),
      1,
    );
  }
  return shown;
}

function widthOfAll(hints: readonly FooterHint[]): number {
  const used = hints.reduce((sum, { text }) => sum + SEPARATOR.length + widthOf(text), 0);
  return Math.max(0, used - SEPARATOR.length);
}
