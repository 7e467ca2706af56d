import { GAP, GUTTER } from '../../text/fit-columns.ts';
import { cut, fit, widthOf } from '../../text/visible.ts';
import type { DriftRow } from '../../fleet/drift.ts';
import type { Span } from '../screen/theme.ts';
import type { DriftOverlay } from '../state.ts';
import { devicesOf, LEAST_TEXT, placesIn, signOf } from '../views/drift.ts';
import { type ListProps, Rows } from './list.tsx';

interface DriftGridProps extends ListProps<DriftRow> {
  readonly over: DriftOverlay;
}

/** One row for each record, one column for each device, with a sign in each cell, and the differences if they fit. */
export function DriftGrid({ over, ...props }: DriftGridProps) {
  const { list, width } = props;
  const [keys, differences] = list.columns;
  const devices = devicesOf(over).length;
  const { key, from, count, labels } = placesIn(over.output, over.device, width - GUTTER);
  const heads = Array.from({ length: count }, (_, index) => {
    const mark = from + index === Math.min(over.device, devices - 1) ? '▾' : ' ';
    return labels === undefined ? mark : ` ${mark}${labels[index] ?? ''}`;
  });
  const beyond = devices - from - count;
  const signs = heads.join('') + (beyond === 0 ? '' : ` →${beyond}`);
  const left = width - GUTTER - key - widthOf(signs) - 2 * GAP.length;
  const words = left < LEAST_TEXT ? 0 : left;
  const textsOf = (row: DriftRow): Span[] => [
    { tone: 'plain', text: fit(keys?.text(row) ?? '', key) + GAP },
    ...heads.map((head, place): Span => {
      const { tone, sign } = signOf(row, from + place);
      return { tone, text: labels === undefined ? sign : fit(`${GAP}${sign}`, widthOf(head)) };
    }),
    { tone: 'plain', text: fit('', widthOf(signs) - widthOf(heads.join(''))) + GAP },
    { tone: 'plain', text: cut(differences?.text(row) ?? '', words) },
  ];
  const title = words === 0 ? '' : (differences?.title ?? '');
  const head = [fit(keys?.title ?? '', key), signs, title].join(GAP);
  return <Rows {...props} head={head} textsOf={textsOf} />;
}
