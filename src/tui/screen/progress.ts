import { progressMeter } from '../../output/progress.ts';
import { type Span, textOfLine } from './theme.ts';

/** `━━━━────── 8/20 reading users · 4/s · about 3 s left` */
export const barMeter = (): ReturnType<typeof progressMeter> =>
  progressMeter(
    (done, total) => `${textOfLine(shareBar({ done, failed: 0, left: total - done }, 10))} `,
  );

/** The parts of a bar. Their signs differ, so that they are readable without colours. */
const SHARES = [
  ['done', '━', 'good'],
  ['failed', '✗', 'bad'],
  ['left', '─', 'quiet'],
] as const;

/** `━━━━━━━✗──`: a bar of `width` cells. Each part that is not 0 has at least one cell. */
export function shareBar(
  counts: Readonly<Record<(typeof SHARES)[number][0], number>>,
  width: number,
): Span[] {
  const total = SHARES.reduce((sum, [part]) => sum + counts[part], 0);
  const cells = SHARES.map(([part]) =>
    counts[part] === 0 ? 0 : Math.max(1, Math.floor((counts[part] / total) * width)),
  );
  const largest = cells.indexOf(Math.max(...cells));
  const rest = width - cells.reduce((sum, count) => sum + count, 0);
  return SHARES.map(([, sign, tone], index) => {
    const length = (cells[index] ?? 0) + (index === largest ? rest : 0);
    return { tone, text: sign.repeat(Math.max(0, length)) };
  });
}
