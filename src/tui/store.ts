import type { Action } from './actions.ts';
import { reduce } from './reduce.ts';
import type { State } from './state.ts';

/** The state outside React: keys that arrive in one tick all count. */
export class Store {
  #state: State;
  readonly #listeners = new Set<() => void>();

  constructor(state: State) {
    this.#state = state;
  }

  get state(): State {
    return this.#state;
  }

  dispatch(action: Action): void {
    const next = reduce(this.#state, action);
    if (next === this.#state) return;
    this.#state = next;
    for (const listener of this.#listeners) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): State => this.#state;
}
