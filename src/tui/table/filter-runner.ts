import { filterSteps, prepareSteps } from './filter.ts';
import type { Store } from '../store.ts';
import { tableRows } from './rows.ts';

/** So long keys may wait for it: half a frame. */
const SLICE_MS = 8;

/**
 * Looks through long tables in slices while a filter is typed, so that each letter shows at once; the
 * rows follow. What was found is remembered by `filterRows`.
 */
export class FilterRunner {
  readonly #store: Store;
  readonly #unsubscribe: () => void;
  readonly #prepared = new WeakSet<object>();
  #next: NodeJS.Immediate | undefined;

  constructor(store: Store) {
    this.#store = store;
    this.#unsubscribe = store.subscribe(() => {
      if (this.#next !== undefined) return;
      if (this.#isPending()) this.#begin();
      else if (store.state.table.filter.isOpen) this.#prepare();
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

  /** Between `/` and the first letter there is time for what each filter needs. */
  #prepare(): void {
    const { all } = tableRows(this.#store.state);
    if (this.#prepared.has(all)) return;
    this.#prepared.add(all);
    const steps = prepareSteps(all);
    const slice = (): void => {
      this.#next = undefined;
      const end = performance.now() + SLICE_MS;
      while (!this.#isPending() && performance.now() < end) if (steps.next().done === true) return;
      if (this.#isPending()) this.#begin();
      else this.#next = setImmediate(slice);
    };
    this.#next = setImmediate(slice);
  }

  #isPending(): boolean {
    const { parsed, applied } = this.#store.state.table.filter;
    return parsed !== applied;
  }
}
