import { pressedKey } from './keys/keymap.ts';
import type { Store } from './store.ts';
import { type KeyEvent, matchesKey } from './terminal/keys.ts';

/** A key for a view that has closed by itself may come so much later. */
const LATE_MS = 1000;

/** Keys for a view that has just closed: in the table, x means something else, and q leaves devsh. */
export class LateKeys {
  readonly #store: Store;
  /** When the view closed by itself, in ms of `performance.now()`. */
  #endedAt = -Infinity;
  /** When q closed a view. */
  #closedAt = -Infinity;

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

  /** Why the key of a binding is not taken; whoever presses another key has seen the end. */
  reason(event: KeyEvent, action: string): string | undefined {
    if (this.#isLate(event)) return 'the run has just ended: this key was not taken for the table';
    const now = performance.now();
    const isAgain = action === 'quit' && now - this.#closedAt < LATE_MS;
    // A key that is held down repeats.
    const closes = isAgain || (action === 'close' && !matchesKey(event, 'escape'));
    this.#closedAt = closes ? now : -Infinity;
    return isAgain ? 'the view was just closed: press it again to leave devsh' : undefined;
  }

  /** From another key on none is late. Esc goes back anywhere. */
  #isLate(event: KeyEvent): boolean {
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
