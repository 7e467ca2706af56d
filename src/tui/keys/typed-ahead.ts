import { QUIET_MS } from '../questions.ts';
import type { Store } from '../store.ts';
import type { KeyEvent } from '../terminal/keys.ts';
import type { Context } from '../state.ts';
import { contextOf, isActedIn } from './keymap.ts';

/**
 * Drops what was typed for a place that is no longer there: the rest of a word must not act in the table.
 * Where the focus moved by itself, that is all until no key was pressed for a moment; where a key moved it,
 * a word that came together with that key.
 */
export class TypedAhead {
  readonly #store: Store;
  readonly #carryOut: (event: KeyEvent) => void;
  readonly #onDrop: () => void;
  #place: Context;
  #isPressing = false;
  #movedAt = -Infinity;
  /** What came in one chunk of input behind a key that moved the focus. */
  #held: KeyEvent[] | undefined;

  constructor(store: Store, carryOut: (event: KeyEvent) => void, onDrop: () => void) {
    this.#store = store;
    this.#carryOut = carryOut;
    this.#onDrop = onDrop;
    this.#place = contextOf(store.state);
    store.subscribe(() => {
      if (!this.#isPressing && this.#hasMoved()) this.#movedAt = performance.now();
    });
  }

  press(event: KeyEvent): void {
    const now = performance.now();
    if (this.#held !== undefined) {
      this.#held.push(event);
    } else if (now - this.#movedAt < QUIET_MS && isActedIn(this.#place) && isOfLine(event)) {
      this.#movedAt = now;
      this.#onDrop();
    } else {
      this.#isPressing = true;
      try {
        this.#carryOut(event);
      } finally {
        this.#isPressing = false;
      }
      if (this.#hasMoved()) this.#hold();
    }
  }

  /** The keys of one chunk come in one task. */
  #hold(): void {
    const held: KeyEvent[] = [];
    this.#held = held;
    queueMicrotask(() => {
      this.#held = undefined;
      if (isWord(held)) this.#onDrop();
      else for (const event of held) this.press(event);
    });
  }

  /** From a place where letters are typed to one where they act. */
  #hasMoved(): boolean {
    const from = this.#place;
    this.#place = contextOf(this.#store.state);
    return !isActedIn(from) && isActedIn(this.#place);
  }
}

/** What a line is typed with; moves and ways out mean the same everywhere. */
function isOfLine(event: KeyEvent): boolean {
  return event.kind === 'paste' || event.text !== '' || ['enter', 'tab'].includes(event.name);
}

/** Several letters; one alone, or held down, is a key. */
function isWord(events: readonly KeyEvent[]): boolean {
  const letters = events.filter(isOfLine).map((event) => (event.kind === 'key' ? event.text : ''));
  return new Set(letters.filter((text) => text !== '')).size > 1;
}
