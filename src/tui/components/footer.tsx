import { widthOf } from '../../text/width.ts';
import { SEPARATOR, shownHints } from '../keys/footer-hints.ts';
import type { State } from '../state.ts';
import type { Theme } from '../screen/theme.ts';
import { usageSpans } from '../prompt/usage-spans.ts';
import { Row } from './row.tsx';

/**
 * The most important keys where the focus is; those that do nothing now are dimmed, in brackets. While a
 * command is typed, first how it goes on.
 */
export function Footer({ state, theme }: { readonly state: State; readonly theme: Theme }) {
  const usage = state.pendingKeys === undefined ? usageSpans(state) : [];
  const used = usage.reduce((sum, { text }) => sum + widthOf(text), 0);
  const room = state.size.columns - 1 - (used === 0 ? 0 : used + SEPARATOR.length);
  const line = [
    ...(used === 0 ? [] : [usage.map(({ tone, text }) => theme(tone, text)).join('')]),
    ...shownHints(state, Math.max(0, room)).map(({ text, isDisabled }) =>
      theme(isDisabled ? 'quiet' : 'plain', text),
    ),
  ].join(theme('quiet', SEPARATOR));
  return <Row>{line === '' ? '' : ` ${line}`}</Row>;
}
