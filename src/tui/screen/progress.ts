import { durationText } from '../../text/time.ts';
import { visible } from '../../text/visible.ts';
import type { ProgressOutput } from '../../shell/output.ts';
import { type Span, textOfLine } from './theme.ts';

/** After this number of parts, and this time, a rate means something. */
const LEAST_ENDED = 3;
const LEAST_MS = 2000;

/** The rate of long work, and when it ends: `4/s`, `about 10 s left`; nothing before a rate is known. */
export function paceTexts(ended: number, left: number, elapsedMs: number): string[] {
  if (ended < LEAST_ENDED || elapsedMs < LEAST_MS || left === 0) return [];
  const eachMs = elapsedMs / ended;
  const rate =
    eachMs < 1000 ? `${Math.round(1000 / eachMs)}/s` : `${Math.round(60_000 / eachMs)}/min`;
  return [rate, `about ${durationText(left * eachMs)} left`];
}

/** Tells how far long work is: `━━━━────── 8/20 reading users · 4/s · about 3 s left`. */
export function progressMeter(): (
  progress: Omit<ProgressOutput, 'kind'>,
  nowMs?: number,
) => string {
  let begun = { atMs: 0, done: 0, total: 0 };
  let last = Infinity;
  return ({ text, done, total }, nowMs = performance.now()) => {
    if (total === 0) return visible(text);
    // Less is done, or of more: other work has begun.
    if (done < last || total !== begun.total) begun = { atMs: nowMs, done, total };
    last = done;
    const bar = shareBar({ done, failed: 0, left: total - done }, 10);
    const pace = paceTexts(done - begun.done, total - done, nowMs - begun.atMs);
    return [`${textOfLine(bar)} ${done}/${total} ${visible(text)}`, ...pace].join(' · ');
  };
}

/** Their signs stay readable without colours. */
const SHARES = [
  ['done', '━', 'good'],
  ['failed', '✗', 'bad'],
  ['left', '─', 'quiet'],
] as const;

/** `━━━━━━━✗──`: `width` cells. A part that is not empty has at least one, so only a whole is drawn whole. */
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
