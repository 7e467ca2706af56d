import { isGood, VERDICTS, type StepResult } from '../../change/verdict.ts';
import { countTexts, reasonsOf, VERDICT_MARKS } from '../../output/change-text.ts';
import { frequencies, grouped } from '../../device/record.ts';
import { shortReason, visible, widthOf } from '../../text/visible.ts';
import { key, keysOf, type Reason } from '../keys/binding.ts';
import { shareBar } from '../screen/fleet-strip.ts';
import { memoized } from '../store.ts';
import type { LogLine, RollOutProgress, RollOutState, State } from '../state.ts';
import { namesText, plainStyle } from './plan-lines.ts';
import type { OverOf, View } from './view.ts';
import { durationText } from '../../text/time.ts';

export function isUnderWay({ rollOut }: Pick<State, 'rollOut'>): boolean {
  return rollOut !== undefined && rollOut.progress.control !== 'ended';
}

const ended: Reason = (state) => (isUnderWay(state) ? undefined : 'the run has ended');

/** Nothing else shows that a run is paused, or continues it. */
const whilePaused: Reason = (state) =>
  isPaused(state) ? 'the run is paused: p continues it, x ends it' : undefined;

/** After Ctrl-C. */
export const INTERRUPTED =
  'stopping after the request in flight; Ctrl-C again does not wait for it';

/** Progress of a run on many devices, device by device. */
export const ROLL_OUT: View<OverOf<'roll-out'>> = {
  breadcrumb: () => 'roll-out',
  title: (_over, { rollOut }) => [{ text: rollOut ? rollOutTitle(rollOut) : '', rank: 1 }],
  showsMessages: isUnderWay,
  keys: keysOf('roll-out', 'While a run is rolled out', [
    key(['p'], 'pause-run', 'pause before the next step, or continue', {
      hint: [1, (state) => (isPaused(state) ? 'continue' : isUnderWay(state) ? 'pause' : '')],
      disabled: ended,
    }),
    key(['x'], 'stop-run', 'stop after the devices under way; "resume" does the rest', {
      hint: [2, (state) => (isUnderWay(state) ? 'stop after this device' : '')],
      disabled: ended,
    }),
    key(['m'], 'messages', 'all messages, with the whole reasons', { hint: [3, 'messages'] }),
    key(['escape', 'q'], 'close', 'back; a run goes on, and f3 returns to it', {
      hint: [4, 'back'],
      disabled: whilePaused,
    }),
  ]),
  lines: (_over, state) => linesOf(state).map(({ text }) => text),
  tone: (_over, state, _lines, index) => linesOf(state)[index]?.tone ?? 'plain',
};

function linesOf({ rollOut, size }: State): readonly LogLine[] {
  return rollOut === undefined ? [] : rollOutLines(rollOut, size.columns - 2);
}

function isPaused({ rollOut }: State): boolean {
  return rollOut?.progress.control === 'paused';
}

/** Changes the roll-out, whether its view is open or not. */
export function changeRollOut(
  state: State,
  change: (rollOut: RollOutState) => Partial<RollOutState>,
): State {
  const { rollOut } = state;
  return rollOut === undefined ? state : { ...state, rollOut: { ...rollOut, ...change(rollOut) } };
}

/** The state of one device; the smallest rank comes first. */
interface DeviceLine extends LogLine {
  readonly name: string;
  readonly rank: number;
}

/** "23 of 50 devices · 21 done · 2 not as planned": as in the bar. */
function rollOutTitle(rollOut: RollOutState): string {
  const { done, failed } = deviceCounts(rollOut);
  return [
    `${done + failed} of ${rollOut.devices.length} devices`,
    ...(done > 0 ? [`${done} done`] : []),
    ...(failed > 0 ? [`${failed} not as planned`] : []),
  ].join(' · ');
}

/** The devices by their outcome. What a stop has skipped is left for "resume". */
const deviceCounts = memoized(({ devices, results }: RollOutState) => {
  const byDevice = resultsByDevice(results);
  const counts = { done: 0, failed: 0, left: 0 };
  for (const { name, steps } of devices) {
    const sent = endedOn(byDevice, name).filter(({ verdict }) => verdict !== 'skipped');
    if (!sent.every(isGood)) counts.failed += 1;
    else if (sent.length >= steps) counts.done += 1;
    else counts.left += 1;
  }
  return counts;
});

/** So many devices that were done last have a line of their own. */
const MOST_DONE = 3;

