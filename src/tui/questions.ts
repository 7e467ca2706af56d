import { visibleLines } from '../output/sanitize.ts';
import type { Question } from '../shell/io.ts';
import { EMPTY_EDITING, lineText } from './line.ts';
import type { Store } from './store.ts';

/** Questions that wait for an answer: shown one after the other, in the order of asking. */
export class Questions {
  readonly #store: Store;
  readonly #waiting = new Map<number, (answer: string | undefined) => void>();
  #lastId = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Resolves to `undefined` when the user says no, or when `signal` is aborted. */
  ask(
    { kind, text, details = [], expected }: Question,
    above: readonly string[] = [],
    signal?: AbortSignal,
  ): Promise<string | undefined> {
    if (signal?.aborted === true) return Promise.resolve(undefined);
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      signal?.addEventListener('abort', () => {
        this.#settle(id, undefined);
      });
      const lines = [...above, ...details.flatMap((line) => visibleLines(line).split('\n'))];
      this.#store.dispatch({
        kind: 'ask',
        question: {
          id,
          kind,
          text: visibleLines(text),
          expected,
          lines,
          top: 0,
          editing: EMPTY_EDITING,
          complaint: undefined,
        },
      });
    });
  }

  /** Enter: a wrong answer is no answer, and is asked for again. */
  answer(): void {
    const [question] = this.#store.state.questions;
    if (question === undefined) return;
    const typed = lineText(question.editing.line);
    const { expected, kind } = question;
    if (kind !== 'confirm') {
      this.#settle(question.id, typed);
    } else if (expected === undefined || typed.trim() === expected) {
      this.#settle(question.id, expected ?? typed);
    } else if (/^no?$/i.test(typed.trim())) {
      this.#settle(question.id, undefined);
    } else {
      const text = `that is not "${expected}": type ${expected} and Enter to do it, Esc to leave it`;
      this.#store.dispatch({ kind: 'complain', text });
    }
  }

  decline(): void {
    const [question] = this.#store.state.questions;
    if (question !== undefined) this.#settle(question.id, undefined);
  }

  #settle(id: number, answer: string | undefined): void {
    const resolve = this.#waiting.get(id);
    if (resolve === undefined) return;
    this.#waiting.delete(id);
    this.#store.dispatch({ kind: 'answered', id });
    resolve(answer);
  }
}
