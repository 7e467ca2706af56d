import { firstStepRows } from '../screen/first-steps.ts';
import type { State } from '../state.ts';

/** What stands in the place of the table while it has no row. */
export function emptyLines(state: State): string[] {
  const { fleet, table } = state;
  if (fleet.devices.length === 0 && table.reads.size === 0) {
    return firstStepRows(state);
  }
  const isFiltered = table.filter.parsed.terms.length > 0 || table.commandFilter !== '';
  const hasAnswers = [...table.reads.values()].some(({ outcome }) => outcome.ok);
  if (!hasAnswers) {
    // Those that answered before may hold what they held, or not.
    const what = table.reads.size === 0 ? 'nothing was read yet' : 'no device answers';
    return ['', `${what}; r in the table tries again`];
  }
  return ['', isFiltered ? 'no record matches the filter' : 'no records'];
}
