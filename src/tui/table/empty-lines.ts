import { firstStepRows } from '../screen/first-steps.ts';
import type { State } from '../state.ts';
import { staleText } from './age.ts';
import { tableRows } from './rows.ts';

/** What stands in the place of the table while it has no row. */
export function emptyLines(state: State): string[] {
  const { fleet, table } = state;
  if (fleet.devices.length === 0 && table.reads.size === 0) {
    return firstStepRows(state);
  }
  const isFiltered = table.filter.parsed.terms.length > 0 || table.commandFilter !== '';
  const reads = [...table.reads.values()];
  const hasAnswers = reads.some(({ outcome, last }) => outcome.ok || last !== undefined);
  if (!hasAnswers) {
    // Those that answered before may hold what they held, or not.
    const what = table.reads.size === 0 ? 'nothing was read yet' : 'no device answers';
    return ['', `${what}; r in the table tries again`];
  }
  const { stale } = tableRows(state);
  const what = isFiltered ? 'no record matches the filter' : 'no records';
  return ['', stale.size === 0 ? what : `${what}; ${staleText(stale)}`];
}
