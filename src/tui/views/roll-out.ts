import { isGood, VERDICTS, type StepResult } from '../../change/verdict.ts';
import { countTexts, reasonsOf, VERDICT_MARKS } from '../../output/change-text.ts';
import { frequencies, grouped } from '../../device/record.ts';
import { withoutDevice } from '../../output/streams.ts';
import { key, keysOf, type Reason } from '../keys/binding.ts';
import { paceTexts } from '../../output/progress.ts';
import { memoized } from '../store.ts';
import type { Span, Tone } from '../screen/theme.ts';
import type { RollOutState, State } from '../state.ts';
import { namesText, plainStyle } from './plan-lines.ts';
import type { OverOf, View } from './view.ts';
import { durationText } from '../../text/time.ts';

export function isUnderWay({ rollOut }: Pick<State, 'rollOut'>): boolean {
  return rollOut !== undefined && rollOut.control !== 'ended';
}

const ended: Reason = (state) => (isUnderWay(state) ? undefined : 'the run has ended');

/** Keeps the view open while a run is paused, because only this view shows that, and continues the run. */
const whilePaused: Reason = (state) =>
  isPaused(state) ? 'the run is paused: p continues it, x ends it' : undefined;

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
};

function isPaused({ rollOut }: State): boolean {
  return rollOut?.control === 'paused';
}

export interface Fate {
  readonly name: string;
  /** `left`: a stop has skipped a step, which "resume" continues. */
  readonly kind: 'done' | 'failed' | 'left';
  readonly sign: string;
  readonly tone: Tone;
  /** The text about the device below the grid; empty if its sign is enough. */
  readonly text: string;
}

/** "23 of 50 devices". The bar shows how they ended. */
function rollOutTitle(rollOut: RollOutState): string {
  const { done, failed } = countsOf(rollOut);
  return `${done + failed} of ${rollOut.devices.length} devices`;
}

export const fatesOf = memoized(
  ({ devices, results, begun }: RollOutState): readonly Fate[] => {
    const byDevice = grouped(results, ({ device }) => device.name);
    const turnedTo = new Set(begun);
    return devices.map(({ name, steps }) =>
      fateOf(name, steps, byDevice.get(name) ?? [], turnedTo.has(name)),
    );
  },
  ([{ devices, results, begun }]) => [devices, results, begun],
);

export function countsOf(rollOut: RollOutState) {
  const count = (kind: Fate['kind']): number =>
    fatesOf(rollOut).filter((one) => one.kind === kind).length;
  return { done: count('done'), failed: count('failed'), left: count('left') };
}

/** The causes of results that are not as planned, each with its devices. Steps that a stop has left come last. */
export function causesOf(rollOut: RollOutState): readonly Span[] {
  const doubts = fatesOf(rollOut).filter(({ text }) => text !== '');
  const causes = [...grouped(doubts, ({ sign, text }) => `${sign} ${text}`).values()]
    .sort(([a], [b]) => Number(a.sign === STOPPED) - Number(b.sign === STOPPED))
    .map((some): Span => {
      const [{ sign, tone, text }] = some;
      return { tone, text: `${sign} ${namesText(some.map(({ name }) => name))}  ${text}` };
    });
  return [...rollOut.refusals.map((text): Span => ({ tone: 'bad', text })), ...causes];
}

/** `PAUSED: p continues · 3 min 20 s · 4/s · about 5 min left`. The end is unknown after a pause. */
export function timesText(rollOut: RollOutState): string {
  const { control, elapsedMs, isSteady, devices, toSend } = rollOut;
  const { done, failed, left } = countsOf(rollOut);
  const words = {
    running: [],
    paused: ['PAUSED: p continues'],
    stopping: ['stopping after the devices under way'],
    interrupted: [INTERRUPTED],
    ended: ['ended'],
  };
  // Steps that cannot be sent end at once, so they do not count for the rate.
  const sent = done + failed - (devices.length - toSend);
  const pace = isSteady && control !== 'ended' ? paceTexts(sent, left, elapsedMs) : [];
  return [...words[control], durationText(elapsedMs), ...pace].join(' · ');
}

/** The sign of steps that a stop has left to "resume". */
const STOPPED = VERDICT_MARKS.skipped.mark;

function fateOf(
  name: string,
  steps: number,
  ended: readonly StepResult[],
  hasBegun: boolean,
): Fate {
  // The worst result counts. If all are good, a device is `done` as soon as one step is.
  const sorted = [...ended].sort((a, b) => severity(a) - severity(b));
  const worst = sorted.findLast((result) => !isGood(result));
  const verdict = (worst ?? sorted[0])?.verdict;
  const sent = ended.filter((result) => result.verdict !== 'skipped');
  const kind = !sent.every(isGood) ? 'failed' : sent.length < steps ? 'left' : 'done';
  if (worst === undefined && (verdict === undefined || ended.length < steps)) {
    return { name, kind, ...(hasBegun ? UNDER_WAY : WAITING), text: '' };
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

const UNDER_WAY = { sign: '▸', tone: 'accent' } as const;
const WAITING = { sign: '·', tone: 'quiet' } as const;

function severity({ verdict }: StepResult): number {
  return VERDICTS.indexOf(verdict);
}