/** Failures first, then the devices under way, the last ones done, and one line for all that wait. */
const rollOutLines = memoized((rollOut: RollOutState, width: number): readonly LogLine[] => {
  const byDevice = resultsByDevice(rollOut.results);
  const lines = rollOut.devices.map(({ name, steps }) =>
    deviceLine(name, steps, endedOn(byDevice, name), rollOut.begun?.includes(name) === true),
  );
  const order = [...byDevice.keys()];
  const done = lines
    .filter(({ rank }) => rank === 3)
    .sort((a, b) => order.indexOf(b.name) - order.indexOf(a.name));
  return [
    ...headLines(rollOut, width),
    ...rollOut.refusals.map((text): LogLine => ({ tone: 'bad', text })),
    ...lines.filter(({ rank }) => rank < 2).sort((a, b) => a.rank - b.rank),
    ...done.slice(0, MOST_DONE),
    ...folded('✓', 'more done', done.slice(MOST_DONE)),
    ...folded(
      '◌',
      'waiting',
      lines.filter(({ rank }) => rank === 2),
    ),
    ...lines.filter(({ rank }) => rank === 4),
  ].map(({ tone, text }) => ({ tone, text: shortReason(text, width) }));
});

function folded(sign: string, word: string, lines: readonly DeviceLine[]): LogLine[] {
  if (lines.length === 0) return [];
  const names = namesText(lines.map(({ name }) => name));
  return [{ tone: 'quiet', text: `${sign} ${lines.length} ${word}: ${names}` }];
}

/** The line, a bar with its counts, and the times as far as they are known. */
function headLines(rollOut: RollOutState, width: number): LogLine[] {
  const { devices, progress } = rollOut;
  const { done, failed, left } = deviceCounts(rollOut);
  const isFine = failed === 0 && ['running', 'ended'].includes(progress.control);
  const tone = isFine ? 'good' : 'warning';
  const bar = shareBar(
    [
      { count: done, sign: '━', tone },
      { count: failed, sign: '✗', tone },
      { count: left, sign: '─', tone },
    ],
    Math.min(40, Math.floor(width / 3)),
  );
  const counts = `  ${done} done · ${failed} not as planned · ${left} left`;
  // What cannot be sent ends at once, and says nothing about the rate.
  const sent = done + failed - (devices.length - progress.toSend);
  const times = timesText(progress, sent, left);
  const text = bar.map((span) => span.text).join('') + counts;
  const isOneRow = widthOf(text) + widthOf(times) + 3 <= width;
  return [
    { tone: 'quiet', text: progress.line },
    ...(isOneRow
      ? [{ tone, text: `${text} · ${times}` } as const]
      : [{ tone, text } as const, { tone: 'plain', text: times } as const]),
  ];
}

/** Results after which a rate means something. */
const LEAST_ENDED = 3;
const LEAST_MS = 2000;

/** `PAUSED: p continues · 3 min 20 s · about 5 min left`. The end is unknown after a pause or a stall. */
function timesText(progress: RollOutProgress, ended: number, left: number): string {
  const { control, elapsedMs, lastResultMs, isSteady } = progress;
  const words = {
    running: [],
    paused: ['PAUSED: p continues'],
    stopping: ['stopping after the devices under way'],
    interrupted: [INTERRUPTED],
    ended: ['ended'],
  };
  const hasRate = ended >= LEAST_ENDED && elapsedMs >= LEAST_MS;
  const eachMs = elapsedMs / Math.max(1, ended);
  const isStalled = elapsedMs - lastResultMs > 3 * eachMs;
  return [
    ...words[control],
    durationText(elapsedMs),
    ...(hasRate && isSteady && !isStalled && left > 0 && control !== 'ended'
      ? [`about ${durationText(left * eachMs)} left`]
      : []),
  ].join(' · ');
}

type ByDevice = ReadonlyMap<string, readonly StepResult[]>;

const resultsByDevice = memoized((results: readonly StepResult[]): ByDevice =>
  grouped(results, ({ device }) => device.name),
);

function endedOn(results: ByDevice, name: string): readonly StepResult[] {
  return results.get(name) ?? [];
}

function deviceLine(
  name: string,
  steps: number,
  ended: readonly StepResult[],
  hasBegun: boolean,
): DeviceLine {
  // What went wrong matters most; a device where something was done is not unchanged.
  const sorted = [...ended].sort((a, b) => severity(a) - severity(b));
  const worst = sorted.findLast((result) => !isGood(result));
  const verdict = (worst ?? sorted[0])?.verdict;
  if (verdict === undefined) {
    return hasBegun
      ? { name, rank: 1, tone: 'accent', text: `▸ ${visible(name)}  under way` }
      : { name, rank: 2, tone: 'quiet', text: '' };
  }
  const { mark, tone } = VERDICT_MARKS[verdict];
  const isFine = worst === undefined;
  const isOver = ended.length >= steps;
  const reasons = isFine ? [] : reasonsOf(worst);
  const counts = countTexts(
    Object.fromEntries(frequencies(ended.map((one) => one.verdict))),
    plainStyle,
  );
  const word =
    isFine && !isOver
      ? `${ended.length} of ${steps} steps`
      : steps === 1
        ? verdict
        : counts.join(' · ');
  const rank = isFine ? (isOver ? 3 : 1) : verdict === 'skipped' ? 4 : 0;
  return { name, rank, tone, text: `${mark} ${visible(name)}  ${[word, ...reasons].join(' - ')}` };
}

function severity({ verdict }: StepResult): number {
  return VERDICTS.indexOf(verdict);
}
