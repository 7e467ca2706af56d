import { type Filter, parseFilter } from '../../fleet/filter.ts';
import type { View, ReadOutput, ReadOutcome } from '../../shell/output.ts';
import { type Editing, EMPTY_EDITING } from '../editor/line.ts';

/** The keys of the marked records, by device. A device without any is absent. */
export type Marks = ReadonlyMap<string, ReadonlySet<string>>;

/** The command that fills the table; a refresh runs it again. */
export interface TableSource {
  readonly command: string;
  /** The filter of that command, as typed. */
  readonly commandFilter: string;
  readonly view: View;
  /** The devices that the command named; undefined for the selection. */
  readonly scope: readonly string[] | undefined;
  /** The refresh interval; undefined if the table is read only on request. */
  readonly watchMs?: number | undefined;
}

export interface TableState extends TableSource {
  /** The reads by device name, in the order of arrival. */
  readonly reads: ReadonlyMap<string, TableRead>;
  readonly isFolded: boolean;
  /** The sort order as in `--sort`; undefined for that of the command. */
  readonly sort: readonly string[] | undefined;
  readonly filter: TableFilter;
  /** Index of the row with the cursor. */
  readonly cursor: number;
  /** Index of the first row on the screen. */
  readonly top: number;
  readonly marks: Marks;
  /** The changes of the last refresh, shown for a moment. */
  readonly changes: TableChanges | undefined;
}

/** A device's response, and the time of its arrival. */
export interface TableRead extends ReadOutput {
  readonly at?: Date | undefined;
  /** The last successful read, after a failure. */
  readonly last?: LastRead | undefined;
}

export interface LastRead {
  readonly records: Extract<ReadOutcome, { ok: true }>['records'];
  readonly at: Date | undefined;
}

/** The changes since the first of several reads, each record once. After a run, the counts are those of its results. */
export interface TableChanges {
  /** By mark, the fields with another value; `undefined` for a new record. */
  readonly fields: ReadonlyMap<string, readonly string[] | undefined>;
  readonly changed: number;
  readonly added: number;
  readonly removed: number;
  readonly devices: ReadonlySet<string>;
  /** By device, the records before the changes. Empty after the user has seen them, so that new changes count alone. */
  readonly before: ReadonlyMap<string, LastRead['records']>;
  /** Whether the counts are those of a run, so that reads do not add to them. */
  readonly isOfRun?: boolean;
}

/** `parsed`: the last valid filter. `applied`: the filter of the current rows, which follow later in long tables. */
export interface TableFilter {
  readonly editing: Editing;
  readonly isOpen: boolean;
  readonly parsed: Filter;
  readonly applied: Filter;
  readonly problem: string | undefined;
}

const EVERYTHING = parseFilter('');

export const NO_FILTER: TableFilter = {
  editing: EMPTY_EDITING,
  isOpen: false,
  parsed: EVERYTHING,
  applied: EVERYTHING,
  problem: undefined,
};

export function newTable(source: Pick<TableState, 'command' | 'commandFilter' | 'scope' | 'view'>) {
  return {
    ...source,
    reads: new Map(),
    isFolded: true,
    sort: undefined,
    filter: NO_FILTER,
    cursor: 0,
    top: 0,
    marks: new Map<string, Set<string>>(),
    watchMs: undefined,
    changes: undefined,
  } satisfies TableState;
}
