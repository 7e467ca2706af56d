import { filterSteps, prepareSteps } from './filter.ts';
import type { Store } from '../store.ts';
import { tableRows } from './rows.ts';

/** Longest delay for a key: half a frame. */
const SLICE_MS = 8;

/** While a filter is typed, so that each letter shows at once. Returns the function that stops it. */
export function filterInSlices(store: Store): () => void {
  const prepared = new WeakSet<object>();
  let next: NodeJS.Immediate | undefined;
  const isPending = (): boolean => {
    const { parsed, applied } = store.state.table.filter;
    return parsed !== applied;
  };
  /** Works between keys as long as it `isWanted`; then handles what was typed since. */
  const inSlices = (
    steps: Iterator<unknown>,
    isWanted: () => boolean,
    onDone: () => void = () => undefined,
  ): void => {
    const slice = (): void => {
      next = undefined;
      const end = performance.now() + SLICE_MS;
      while (isWanted() && performance.now() < end) {
        if (steps.next().done !== true) continue;
        onDone();
        return;
      }
      if (isWanted()) next = setImmediate(slice);
      else if (isPending()) begin();
    };
    next = setImmediate(slice);
  };
  const begin = (): void => {
    const { all } = tableRows(store.state);
    const { parsed } = store.state.table.filter;
    const isWanted = (): boolean =>
      store.state.table.filter.parsed === parsed && tableRows(store.state).all === all;
    inSlices(filterSteps(all, parsed), isWanted, () => {
      store.dispatch({ kind: 'apply-filter', filter: parsed });
    });
  };
  const unsubscribe = store.subscribe(() => {
    if (next !== undefined) return;
    if (isPending()) {
      begin();
    } else if (store.state.table.filter.isOpen) {
      // Between `/` and the first letter there is time to prepare the rows.
      const { all } = tableRows(store.state);
      if (prepared.has(all)) return;
      prepared.add(all);
      inSlices(prepareSteps(all), () => !isPending());
    }
  });
  return () => {
    unsubscribe();
    clearImmediate(next);
  };
}
