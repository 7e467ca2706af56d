import { isGood, VERDICTS, type StepResult } from '../../change/verdict.ts';
import { countTexts, reasonsOf, VERDICT_MARKS } from '../../output/change-text.ts';
import { frequencies, grouped } from '../../device/record.ts';
import { withoutDevice } from '../../output/streams.ts';
import { GAP } from '../../text/fit-columns.ts';
import { fit, shortReason, visible, widthOf } from '../../text/visible.ts';
import { key, keysOf, type Reason } from '../keys/binding.ts';
import { shareBar } from '../screen/fleet-strip.ts';
import { memoized } from '../store.ts';
import { plainLine, type Span, type TextLine, type Tone, widthOfSpans } from '../screen/theme.ts';
import type { RollOutState, State } from '../state.ts';
import { namesText, plainStyle } from './plan-lines.ts';
import type { OverOf, View } from './view.ts';
import { durationText } from '../../text/time.ts';

export function isUnderWay({ rollOut }: Pick<State, 'rollOut'>): boolean {
  return rollOut !== undefined && rollOut.control !== 'ended';
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
  lines: (_over, { rollOut, size }) =>
    rollOut === undefined ? [] : rollOutLines(rollOut, size.columns - 2),
};

function isPaused({ rollOut }: State): boolean {
  return rollOut?.control === 'paused';
}

/** What became of one device so far. */
interface Fate {
  readonly name: string;
  /** What a stop has skipped is left for "resume". */
  readonly kind: 'done' | 'failed' | 'left';
  /** One cell. */
  readonly sign: string;
  readonly tone: Tone;
  /** What to say of it below the grid; empty if its sign says it. */
  readonly text: string;
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

const fatesOf = memoized(
  (
    devices: RollOutState['devices'],
    results: RollOutState['results'],
    begun: RollOutState['begun'],
  ): readonly Fate[] => {
    const byDevice = grouped(results, ({ device }) => device.name);
    const turnedTo = new Set(begun);
    return devices.map(({ name, steps }) =>
      fateOf(name, steps, byDevice.get(name) ?? [], turnedTo.has(name)),
    );
  },
);

function deviceCounts({ devices, results, begun }: RollOutState) {
  const fates = fatesOf(devices, results, begun);
  const count = (kind: Fate['kind']): number => fates.filter((one) => one.kind === kind).length;
  return { done: count('done'), failed: count('failed'), left: count('left') };
}

/** The line and its bar, a sign for each device, and what is not as planned; last what a stop has left. */
const rollOutLines = memoized((rollOut: RollOutState, width: number): readonly TextLine[] => {
  const fates = fatesOf(rollOut.devices, rollOut.results, rollOut.begun);
  const doubts = fates.filter(({ text }) => text !== '');
  const causes = [...grouped(doubts, ({ sign, text }) => `${sign} ${text}`).values()]
    .sort(([a], [b]) => Number(a.sign === STOPPED) - Number(b.sign === STOPPED))
    .map((some): Span => {
      const [{ sign, tone, text }] = some;
      return { tone, text: `${sign} ${namesText(some.map(({ name }) => name))}  ${text}` };
    });
  return [
    ...headLines(rollOut, width),
    ...gridLines(fates, width),
    ...[...rollOut.refusals.map((text): Span => ({ tone: 'bad', text })), ...causes].map(
      ({ tone, text }) => plainLine(shortReason(text, width), tone),
    ),
  ];
});

/** More rows of names push away what is not as planned. */
const MOST_ROWS = 6;

/** `✓ fw1  ✓ fw2  ✗ fw3`; the signs alone if the names need too much room. */
function gridLines(fates: readonly Fate[], width: number): TextLine[] {
  const widest = Math.max(...fates.map(({ name }) => widthOf(visible(name)))) + GAP.length + 2;
  const inRow = Math.max(1, Math.floor(width / widest));
  const hasNames = fates.length <= inRow * MOST_ROWS;
  const step = hasNames ? inRow : width;
  const cells = fates.map(({ sign, tone, name }): Span => {
    return { tone, text: hasNames ? fit(`${GAP}${sign} ${visible(name)}`, widest) : sign };
  });
  return Array.from({ length: Math.ceil(cells.length / step) }, (_, row) =>
    cells.slice(row * step, (row + 1) * step),
  );
}

/** The line, a bar with its counts, and the times as far as they are known. */
function headLines(rollOut: RollOutState, width: number): TextLine[] {
  const { devices, toSend, control, line: ran } = rollOut;
  const { done, failed, left } = deviceCounts(rollOut);
  const bar = shareBar(
    [
      { count: done, sign: '━', tone: 'good' },
      { count: failed, sign: '✗', tone: 'bad' },
      { count: left, sign: '─', tone: 'quiet' },
    ],
    Math.min(40, Math.floor(width / 3)),
  );
  const counts = `  ${done} done · ${failed} not as planned · ${left} left`;
  // What cannot be sent ends at once, and says nothing about the rate.
  const sent = done + failed - (devices.length - toSend);
  const times = timesText(rollOut, sent, left);
  const isOneRow = widthOfSpans(bar) + widthOf(counts) + widthOf(times) + 3 <= width;
  const isHeld = !['running', 'ended'].includes(control);
  const line = [...bar, { tone: 'plain', text: counts } as const];
  const time: Span = { tone: isHeld ? 'warning' : 'plain', text: times };
  return [
    plainLine(ran, 'quiet'),
    ...(isOneRow ? [[...line, { tone: 'plain', text: ' · ' } as const, time]] : [line, [time]]),
  ];
}

/** Results after which a rate means something. */
const LEAST_ENDED = 3;
const LEAST_MS = 2000;

/** `PAUSED: p continues · 3 min 20 s · about 5 min left`. The end is unknown after a pause or a stall. */
function timesText(rollOut: RollOutState, ended: number, left: number): string {
  const { control, elapsedMs, lastResultMs, isSteady } = rollOut;
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

/** The sign of what a stop has left to "resume". */
const STOPPED = VERDICT_MARKS.skipped.mark;

function fateOf(
  name: string,
  steps: number,
  ended: readonly StepResult[],
  hasBegun: boolean,
): Fate {
  // What went wrong matters most; a device where something was done is not unchanged.
  const sorted = [...ended].sort((a, b) => severity(a) - severity(b));
  const worst = sorted.findLast((result) => !isGood(result));
  const verdict = (worst ?? sorted[0])?.verdict;
  const sent = ended.filter((result) => result.verdict !== 'skipped');
  const kind = !sent.every(isGood) ? 'failed' : sent.length < steps ? 'left' : 'done';
  if (worst === undefined && (verdict === undefined || ended.length < steps)) {
    const text = `under way, ${ended.length} of ${steps} steps`;
    return hasBegun
      ? { name, kind, sign: '▸', tone: 'accent', text }
      : { name, kind, sign: '·', tone: 'quiet', text: '' };
  }
  const { mark: sign, tone } = VERDICT_MARKS[verdict ?? 'unknown'];
  if (worst === undefined) return { name, kind, sign, tone, text: '' };
  const counts = countTexts(
    Object.fromEntries(frequencies(ended.map((one) => one.verdict))),
    plainStyle,
  );
  const word = steps === 1 ? worst.verdict : counts.join(' · ');
  const reasons = reasonsOf(worst).map((reason) => withoutDevice(reason, worst.device));
  return { name, kind, sign, tone, text: [word, ...reasons].join(' - ') };
}

function severity({ verdict }: StepResult): number {
  return VERDICTS.indexOf(verdict);
}
