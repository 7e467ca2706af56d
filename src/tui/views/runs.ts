import type { TableOutput } from '../../shell/output.ts';
import { fieldText } from '../../output/cells.ts';
import { quoteWord } from '../../text/words.ts';
import { counted } from '../../text/one-line.ts';
import { cut, fit, widthOf } from '../../text/width.ts';
import { firstOf, key, keysOf, lineKey, readOnly, type Reason } from '../keys/binding.ts';
import type { Key } from '../keys/key-binding.ts';
import type { RunRow, State } from '../state.ts';
import { arranged, listOf, type ListSource, type OverOf } from './view.ts';

type RunsOver = OverOf<'runs'>;

const OPEN = /^(stopped|unfinished|unreadable)/;
/** Verdicts that need the user's attention. */
const DOUBTFUL = /failed|unknown|differs|drift/;

/** Unfinished and failed runs come first. */
function source({ runs }: RunsOver): ListSource<RunRow> {
  return {
    items: runs,
    idOf: ({ id }) => id,
    fields: [...COLUMNS.map(({ field }) => field), 'command'],
    recordOf: (run) => ({ ...run }),
    isDoubtful: ({ state, verdicts }) => OPEN.test(state) || DOUBTFUL.test(verdicts),
  };
}

const noRun: Reason = ({ overlay, find }) =>
  overlay.kind === 'runs' && arranged(source(overlay), find).length === 0
    ? 'there is no run here'
    : undefined;

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
  const run = ({ overlay, find }: State): string | undefined => {
    const chosen =
      overlay.kind === 'runs' ? arranged(source(overlay), find)[overlay.cursor] : undefined;
    return chosen && `${command} ${quoteWord(chosen.id)}`;
  };
  const closes = disabled === noChange;
  return lineKey([name], action, label, run, { hint, command: `${command} RUN`, disabled, closes });
}

export const RUNS = listOf<RunsOver, RunRow>({
  keys: keysOf('runs', 'In the list of runs', [
    about('enter', 'show-run', 'plan and verdicts', 'run show', [1, 'show'], noRun),
    about('r', 'resume-run', 'go on with it', 'resume', [3, 'resume'], noChange),
    about('t', 'retry-run', 'try what failed again', 'retry', [4, 'retry'], noChange),
    about('u', 'undo-run', 'take it back', 'undo', [5, 'undo'], noChange),
    about('p', 'report-run', 'report it', 'report', [7, 'report'], noRun),
    key(['escape', 'q'], 'close', 'back', { hint: [2, 'back'] }),
  ]),
  crumb: () => 'runs',
  title: ({ runs }, _state, found) => [{ text: counted(runs.length, 'run'), rank: 2 }, found],
  opening: (output, { command }) =>
    output.kind === 'table' && command.name === 'runs'
      ? { kind: 'runs', runs: rowsOf(output.rows), cursor: 0 }
      : undefined,
  nothing: 'no run was made yet',
  source,
  draw(runs, _overlay, _state, width) {
    const [header = '', ...lines] = runLines(runs, width);
    return { header, lines };
  },
  empty: () => 'no run was made yet',
});

/** The rows of the command `runs`. */
function rowsOf(rows: TableOutput['rows']): RunRow[] {
  return rows.map((row) => {
    const text = (field: string): string => fieldText(field, row[field]);
    return {
      id: text('run'),
      began: text('at').replace('T', ' ').slice(0, 16),
      devices: text('devices'),
      state: text('state'),
      verdicts: text('verdicts'),
      command: text('command'),
    };
  });
}

interface RunColumn {
  readonly field: keyof RunRow;
  readonly title: string;
  readonly most: number;
  /** Gives its room to the command when that would have none: the smaller, the sooner. */
  readonly rank: number;
}

const COLUMNS: readonly RunColumn[] = [
  { field: 'began', title: 'BEGAN (UTC)', most: 16, rank: 3 },
  { field: 'devices', title: 'DEVICES', most: 7, rank: 1 },
  { field: 'state', title: 'STATE', most: 22, rank: 4 },
  { field: 'verdicts', title: 'VERDICTS', most: 28, rank: 2 },
];

/** So much of a command tells which run it was. */
const COMMAND_WIDTH = 16;

/** A header and one line for each run; what the command was takes the room that is left. */
export function runLines(runs: readonly RunRow[], width: number): string[] {
  const measured = COLUMNS.map((column) => {
    const widest = Math.max(
      widthOf(column.title),
      ...runs.map((run) => widthOf(run[column.field])),
    );
    return { ...column, width: Math.min(column.most, widest) };
  });
  const columns = fitting(measured, width - COMMAND_WIDTH);
  const line = (cell: (field: keyof RunRow, title: string) => string): string => {
    const cells = columns.map(({ field, title, width: wide }) => fit(cell(field, title), wide));
    return cut([...cells, cell('command', 'COMMAND')].join('  ').trimEnd(), width);
  };
  return [line((_field, title) => title), ...runs.map((run) => line((field) => run[field]))];
}

function fitting<Column extends RunColumn & { readonly width: number }>(
  columns: readonly Column[],
  room: number,
): readonly Column[] {
  const used = columns.reduce((sum, { width }) => sum + width + 2, 0);
  if (used <= room || columns.length === 0) return columns;
  const least = Math.min(...columns.map(({ rank }) => rank));
  return fitting(
    columns.filter(({ rank }) => rank !== least),
    room,
  );
}
