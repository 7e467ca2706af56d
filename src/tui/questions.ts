import { shortened, visibleLines } from '../text/visible.ts';
import type { Question } from '../shell/session.ts';
import type { PlanView } from './views/plan-lines.ts';
import { EMPTY_EDITING, lineText } from './editor/line.ts';
import { type Context, type LogLine, NO_FIND } from './state.ts';
import type { Store } from './store.ts';
import type { KeyEvent } from './terminal/keys.ts';
import { contextOf, hasCommandKeys, isAtPrompt } from './keys/keymap.ts';

/** A question accepts keys after this long without one, so that no answer is given unread. */
export const QUIET_MS = 300;

/** A question must not push the plan above it out of sight. */
const LONGEST_QUESTION = 300;
/** Limit of a line above it: more than a plan needs for a record with many fields. */
const LONGEST_LINE = 2_000;

/** Questions that wait for an answer, shown one after the other in the order of asking. */
export class Questions {
  readonly #store: Store;
  readonly #waiting = new Map<number, (answer: string | undefined) => void>();
  #lastId = 0;
  #timer: NodeJS.Timeout | undefined;
  #answeredAt = -Infinity;
  /** Whether the user has done something else since a line began or was answered. */
  #isUserElsewhere = false;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Resolves to `undefined` if the user declines, or `signal` or `until` is aborted. */
  ask(
    { kind, text, details = [], expected, color, isLate = false, until }: Question,
    plan?: PlanView,
    signal?: AbortSignal,
  ): Promise<string | undefined> {
    const ends = [signal, until];
    if (ends.some((end) => end?.aborted) || (isLate && this.#isUserElsewhere))
      return Promise.resolve(undefined);
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      for (const end of ends) {
        end?.addEventListener('abort', () => this.#settle(id, undefined));
      }
      const detailLines = details
        .flatMap((line) => visibleLines(line).split('\n'))
        .map((text): LogLine => ({ tone: 'plain', text }));
      const short = (lines: readonly LogLine[]): LogLine[] =>
        lines.map(({ tone, text }) => ({ tone, text: shortened(text, LONGEST_LINE) }));
      this.#store.dispatch({
        kind: 'ask',
        question: {
          id,
          kind,
          text: shortened(visibleLines(text), LONGEST_QUESTION),
          expected,
          color,
          isOpen: false,
          isLate,
          lines: short([...(plan?.folded ?? []), ...detailLines]),
          unfolded: plan && short([...plan.unfolded, ...detailLines]),
          isUnfolded: false,
          find: NO_FIND,
          top: 0,
          editing: EMPTY_EDITING,
          complaint: undefined,
        },
      });
      if (this.#store.state.questions[0]?.id === id) this.#showNext();
    });
  }

  /** A line begins: the user expects its questions. */
  expectQuestions(): void {
    this.#isUserElsewhere = false;
  }

  /** The user does something else: cancels late questions, which must not interrupt. */
  cancelLate(): void {
    this.#isUserElsewhere = true;
    for (const { id, isLate, isOpen } of this.#store.state.questions)
      if (isLate && !isOpen) this.#settle(id, undefined);
  }

  /** A key came before the question could be read: restarts its delay. */
  restartDelay(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#open(), QUIET_MS);
  }

  /** Enter: a wrong answer is rejected, and the question stays. */
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
      const text = `not "${expected}": type ${expected} and Enter to confirm, Esc to cancel`;
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
    if (answer !== undefined) this.expectQuestions();
    const wasShown = this.#store.state.questions[0]?.id === id;
    this.#store.dispatch({ kind: 'answered', id });
    if (wasShown) {
      this.#answeredAt = performance.now();
      this.#showNext();
    }
    resolve(answer);
  }

  #showNext(): void {
    const [question] = this.#store.state.questions;
    clearTimeout(this.#timer);
    if (question === undefined || question.isOpen) return;
    // After a name the password prompt follows at once; only a confirmation must be read first.
    const isNext = performance.now() - this.#answeredAt < QUIET_MS;
    if (question.kind !== 'confirm' && isNext) this.#open();
    else this.restartDelay();
  }

  #open(): void {
    const [question] = this.#store.state.questions;
    if (question !== undefined) this.#store.dispatch({ kind: 'open-question', id: question.id });
  }
}

/** A question takes keys there. */
const ANSWERS: readonly Context[] = ['question', 'plan', 'plan-find'];

/**
 * Drops typeahead for a place that has gone: the rest of a word must not act in the table. If the focus
 * moved by itself, drops everything up to a pause; if a key moved it, drops a word that arrived together
 * with that key.
 */
export class Typeahead {
  readonly #store: Store;
  readonly #handleKey: (event: KeyEvent) => void;
  readonly #onDrop: () => void;
  #place: Context;
  #isPressing = false;
  #movedAt = -Infinity;
  #movedTo: Context | undefined;
  /** Keys of the same input chunk, after a key that moved the focus. */
  #chunk: KeyEvent[] | undefined;

  constructor(store: Store, handleKey: (event: KeyEvent) => void, onDrop: () => void) {
    this.#store = store;
    this.#handleKey = handleKey;
    this.#onDrop = onDrop;
    this.#place = contextOf(store.state);
    store.subscribe(() => {
      if (this.#isPressing) return;
      // The rest of an answer must not become a line, or run one.
      const isCutOff = ANSWERS.includes(this.#place) && isAtPrompt(store.state);
      if (!this.#hasMoved() && !isCutOff) return;
      this.#movedAt = performance.now();
      this.#movedTo = this.#place;
    });
  }

  press(event: KeyEvent): void {
    const now = performance.now();
    if (this.#chunk !== undefined) {
      this.#chunk.push(event);
    } else if (now - this.#movedAt < QUIET_MS && this.#isStillThere() && isOfLine(event)) {
      this.#movedAt = now;
      this.#onDrop();
    } else {
      if (this.#moves(() => this.#handleKey(event))) this.#collectChunk();
    }
  }

  /** Whether the user's own key moves the focus. */
  #moves(action: () => void): boolean {
    this.#isPressing = true;
    try {
      action();
    } finally {
      this.#isPressing = false;
    }
    return this.#hasMoved();
  }

  #isStillThere(): boolean {
    return hasCommandKeys(this.#place) || this.#place === this.#movedTo;
  }

  /** The keys of one chunk arrive in one task. */
  #collectChunk(): void {
    const chunk: KeyEvent[] = [];
    this.#chunk = chunk;
    queueMicrotask(() => {
      this.#chunk = undefined;
      if (isWord(chunk)) this.#onDrop();
      else for (const event of chunk) this.press(event);
    });
  }

  /** From a place that takes text to one where letters are commands. */
  #hasMoved(): boolean {
    const from = this.#place;
    this.#place = contextOf(this.#store.state);
    return !hasCommandKeys(from) && hasCommandKeys(this.#place);
  }
}

/** Keys that type a line; moves and exits mean the same everywhere. */
function isOfLine(event: KeyEvent): boolean {
  return event.kind === 'paste' || event.text !== '' || ['enter', 'tab'].includes(event.name);
}

/** Several letters; a single or repeated one is a command key. */
function isWord(events: readonly KeyEvent[]): boolean {
  const letters = events.filter(isOfLine).map((event) => (event.kind === 'key' ? event.text : ''));
  return new Set(letters.filter((text) => text !== '')).size > 1;
}
