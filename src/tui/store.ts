import type { Action } from './actions.ts';
import type { State } from './state.ts';

/** The state outside React: keys that arrive in one tick all count. */
export class Store {
  #state: State;
  readonly #reduce: (state: State, action: Action) => State;
  readonly #listeners = new Set<() => void>();

  constructor(state: State, reduce: (state: State, action: Action) => State) {
    this.#state = state;
    this.#reduce = reduce;
  }

  get state(): State {
    return this.#state;
  }

  dispatch(action: Action): void {
    const next = this.#reduce(this.#state, action);
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
