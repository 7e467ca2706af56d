import { use } from 'react';
import { GUTTER } from '../../text/fit-columns.ts';
import { cut, fit } from '../../text/visible.ts';
import { plainLine, type Span } from '../screen/theme.ts';
import type { State } from '../state.ts';
import { withMatches } from '../views/reduce-view.ts';
import { listWindow, type ListView } from '../views/view.ts';
import { viewLines } from '../views/views.ts';
import { KeysContext, Line } from './line.tsx';

interface ListProps {
  readonly list: ListView;
  readonly size: State['size'];
  readonly height: number;
}

/** The lines around the cursor, below their header. */
export function List({ list, size: { columns }, height }: ListProps) {
  const hasKeys = use(KeysContext) === 'above';
  const count = list.rows.length;
  const { empty } = list;
  if (count === 0) return <Line spans={plainLine(cut(` ${empty}`, columns))} />;
  const { header, row } = list.drawn(columns - GUTTER);
  const cursor = Math.min(list.cursor, count - 1);
  return (
    <>
      <Line spans={plainLine(fit(' '.repeat(GUTTER) + header, columns), 'head')} />
      {listWindow(list, height).map((index) => {
        if (typeof index === 'string')
          return <Line key={index} spans={plainLine(` ${index}`, 'heading')} />;
        const { sign = '', tone, parts } = row(index);
        const isCurrent = index === cursor;
        const spans: Span[] = [
          { tone: 'plain', text: isCurrent ? '▸' : ' ' },
          { tone, text: fit(sign, GUTTER - 1) },
          ...parts,
        ];
        const ground = isCurrent && hasKeys ? 'plain' : undefined;
        return <Line key={index} spans={spans} ground={ground} width={columns} />;
      })}
    </>
  );
}

/** A text over the table, with the matches of a search. */
export function TextView({ state, height }: { readonly state: State; readonly height: number }) {
  const { overlay } = state;
  const lines = viewLines(state);
  const top = Math.max(0, Math.min('top' in overlay ? overlay.top : 0, lines.length - height));
  return lines.slice(top, top + height).map((line, index) => {
    const spans = [{ tone: 'plain', text: ' ' } as const, ...withMatches(state, line)];
    return <Line key={index} spans={spans} />;
  });
}
