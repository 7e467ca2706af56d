import { cut, visible, widthOf } from '../../text/visible.ts';
import { contextOf, type FooterHint, footerHints } from '../keys/keymap.ts';
import type { State } from '../state.ts';
import { marksText, tableParts, type TitlePart } from '../table/view.ts';
import { findSummary, textWindow } from '../views/reduce-view.ts';
import { breadcrumbText } from '../views/navigation.ts';
import { shownView, viewLines } from '../views/views.ts';
import { layoutOf } from './layout.ts';

/** ` users · 3 devices · 41 records, 12 the same on all · filter: lang=de        [2 marked]` */
export function titleLine(state: State): { left: string; right: string } {
  const { table, fleet, size, overlay } = state;
  const isTable = overlay.kind === 'none';
  const isFirst = fleet.devices.length === 0 && table.reads.size === 0;
  if (isTable && isFirst && state.backStack.length === 0) return { left: '', right: '' };
  const facts = isTable ? tableParts(state) : overlayParts(state);
  const kept = facts.filter(({ text }) => text !== '');
  const right = isTable ? marksText(state) : '';
  const room = size.columns - widthOf(right) - 2;
  // At least the last step of the breadcrumbs always stays.
  const needed = kept
    .filter(({ rank }) => rank === 1)
    .reduce((sum, part) => sum + widthOf(part.text) + 4, 0);
  const [least, most] = [Math.floor(room * 0.35), Math.floor(room * 0.6)];
  const place = breadcrumbText(
    state,
    kept.length === 0 ? room : Math.max(least, Math.min(most, room - needed)),
  );
  const text = (): string =>
    kept.reduce(
      (line, { text: part, glue = line.endsWith(':') ? ' ' : SEPARATOR }) => line + glue + part,
      ` ${place}`,
    );
  while (kept.length > 0 && widthOf(text()) > room) {
    const last = Math.max(...kept.map(({ rank }) => rank));
    // The most important part is cut, not dropped.
    if (last === 1) break;
    kept.splice(
      kept.findIndex(({ rank }) => rank === last),
      1,
    );
  }
  return { left: cut(text(), room), right };
}

/** The facts of a view over the table, and which of its lines are visible. */
function overlayParts(state: State): readonly TitlePart[] {
  const shown = shownView(state);
  if (shown === undefined) return [];
  const found: TitlePart = { text: visible(findSummary(state)), rank: 1 };
  const facts = shown.view.title?.(shown.over, state, found);
  return facts ?? [found, { text: linesText(state), rank: 2 }];
}

/** `lines 21-40 of 120`; empty if all are visible. */
function linesText(state: State): string {
  const height = layoutOf(state).body;
  const { length } = viewLines(state);
  if (length <= height || !('top' in state.overlay)) return '';
  const top = Math.max(0, Math.min(state.overlay.top, length - height));
  return `lines ${top + 1}-${Math.min(length, top + height)} of ${length}`;
}

export const SEPARATOR = ' · ';

/** The hints that fit into the footer, the most important first; help and exit keys always stay. */
export function shownHints(state: State, columns: number): readonly FooterHint[] {
  const isTyped = contextOf(state) === 'prompt';
  const shown = footerHints(state).filter(
    ({ action }) =>
      action === undefined ||
      (!isIdleScroll(action, state) && !(isTyped && action === 'end-of-input')),
  );
  while (widthOfAll(shown) > columns)
    shown.splice(
      shown.findLastIndex(({ isKept }) => !isKept),
      1,
    );
  return shown;
}

const OF_LINE: readonly string[] = ['run-line', 'complete', 'menu-next'];

/** The hints beside the usage of a command: those that always stay, and those of the line itself. */
export function lineHints(state: State): readonly FooterHint[] {
  return shownHints(state, Infinity).filter(
    ({ action = '', isKept }) => isKept || OF_LINE.includes(action),
  );
}

function widthOfAll(hints: readonly FooterHint[]): number {
  const used = hints.reduce((sum, { text }) => sum + SEPARATOR.length + widthOf(text), 0);
  return Math.max(0, used - SEPARATOR.length);
}

/** Whether an action scrolls, but everything is visible, so that its key has no hint. Lists always move their cursor. */
function isIdleScroll(action: string, state: State): boolean {
  return (action === 'down' || action === 'page-down') && textWindow(state)?.last === 0;
}
