import { pressedKey } from './keys/keymap.ts';
import type { Store } from './store.ts';
import { type KeyEvent, matchesKey } from './terminal/keys.ts';

/** A key for a view that has closed by itself may come so much later. */
const LATE_MS = 1000;

/** The views that close by themselves, and what is said of a key that comes too late for them. */
const ENDS = {
  'roll-out': 'the run has just ended: this key was not taken for the table',
  questions: 'the list of questions has just closed: this key was not taken',
} as const;

/** Keys for a view that has just closed: in the table, x means something else, and q leaves devsh. */
export class LateKeys {
  readonly #store: Store;
  /** The view with the focus that has closed by itself; `at` in ms of `performance.now()`. */
  #ended: { readonly view: keyof typeof ENDS; readonly at: number } | undefined;
  /** When q closed a view. */
  #closedAt = -Infinity;

  constructor(store: Store) {
    this.#store = store;
    let { overlay, focus } = store.state;
    store.subscribe(() => {
      const { state } = store;
      if (overlay.kind === 'roll-out' && focus === 'table' && state.rollOut === undefined)
        this.#end('roll-out');
      ({ overlay, focus } = state);
    });
  }

  /** Closes the list of questions if the line that has ended answered the last one. */
  closeQuestions(): void {
    const { overlay, focus } = this.#store.state;
    this.#store.dispatch({ kind: 'questions-end' });
    const isClosed = overlay.kind === 'questions' && this.#store.state.overlay !== overlay;
    if (isClosed && focus === 'table') this.#end('questions');
  }

  #end(view: keyof typeof ENDS): void {
    this.#ended = { view, at: performance.now() };
  }

  /** Why a key is not taken; `action`: of its binding, if there is one. */
  reason(event: KeyEvent, action: string | undefined): string | undefined {
    const late = this.#lateFor(event);
    if (late !== undefined) return ENDS[late];
    const now = performance.now();
    const isAgain = action === 'quit' && now - this.#closedAt < LATE_MS;
    // A key that is held down repeats.
    const closes = isAgain || (action === 'close' && !matchesKey(event, 'escape'));
    this.#closedAt = closes ? now : -Infinity;
    return isAgain ? 'the view was just closed: press it again to leave devsh' : undefined;
  }

  /** The view that the key was meant for. From another key on none is late. Esc goes back anywhere. */
  #lateFor(event: KeyEvent): keyof typeof ENDS | undefined {
    const { form, keymap, questions } = this.#store.state;
    const { view, at } = this.#ended ?? { at: -Infinity };
    const isElsewhere = form !== undefined || questions.length > 0 || matchesKey(event, 'escape');
    if (view !== undefined && performance.now() - at < LATE_MS && !isElsewhere) {
      const late = pressedKey(event, view, keymap);
      const isOfView = late?.kind === 'binding' && [view, 'overlay'].includes(late.binding.context);
      if (isOfView && (late.binding.context === view || late.binding.action === 'close'))
        return view;
    }
    this.#ended = undefined;
    return undefined;
  }
}
