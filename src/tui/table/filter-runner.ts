import { filterSteps } from './filter.ts';
import type { Store } from '../store.ts';
import { tableRows } from './rows.ts';

/** The longest delay for a key: half a frame. */
const SLICE_MS = 8;

/** Filters in slices while a filter is typed, so that each letter shows at once. Returns the function that stops it. */
export function filterInSlices(store: Store): () => void {
  let next: NodeJS.Immediate | undefined;
  const isPending = (): boolean => {
    const { parsed, applied } = store.state.table.filter;
    return parsed !== applied;
  };
  const begin = (): void => {
    const { all } = tableRows(store.state);
    const { parsed } = store.state.table.filter;
    const steps = filterSteps(all, parsed);
    const isWanted = (): boolean =>
      store.state.table.filter.parsed === parsed && tableRows(store.state).all === all;
    /** Works between keys, and starts again if the filter has changed since. */
    const slice = (): void => {
      next = undefined;
      const end = performance.now() + SLICE_MS;
      while (isWanted() && performance.now() < end) {
        if (steps.next().done !== true) continue;
        store.dispatch({ kind: 'apply-filter', filter: parsed });
        return;
      }
      if (isWanted()) next = setImmediate(slice);
      else if (isPending()) begin();
    };
    next = setImmediate(slice);
  };
  const unsubscribe = store.subscribe(() => {
    if (next === undefined && isPending()) begin();
  });
  return () => {
    unsubscribe();
    clearImmediate(next);
  };
}
