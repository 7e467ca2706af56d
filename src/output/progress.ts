import type { ProgressOutput } from '../shell/output.ts';
import { durationText } from '../text/time.ts';
import { visible } from '../text/visible.ts';

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

/** Tells how far long work is: `8/20 reading users · 4/s · about 3 s left`, behind the bar of a screen. */
export function progressMeter(
  barOf: (ended: number, total: number) => string = () => '',
): (progress: Omit<ProgressOutput, 'kind'>, nowMs?: number) => string {
  let begun = { atMs: 0, done: 0, total: 0 };
  let last = Infinity;
  return ({ text, done, total }, nowMs = performance.now()) => {
    if (total === 0) return visible(text);
    // Less is done, or of more: other work has begun.
    if (done < last || total !== begun.total) begun = { atMs: nowMs, done, total };
    last = done;
    const pace = paceTexts(done - begun.done, total - done, nowMs - begun.atMs);
    return [`${barOf(done, total)}${done}/${total} ${visible(text)}`, ...pace].join(' · ');
  };
}
