import { widthOf } from '../../output/width.ts';
import { footerHints, type FooterHint } from '../keymap.ts';
import { isIdleScroll } from '../scroll-room.ts';
import type { State } from '../state.ts';
import type { Theme } from '../theme.ts';
import { usageSpans } from '../usage-spans.ts';
import { Row } from './row.tsx';

const SEPARATOR = ' · ';

/**
 * The most important keys where the focus is; those that do nothing now are dimmed, in brackets. While a
 * command is typed, first how it goes on.
 */
export function Footer({ state, theme }: { readonly state: State; readonly theme: Theme }) {
  const usage = state.pendingKeys === undefined ? usageSpans(state) : [];
  const used = usage.reduce((sum, { text }) => sum + widthOf(text), 0);
  const room = state.size.columns - 1 - (used === 0 ? 0 : used + SEPARATOR.length);
  const separator = theme('quiet', SEPARATOR);
  const hints = footerHints(state).filter(
    ({ action }) => action === undefined || !isIdleScroll(action, state),
  );
  const line = [
    ...(used === 0 ? [] : [usage.map(({ tone, text }) => theme(tone, text)).join('')]),
    ...fitting(hints, room).map(({ text, isDisabled }) =>
      theme(isDisabled ? 'quiet' : 'plain', text),
    ),
  ].join(separator);
  return <Row>{line === '' ? '' : ` ${line}`}</Row>;
}

function fitting(hints: readonly FooterHint[], columns: number): readonly FooterHint[] {
  let used = 1 - SEPARATOR.length;
  const end = hints.findIndex(({ text }) => {
    used += SEPARATOR.length + widthOf(text);
    return used > columns;
  });
  return end === -1 ? hints : hints.slice(0, end);
}
