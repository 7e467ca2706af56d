import { fieldText, MOST_ON_SCREEN } from '../../output/cells.ts';
import { shortTime } from '../../text/time.ts';
import { quoteWord } from '../../text/words.ts';
import { counted } from '../../text/one-line.ts';
import { firstOf, keysOf, lineKey, readOnly, type Reason } from '../keys/binding.ts';
import type { Key } from '../keys/key-binding.ts';
import type { State } from '../state.ts';
import { type ListColumn, type ListOf, listOf, type OverOf } from './view.ts';

type RunRow = OverOf<'runs'>['runs'][number];

function textOf(run: RunRow, field: string): string {
  return fieldText(field, run[field], MOST_ON_SCREEN);
}

const OPEN = /^(stopped|unfinished|unreadable)/;
/** Matches counts of verdicts that need the user's attention. */
const DOUBTFUL = /\d (?!done|unchanged|skipped)/;

const noRun: Reason = (state) =>
  state.overlay.kind === 'runs' && RUNS.current(state) === undefined ? 'no run here' : undefined;

const noChange = firstOf(noRun, readOnly);

/** A key that runs a command about the current run. */
function about(
  name: string,
  action: string,
  label: string,
  command: string,
  hint: readonly [number, string],
  disabled: Reason,
): Key<State> {
  const run = (state: State): string | undefined => {
    const chosen = RUNS.current(state);
    return chosen && `${command} ${quoteWord(textOf(chosen, 'run'))}`;
  };
  const closes = disabled === noChange;
  return lineKey([name], action, label, run, { hint, command: `${command} RUN`, disabled, closes });
}

export const RUNS: ListOf<OverOf<'runs'>, RunRow> = listOf({
  kind: 'runs',
  keys: keysOf('runs', 'In the list of runs', [
    about('enter', 'show-run', 'plan and verdicts', 'runs show', [1, 'show'], noRun),
    about(
      'r',
      'resume-run',
      'continue it, also its failed steps',
      'resume',
      [3, 'resume'],
      noChange,
    ),
    about('u', 'undo-run', 'undo it', 'undo', [5, 'undo'], noChange),
    about('p', 'report-run', 'report what it did', 'report', [7, 'report'], noRun),
  ]),
  breadcrumb: () => 'runs',
  title: ({ runs }, _state, found) => [{ text: counted(runs.length, 'run'), rank: 2 }, found],
  opening: (output, { command }) =>
    output.kind === 'table' && command.name === 'runs'
      ? { kind: 'runs', runs: output.rows, cursor: 0 }
      : undefined,
  nothing: 'no run yet',
  items: ({ runs }) => runs,
  idOf: (run) => textOf(run, 'run'),
  columns: () => RUN_COLUMNS,
  isDoubtful: (run) => OPEN.test(textOf(run, 'state')) || DOUBTFUL.test(textOf(run, 'verdicts')),
  empty: () => 'no run yet',
});

function beganText(run: RunRow): string {
  const text = textOf(run, 'at');
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : shortTime(at);
}

function column(field: string, most: number, rank: number) {
  const text = (run: RunRow): string => textOf(run, field);
  return { title: field.toUpperCase(), text, most, rank } as const;
}

export const RUN_COLUMNS: readonly ListColumn<RunRow>[] = [
  { ...column('at', 16, 2), title: 'BEGAN', text: beganText, value: (run) => textOf(run, 'at') },
  column('devices', 7, 4),
  column('state', 22, 1),
  column('verdicts', 28, 3),
  // The start of a command is enough to recognize the run.
  { ...column('command', Infinity, 0), least: 16, isFilling: true },
  column('run', 0, 5),
];
