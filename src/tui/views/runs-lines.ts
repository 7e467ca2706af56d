import type { TableOutput } from '../../shell/output.ts';
import { fieldText } from '../../output/cells.ts';
import { cut, fit, widthOf } from '../../text/width.ts';
import type { RunRow } from '../state.ts';
import type { ListSource } from './arrange.ts';

/** The rows of the command `runs`. */
export function runRows({ rows }: TableOutput): RunRow[] {
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

const OPEN = /^(stopped|unfinished|unreadable)/;
/** Verdicts after which somebody has to look. */
const DOUBTFUL = /failed|unknown|differs|drift/;

/** What did not come to its end, or not to a good one, comes first. */
export function runSource(items: readonly RunRow[]): ListSource<RunRow> {
  return {
    items,
    idOf: ({ id }) => id,
    fields: [...COLUMNS.map(({ field }) => field), 'command'],
    recordOf: (run) => ({ ...run }),
    isDoubtful: ({ state, verdicts }) => OPEN.test(state) || DOUBTFUL.test(verdicts),
  };
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
