import { fieldsOf, keyFieldOf } from '../../output/cells.ts';
import type { TableSource } from '../actions.ts';
import { changesBetween } from './changes.ts';
import type { LastRead, State, TableRead, TableState } from '../state.ts';

/** Another command fills the table: what other devices answered before is no part of it. */
export function setSource(state: State, source: TableSource): TableState {
  const { table } = state;
  const devices = source.scope ?? state.fleet.selected;
  const isSame = isSameView(source, table);
  const reads = isSame ? [...table.reads].filter(([name]) => devices.includes(name)) : [];
  const { sort } = source.view;
  return {
    ...table,
    ...source,
    reads: isSame && reads.length === table.reads.size ? table.reads : new Map(reads),
    sort: sort === undefined ? table.sort : undefined,
    watchMs: source.watchMs,
    ...(!isSame && {
      marks: new Set<string>(),
      range: undefined,
      changes: undefined,
      turnedRows: new Set<string>(),
      cursor: 0,
      top: 0,
      shift: 0,
    }),
  };
}

/** The same records, however they are shown: a resource with a filter. */
export function isSameView(
  a: Pick<TableSource, 'view' | 'commandFilter'>,
  b: Pick<TableSource, 'view' | 'commandFilter'>,
): boolean {
  return a.view.resource === b.view.resource && a.commandFilter === b.commandFilter;
}

/** A device that does not answer now may hold what it held: its last records stay, with their age. */
export function addReads(table: TableState, reads: readonly TableRead[]): TableState {
  const all = new Map(table.reads);
  for (const read of reads) {
    const { name } = read.device;
    all.set(name, read.outcome.ok ? read : { ...read, last: lastOf(all.get(name)) });
  }
  const view = reads.at(-1)?.view ?? table.view;
  const records = reads.flatMap(({ outcome }) => (outcome.ok ? outcome.records : []));
  const keyField = keyFieldOf(view, view.key === undefined ? fieldsOf(records) : []);
  const found = changesBetween(table.reads, reads, keyField);
  return {
    ...table,
    reads: all,
    view: sameView(table.view, view) ? table.view : view,
    changes: found ?? table.changes,
  };
}

function lastOf(read: TableRead | undefined): LastRead | undefined {
  return read?.outcome.ok === true ? { records: read.outcome.records, at: read.at } : read?.last;
}

function sameView(a: TableState['view'], b: TableState['view']): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
