import { use, useMemo } from 'react';
import { GUTTER } from '../../text/fit-columns.ts';
import { fit } from '../../text/visible.ts';
import { plainLine, type TextLine, textOfLine } from '../screen/theme.ts';
import type { State } from '../state.ts';
import { withMatches } from '../views/reduce-view.ts';
import { columnLine, fittedColumns, listWindow, type ListView } from '../views/view.ts';
import { viewLines } from '../views/views.ts';
import { KeysContext, Line } from './line.tsx';

export interface ListProps<T> {
  readonly list: ListView<T>;
  readonly width: number;
  readonly height: number;
  /** The group of an item, shown as a line above its first item. */
  readonly headingOf?: (item: T) => string;
}

interface RowsProps<T> extends ListProps<T> {
  readonly head: string;
  /** The texts of an item. Plain parts get the tone of the item. */
  readonly textsOf: (item: T) => TextLine;
}

/** The head, and one line for each of the items around the cursor. */
export function Rows<T>({ list, width, height, head, textsOf, headingOf }: RowsProps<T>) {
  const hasKeys = use(KeysContext) === 'above';
  const { rows, cursor, empty } = list;
  if (rows.length === 0) return <Line spans={plainLine(` ${empty}`)} />;
  const lines = listWindow(rows, cursor, height - 1, headingOf).map(({ at, item, heading }) => {
    if (item === undefined)
      return <Line key={heading} spans={plainLine(` ${heading}`, 'heading')} />;
    const isCurrent = at === cursor;
    const tone = list.toneOf(item);
    const spans: TextLine = [
      { tone: 'plain', text: isCurrent ? '▸' : ' ' },
      { tone, text: fit(list.signOf(item), GUTTER - 1) },
      ...textsOf(item).map((one) => (one.tone === 'plain' ? { ...one, tone } : one)),
    ];
    const ground = isCurrent && hasKeys ? 'plain' : undefined;
    return <Line key={at} spans={spans} ground={ground} width={width} />;
  });
  return (
    <>
      <Line spans={plainLine(fit(' '.repeat(GUTTER) + head, width), 'head')} />
      {lines}
    </>
  );
}

/** Items in the columns of their view. */
export function List<T>(props: ListProps<T>) {
  const { list, width } = props;
  const { rows, columns } = list;
  const fitted = useMemo(
    () => fittedColumns(rows, columns, width - GUTTER),
    [rows, columns, width],
  );
  const head = textOfLine(columnLine(fitted, ({ title }) => title));
  return (
    <Rows
      {...props}
      head={head}
      textsOf={(item) =>
        columnLine(
          fitted,
          (one) => one.text(item),
          (one) => one.tone?.(item),
        )
      }
    />
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
