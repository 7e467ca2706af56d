import { shortened, visibleLines } from '../text/visible.ts';
import type { Question } from '../shell/session.ts';
import type { PlanView } from './views/plan-lines.ts';
import { editKeyOf, EMPTY_EDITING, lineText } from './editor/line.ts';
import { type Context, type LogLine, NO_FIND, type PlanTexts, type State } from './state.ts';
import type { Store } from './store.ts';
import { type KeyEvent, matchesKey, parseKey } from './terminal/keys.ts';
import {
  contextOf,
  hasCommandKeys,
  isAtPrompt,
  isTypedOn,
  pressedKey,
  typedText,
} from './keys/keymap.ts';

/** A question accepts keys after this time without a key, so that nobody answers it unread. */
export const QUIET_MS = 300;

/** A longer question would push the plan above it out of sight. */
const LONGEST_QUESTION = 300;

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
    { details = [], until, ...asked }: Question,
    plan?: PlanView,
    signal?: AbortSignal,
  ): Promise<string | undefined> {
    const { kind, text, expected, isWarning = false, isLate = false } = asked;
    const end = AbortSignal.any([signal, until].filter((one) => one !== undefined));
    if (end.aborted || (isLate && this.#isUserElsewhere)) return Promise.resolve(undefined);
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      end.addEventListener('abort', () => this.#settle(id, undefined));
      const detailLines = details
        .flatMap((line) => visibleLines(line).split('\n'))
        .map((text): LogLine => ({ tone: isWarning ? 'bad' : 'plain', text }));
      const withDetails = ({ steps, below }: PlanTexts): PlanTexts => ({
        steps,
        below: [...detailLines, ...below],
      });
      this.#store.dispatch({
        kind: 'ask',
        question: {
          ...asked,
          id,
          text: shortened(visibleLines(text), LONGEST_QUESTION),
          expected,
          isOpen: false,
          title: plan?.title ?? (isWarning ? 'WARNING' : kind === 'secret' ? 'login' : 'question'),
          about: withDetails(plan?.folded ?? { steps: [], below: [] }),
          unfolded: plan && withDetails(plan.unfolded),
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

  /** Called when a line begins: the user expects its questions. */
  expectQuestions(): void {
    this.#isUserElsewhere = false;
  }

  /** Called when the user does something else. Cancels late questions, which must not interrupt. */
  cancelLate(): void {
    this.#isUserElsewhere = true;
    for (const { id, isLate, isOpen } of this.#store.state.questions)
      if (isLate && !isOpen) this.#settle(id, undefined);
  }

  /** Restarts the delay of the question, because a key has arrived before it could be read. */
  restartDelay(event?: KeyEvent): void {
    const isLost = event !== undefined && isOfLine(event) && !isTypedOn(this.#store.state);
    if (isLost) sayDropped(this.#store);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#open(), QUIET_MS);
  }

  /** Enter: answers the question. It stays open after a wrong answer. */
  answer(): void {
    const [question] = this.#store.state.questions;
    if (question === undefined) return;
    const typed = lineText(question.editing.line);
    const { expected, kind } = question;
    if (kind !== 'confirm') {
      this.#settle(question.id, typed);
    } else if (expected === undefined || typed.trim() === expected) {
      this.#settle(question.id, expected ?? typed);
    } else if (/^no?$/i.test(typed.trim()) || (question.isWarning && typed.trim() === '')) {
      this.#settle(question.id, undefined);
    } else {
      const text = `that is not ${expected}: type ${expected} and Enter to confirm, Esc to cancel`;
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

/** The contexts in which a question takes keys. */
const ANSWERS: readonly Context[] = ['question', 'plan', 'find'];

/** The longest time that a key waits for the view which an earlier key opens: a device may be silent. */
export const LONGEST_WAIT_MS = 1000;

/** Work that a key has started. The next keys are meant for the view that it opens. */
interface Opening {
  readonly until: Promise<unknown>;
  /** Whether the key typed a line: letters then need not wait, because they continue at the prompt. */
  readonly isTyped: boolean;
}

/** Brings each key to the place that it was meant for. Keys wait while a view opens; the rest of a word is dropped. */
export class Typeahead {
  readonly #store: Store;
  readonly #handleKey: (event: KeyEvent) => void;
  readonly #onDrop: () => void;
  readonly #queue: KeyEvent[] = [];
  #opening: Opening | undefined;
  #place: Context;
  #isPressing = false;
  #movedAt = -Infinity;
  #movedTo: Context | undefined;

  constructor(store: Store, handleKey: (event: KeyEvent) => void, onDrop: () => void) {
    this.#store = store;
    this.#handleKey = handleKey;
    this.#onDrop = onDrop;
    this.#place = contextOf(store.state);
    store.subscribe(() => {
      if (store.state.questions.length > 0) {
        // The user sees a question and answers it, so no key has to wait.
        this.#opening = undefined;
        if (this.#queue.splice(0).some(isOfLine)) sayDropped(store);
      }
      if (this.#isPressing) return;
      // The rest of an answer must not become a line, or run one.
      const isCutOff = ANSWERS.includes(this.#place) && isAtPrompt(store.state);
      if (!this.#hasMoved() && !isCutOff) return;
      this.#movedAt = performance.now();
      this.#movedTo = this.#place;
    });
  }

  press(event: KeyEvent): void {
    // Ctrl-C stops the work that the other keys wait for.
    if (matchesKey(event, 'ctrl-c')) this.#queue.length = 0;
    this.#queue.push(event);
    this.#drain();
  }

  /** Makes the next keys wait until this has ended, but not long. */
  hold(until: Promise<unknown> | undefined, { isTyped = false } = {}): void {
    if (until === undefined) return;
    const opening = { until, isTyped };
    this.#opening = opening;
    const most = isTyped ? QUIET_MS : LONGEST_WAIT_MS;
    const ended = new Promise((resolve) => setTimeout(resolve, most).unref());
    void Promise.race([until, ended]).finally(() => {
      if (this.#opening === opening) this.#opening = undefined;
      this.#drain();
    });
  }

  #drain(): void {
    for (
      let next = this.#queue[0];
      next !== undefined && !this.#waits(next);
      [next] = this.#queue
    ) {
      const [first, ...rest] = separated(next, this.#store.state);
      this.#queue.splice(0, 1, ...rest);
      this.#deliver(first);
    }
  }

  #waits(event: KeyEvent): boolean {
    if (this.#opening === undefined || matchesKey(event, 'ctrl-c')) return false;
    return !(this.#opening.isTyped && isOfLine(event));
  }

  #deliver(event: KeyEvent): void {
    const now = performance.now();
    const isStillThere = hasCommandKeys(this.#place) || this.#place === this.#movedTo;
    if (now - this.#movedAt < QUIET_MS && isStillThere && isOfLine(event)) {
      this.#movedAt = now;
      this.#onDrop();
      return;
    }
    // A move of the focus by the user's own key does not count as one.
    this.#isPressing = true;
    try {
      this.#handleKey(event);
    } finally {
      this.#isPressing = false;
    }
    this.#place = contextOf(this.#store.state);
  }

  /** Whether the focus has moved from a place that takes text to one where letters are commands. */
  #hasMoved(): boolean {
    const from = this.#place;
    this.#place = contextOf(this.#store.state);
    return !hasCommandKeys(from) && hasCommandKeys(this.#place);
  }
}

/** Tells that keys were dropped which the user pressed before the question could be read. */
function sayDropped(store: Store): void {
  const [question] = store.state.questions;
  const text = `What was typed before this question was dropped. ${question?.text ?? ''}`;
  store.dispatch({ kind: 'complain', text });
}

/** Whether a key types a line. Other keys, moves and exits, mean the same everywhere. */
function isOfLine(event: KeyEvent): boolean {
  return event.kind === 'paste' || event.text !== '' || ['enter', 'tab'].includes(event.name);
}

/** Alt with a key, if that is bound here or edits the typed text; otherwise Esc, and then that key. */
function separated(event: KeyEvent, state: State): readonly [KeyEvent, ...KeyEvent[]] {
  if (event.kind === 'paste' || event.afterEscape === undefined) return [event];
  const isBound =
    pressedKey(event, contextOf(state), state.keymap, state.pendingKeys) !== undefined;
  if (isBound || (typedText(state) !== '' && editKeyOf(event) !== undefined)) return [event];
  return [ESCAPE, event.afterEscape];
}

const ESCAPE: KeyEvent = { kind: 'key', text: '', ...parseKey('escape') };
