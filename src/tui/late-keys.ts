import { pressedKey } from './keys/keymap.ts';
import type { Store } from './store.ts';
import { type KeyEvent, matchesKey } from './terminal/keys.ts';

/** A key for a view that has closed by itself may come so much later. */
const LATE_MS = 1000;

/** Keys that were probably meant for the view of a run that has just ended: elsewhere x and q mean something else. */
export class LateKeys {
  readonly #store: Store;
  /** When the view closed by itself, in ms of `performance.now()`. */
  #endedAt = -Infinity;

  constructor(store: Store) {
    this.#store = store;
    let { overlay } = store.state;
    store.subscribe(() => {
      const { state } = store;
      if (overlay.kind === 'roll-out' && state.rollOut === undefined) {
        this.#endedAt = performance.now();
      }
      ({ overlay } = state);
    });
  }

  /** Whoever presses another key has seen the end: from then on none is late. Esc goes back anywhere. */
  isLate(event: KeyEvent): boolean {
    const { focus, form, keymap, questions, rollOut } = this.#store.state;
    const isOver = rollOut === undefined && performance.now() - this.#endedAt < LATE_MS;
    const isElsewhere = focus === 'prompt' || form || questions.length > 0;
    if (isOver && !isElsewhere && !matchesKey(event, 'escape')) {
      const late = pressedKey(event, 'roll-out', keymap);
      if (late?.kind === 'binding' && late.binding.context === 'roll-out') return true;
    }
    this.#endedAt = -Infinity;
    return false;
  }
}
