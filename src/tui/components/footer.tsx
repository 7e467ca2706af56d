import { widthOf } from '../../output/width.ts';
import { contextOf, footerHints } from '../keymap.ts';
import type { State } from '../state.ts';
import type { Theme } from '../theme.ts';
import { Row } from './row.tsx';

const SEPARATOR = ' · ';

/** The most important keys where the focus is. */
export function Footer({ state, theme }: { readonly state: State; readonly theme: Theme }) {
  let text = '';
  for (const hint of footerHints(contextOf(state))) {
    const longer = text === '' ? ` ${hint}` : text + SEPARATOR + hint;
    if (widthOf(longer) > state.size.columns - 1) break;
    text = longer;
  }
  return <Row>{theme('quiet', text)}</Row>;
}
