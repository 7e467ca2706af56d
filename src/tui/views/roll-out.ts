import { VERDICTS, type StepResult, type Verdict } from '../../change/verdict.ts';
import { countTexts, reasonsOf, VERDICT_MARKS } from '../../output/change-text.ts';
import { grouped } from '../../device/record.ts';
import { visible } from '../../text/visible.ts';
import { memoized } from '../store.ts';
import { wrapText } from '../editor/graphemes.ts';
import type { LogLine, Overlay, RollOutState, State } from '../state.ts';
import type { OverOf, View } from './view.ts';

/** Progress of a run on many devices, device by device. */
export const ROLL_OUT: View<OverOf<'roll-out'>> = {
  crumb: () => 'roll-out',
  title: ({ rollOut }) => [{ text: rollOutTitle(rollOut), rank: 1 }],
  showsMessages: true,
  lines: ({ rollOut }, { size }) => rollOutLines(rollOut, size.columns - 2).map(({ text }) => text),
  tone: ({ rollOut }, { size }, _lines, index) =>
    rollOutLines(rollOut, size.columns - 2)[index]?.tone ?? 'plain',
};

/** Adds a result to the roll-out, visible or covered by another view. */
export function addResult(state: State, result: StepResult): State {
  const added = (overlay: Overlay): Overlay =>
    overlay.kind === 'roll-out'
      ? {
          ...overlay,
          rollOut: { ...overlay.rollOut, results: [...overlay.rollOut.results, result] },
        }
      : overlay;
  const isBelow = state.backStack.some(({ overlay }) => overlay.kind === 'roll-out');
  const backStack = isBelow
    ? state.backStack.map((place) => ({ ...place, overlay: added(place.overlay) }))
    : state.backStack;
  const overlay = added(state.overlay);
  return overlay === state.overlay && !isBelow ? state : { ...state, overlay, backStack };
}

/** The state of one device; the smallest rank comes first. */
interface DeviceLine extends LogLine {
  readonly rank: number;
}

/** "23 of 50 devices · 21 done · 2 failed" */
function rollOutTitle(rollOut: RollOutState): string {
  const { devices, results } = rollOut;
  const byDevice = resultsByDevice(results);
  const ended = devices.filter(({ name, steps }) => endedOn(byDevice, name).length >= steps).length;
  const counts: Partial<Record<Verdict, number>> = {};
  for (const { verdict } of results) counts[verdict] = (counts[verdict] ?? 0) + 1;
  const texts = countTexts(counts, (_tone, text) => text);
  return [`${ended} of ${devices.length} devices`, ...texts].join(' · ');
}

/** Failures first, then devices in progress and waiting, then completed ones; wrapped. */
const rollOutLines = memoized((rollOut: RollOutState, width: number): readonly LogLine[] => {
  const byDevice = resultsByDevice(rollOut.results);
  const lines = rollOut.devices.map(({ name, steps }) =>
    deviceLine(name, steps, endedOn(byDevice, name)),
  );
  return [
    ...rollOut.refusals.map((text): LogLine => ({ tone: 'bad', text })),
    ...lines.sort((a, b) => a.rank - b.rank),
  ].flatMap(({ tone, text }) => wrapText(text, width, '    ').map((row) => ({ tone, text: row })));
});

type ByDevice = ReadonlyMap<string, readonly StepResult[]>;

const resultsByDevice = memoized((results: readonly StepResult[]): ByDevice =>
  grouped(results, ({ device }) => device.name),
);

function endedOn(results: ByDevice, name: string): readonly StepResult[] {
  return results.get(name) ?? [];
}

function deviceLine(name: string, steps: number, ended: readonly StepResult[]): DeviceLine {
  const count = steps === 1 ? '' : ` ${ended.length} of ${steps}`;
  // The worst verdict matters most.
  const [worst] = [...ended].sort((a, b) => severity(b) - severity(a));
  if (worst === undefined) return { rank: 2, tone: 'quiet', text: `◌ ${visible(name)}  waiting` };
  const { mark, tone } = VERDICT_MARKS[worst.verdict];
  const isGood = worst.verdict === 'done' || worst.verdict === 'unchanged';
  const isOver = ended.length >= steps;
  const why = isGood
    ? ''
    : reasonsOf(worst)
        .map((reason) => ` - ${reason}`)
        .join('');
  const word = isGood && !isOver ? 'under way' : worst.verdict;
  const rank = isGood ? (isOver ? 3 : 1) : worst.verdict === 'skipped' ? 4 : 0;
  return { rank, tone, text: `${mark} ${visible(name)}  ${word}${count}${why}` };
}

function severity({ verdict }: StepResult): number {
  return VERDICTS.indexOf(verdict);
}
