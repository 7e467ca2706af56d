import { widthOf } from '../../output/width.ts';
import { deviceBar, titleLine } from '../screen/bar-lines.ts';
import type { State } from '../state.ts';
import type { Theme } from '../screen/theme.ts';
import { Row } from './row.tsx';

/** The devices with their states, and what the table shows. */
export function Header({ state, theme }: { readonly state: State; readonly theme: Theme }) {
  const { left, right } = titleLine(state);
  const gap = ' '.repeat(Math.max(0, state.size.columns - widthOf(left) - widthOf(right)));
  return (
    <>
      <Row>
        {deviceBar(state)
          .map(({ tone, text }) => theme(tone, text))
          .join('')}
      </Row>
      <Row>{right === '' ? left : left + gap + theme('accent', right)}</Row>
    </>
  );
}
