import type { Span, Tone } from './theme.ts';

/** A part of a whole; its sign and its tone stay readable without colours. */
interface Share {
  readonly count: number;
  readonly sign: '━' | '✗' | '─';
  readonly tone: Tone;
}

/** `━━━━━━━✗──`: `width` cells. A part that is not empty has at least one, so only a whole is drawn whole. */
export function shareBar(shares: readonly Share[], width: number): Span[] {
  const total = shares.reduce((sum, { count }) => sum + count, 0);
  const cells = shares.map(({ count }) =>
    count === 0 ? 0 : Math.max(1, Math.floor((count / total) * width)),
  );
  const largest = cells.indexOf(Math.max(...cells));
  const rest = width - cells.reduce((sum, count) => sum + count, 0);
  return shares.map(({ sign, tone }, index) => {
    const length = (cells[index] ?? 0) + (index === largest ? rest : 0);
    return { tone, text: sign.repeat(Math.max(0, length)) };
  });
}
