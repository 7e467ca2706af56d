import type { TableOutput } from '../shell/output.ts';
import { fieldText } from '../output/value.ts';
import { cut, fit, widthOf } from '../output/width.ts';
import type { RunRow } from './state.ts';

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

const COLUMNS = [
  { field: 'began', title: 'BEGAN (UTC)', most: 16 },
  { field: 'devices', title: 'DEVICES', most: 7 },
  { field: 'state', title: 'STATE', most: 22 },
  { field: 'verdicts', title: 'VERDICTS', most: 28 },
] as const satisfies readonly { field: keyof RunRow; title: string; most: number }[];

/** A header and one line for each run; what the command was takes the room that is left. */
export function runLines(runs: readonly RunRow[], width: number): string[] {
  const columns = COLUMNS.map(({ field, title, most }) => {
    const widest = Math.max(widthOf(title), ...runs.map((run) => widthOf(run[field])));
    return { field, title, width: Math.min(most, widest) };
  });
  const line = (cell: (field: keyof RunRow, title: string) => string): string => {
    const cells = columns.map(({ field, title, width: wide }) => fit(cell(field, title), wide));
    return cut([...cells, cell('command', 'COMMAND')].join('  ').trimEnd(), width);
  };
  return [line((_field, title) => title), ...runs.map((run) => line((field) => run[field]))];
}
