import { changedParts } from '../change/compare.ts';
import { notCoveredText } from '../change/not-covered.ts';
import { recordName } from '../change/plan.ts';
import {
  expectedIn,
  VERDICTS,
  type Difference,
  type StepResult,
  type Verdict,
} from '../change/verdict.ts';
import { type DeviceRecord, valueAt } from '../device/record.ts';
import type { SummaryOutput } from '../shell/output.ts';
import { reasonText } from './error-text.ts';
import { visible } from '../text/visible.ts';
import type { Style, Tone } from './streams.ts';
import { quotedText } from './cells.ts';

/** A sign and a tone for each verdict; the word always stands beside them. */
export const VERDICT_MARKS: Readonly<Record<Verdict, { mark: string; tone: Tone }>> = {
  done: { mark: '✓', tone: 'good' },
  unchanged: { mark: '=', tone: 'quiet' },
  'no effect': { mark: '✗', tone: 'bad' },
  differs: { mark: '≠', tone: 'warning' },
  failed: { mark: '✗', tone: 'bad' },
  drift: { mark: '≠', tone: 'warning' },
  unknown: { mark: '?', tone: 'warning' },
  skipped: { mark: '-', tone: 'quiet' },
};

/** "✗ fw3  add user carol: failed - no answer within 5 s" */
export function resultLine(result: StepResult, style: Style): string {
  const { mark, tone } = VERDICT_MARKS[result.verdict];
  const what = `${result.action} ${visible(recordName(result))}`;
  const verdict = style(tone, result.verdict) + reasonsTail(result);
  return `${style(tone, mark)} ${visible(result.device.name)}  ${what}: ${verdict}`;
}

/** " - lang: sent de, device holds en"; empty where there is nothing to say besides the verdict. */
export function reasonsTail(result: StepResult): string {
  const reasons = reasonsOf(result);
  return reasons.length > 0 ? ` - ${reasons.join('; ')}` : '';
}

/** What is to say besides the verdict: the differences, the note, the error. */
export function reasonsOf(result: StepResult): string[] {
  return [
    ...(result.differences ?? []).flatMap((one) => differenceTexts(one, result.record)),
    ...(result.note === undefined ? [] : [visible(result.note)]),
    ...(result.error ? [reasonText(result.error, result.device)] : []),
  ];
}

/** "lang: sent de, device holds en", or what it was where nothing was sent; of a nested field only the parts that differ. */
function differenceTexts(difference: Difference, held: DeviceRecord | undefined): string[] {
  const { word, value } = expectedIn(difference);
  if (held !== undefined && valueAt(held, difference.field) === undefined) {
    const { field } = difference;
    return [`${visible(field)}: ${word} ${quotedText(field, value)}, the device does not show it`];
  }
  return changedParts(difference.field, difference.held, value).map(
    ({ field: part, before, after }) =>
      `${visible(part)}: ${word} ${quotedText(part, after)}, device holds ${quotedText(part, before)}`,
  );
}

type SummaryLine = Omit<SummaryOutput, 'kind'>;

/** So many devices of one cause are named below a run. */
const MOST_NAMED = 10;

/** "2 done · 1 failed · not covered: fw3 (unreachable)" */
export function summaryLine({ run, counts, notCovered }: SummaryLine, style: Style): string {
  const parts = countTexts(counts, style);
  const absent = notCoveredText(notCovered, MOST_NAMED);
  const isCut = notCoveredText(notCovered) !== absent;
  if (absent !== '') {
    parts.push(style('bad', absent + (isCut ? ` ("report ${run}" names all)` : '')));
  }
  return parts.length > 0 ? parts.join(' · ') : 'nothing to do';
}

/** `2 done`, `1 failed`: each verdict that there is. */
export function countTexts(counts: SummaryOutput['counts'], style: Style): string[] {
  return VERDICTS.filter((verdict) => (counts[verdict] ?? 0) > 0).map((verdict) =>
    style(VERDICT_MARKS[verdict].tone, `${counts[verdict] ?? 0} ${verdict}`),
  );
}
