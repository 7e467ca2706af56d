import { filterSteps } from './filter-rows.ts';
import type { Store } from './store.ts';
import { tableRows } from './table-rows.ts';

/** So long keys may wait for it: half a frame. */
const SLICE_MS = 8;

/**
 * Looks through long tables in slices while a filter is typed, so that each letter shows at once; the
 * rows follow. What was found is remembered by `filterRows`.
 */
export class FilterRunner {
  readonly #store: Store;
  readonly #unsubscribe: () => void;
  #next: NodeJS.Immediate | undefined;

  constructor(store: Store) {
    this.#store = store;
    this.#unsubscribe = store.subscribe(() => {
      const { parsed, applied } = store.state.table.filter;
      if (parsed !== applied && this.#next === undefined) this.#begin();
    });
  }

  stop(): void {
    this.#unsubscribe();
    clearImmediate(this.#next);
  }

  #begin(): void {
    const { state } = this.#store;
    const { all } = tableRows(state);
    const { parsed } = state.table.filter;
    const steps = filterSteps(all, parsed);
    const isWanted = (): boolean => {
      const { state: now } = this.#store;
      return now.table.filter.parsed === parsed && tableRows(now).all === all;
    };
    const slice = (): void => {
      this.#next = undefined;
      const end = performance.now() + SLICE_MS;
      while (isWanted() && performance.now() < end) {
        if (steps.next().done !== true) continue;
        this.#store.dispatch({ kind: 'apply-filter', filter: parsed });
        return;
      }
      if (isWanted()) this.#next = setImmediate(slice);
      else if (this.#isPending()) this.#begin();
    };
    this.#next = setImmediate(slice);
  }

  #isPending(): boolean {
    const { parsed, applied } = this.#store.state.table.filter;
    return parsed !== applied;
  }
}
