import { widthOf } from '../../output/width.ts';
import { footerHints, type FooterHint } from '../keymap.ts';
import type { State } from '../state.ts';
import type { Theme } from '../theme.ts';
import { Row } from './row.tsx';

const SEPARATOR = ' · ';

/** The most important keys where the focus is; those that do nothing now are dimmed, in brackets. */
export function Footer({ state, theme }: { readonly state: State; readonly theme: Theme }) {
  const line = fitting(footerHints(state), state.size.columns - 1)
    .map(({ text, isDisabled }) => theme(isDisabled ? 'quiet' : 'plain', text))
    .join(theme('quiet', SEPARATOR));
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
