import { widthOf } from '../../text/width.ts';
import { deviceBar, titleLine } from '../screen/bar-lines.ts';
import { contextOf } from '../keys/keymap.ts';
import { isActedIn } from '../keys/stray-key.ts';
import { FOCUS_MARK } from '../prompt/input-line.ts';
import type { State } from '../state.ts';
import type { Theme } from '../screen/theme.ts';
import { Row } from './row.tsx';

/** Whether keys go to what stands below the title. */
function hasKeys(state: State): boolean {
  const context = contextOf(state);
  return context.startsWith('form') || isActedIn(context);
}

/** The devices with their states, and what the table shows. */
export function Header({ state, theme }: { readonly state: State; readonly theme: Theme }) {
  const { left: title, right } = titleLine(state);
  const left = (hasKeys(state) ? FOCUS_MARK : ' ') + title.slice(1);
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
