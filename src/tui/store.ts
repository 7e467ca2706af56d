import { visibleLines } from '../text/visible.ts';
import type { StepResult } from '../change/verdict.ts';
import type { Filter } from '../fleet/filter.ts';
import type { FieldIssues, FormField } from '../shell/records/form-fields.ts';
import type { FormOpening } from './form/form-state.ts';
import type { EditKey, Line } from './editor/line.ts';
import type {
  FleetView,
  LogLine,
  LogTone,
  OpenQuestion,
  Overlay,
  RollOutState,
  State,
  Work,
} from './state.ts';
import type { TableRead, TableSource } from './table/table-state.ts';
import type { LineProblem, Menu } from './prompt/prompt-state.ts';
import type { ViewAction } from './keys/key-binding.ts';

/** The parts of the state that come from outside and replace the old value. */
type Fact =
  | 'size'
  | 'theme'
  | 'pendingKeys'
  | 'firstRun'
  | 'nextSteps'
  | 'pending'
  | 'recordHistory'
  | 'reading'
  | 'work';

export type Action =
  | { readonly kind: 'view'; readonly action: ViewAction }
  | { readonly kind: 'edit'; readonly key: EditKey }
  | { readonly kind: 'set-line'; readonly line: Line | string }
  | ({ readonly kind: 'menu' } & Omit<Menu, 'chosen'>)
  | { readonly kind: 'problem'; readonly problem: LineProblem }
  | { readonly kind: 'history'; readonly lines: readonly string[] }
  | { readonly kind: 'facts'; readonly facts: Partial<Pick<State, Fact>> }
  | { readonly kind: 'fleet'; readonly fleet: FleetView }
  /** A line fills the table and shows it. */
  | { readonly kind: 'table'; readonly source: TableSource }
  /** Restores the place before the table, because the line that filled it cannot be right. */
  | { readonly kind: 'table-withdrawn'; readonly command: string }
  /** Changes the source of a table, visible or not. */
  | { readonly kind: 'table-source'; readonly source: TableSource }
  | { readonly kind: 'reads'; readonly reads: readonly TableRead[] }
  /** The rows for the filter are ready. */
  | { readonly kind: 'apply-filter'; readonly filter: Filter }
  /** The changes of a refresh were shown long enough. `isKept`: they stay until the next ones. */
  | { readonly kind: 'changes-seen'; readonly isKept?: boolean }
  /** Updates the progress of the running line. */
  | { readonly kind: 'work'; readonly work: Partial<Work> }
  /** Replaces the `old` lines, because results are folded as they arrive. */
  | { readonly kind: 'log'; readonly lines: readonly LogLine[]; readonly old?: readonly LogLine[] }
  /** Hides lines, which stay in the list of messages. */
  | { readonly kind: 'log-hide'; readonly lines: readonly LogLine[] }
  /** A run begins; its view opens. */
  | { readonly kind: 'roll-out'; readonly rollOut: RollOutState }
  | { readonly kind: 'result'; readonly result: StepResult }
  /** Updates a run, whether its view is open or not. */
  | { readonly kind: 'roll-out-change'; readonly change: Partial<RollOutState> }
  | { readonly kind: 'form'; readonly opening: FormOpening; readonly fields: readonly FormField[] }
  /** More is known about the fields of the open form. */
  | { readonly kind: 'form-fields'; readonly fields: readonly FormField[] }
  /** The form was submitted with warnings. */
  | { readonly kind: 'form-warn' }
  /** The line of a form has ended; `isDone`: every device has the values. */
  | {
      readonly kind: 'form-end';
      readonly id: string;
      readonly command: string;
      readonly isDone: boolean;
      readonly refusals: FieldIssues;
    }
  /** Sets the refresh interval of the table; undefined: only on request. */
  | { readonly kind: 'watch'; readonly everyMs: number | undefined }
  /** Opens another view over the table. */
  | { readonly kind: 'view-over'; readonly overlay: Overlay }
  | { readonly kind: 'ask'; readonly question: OpenQuestion }
  | { readonly kind: 'open-question'; readonly id: number }
  | { readonly kind: 'complain'; readonly text: string }
  | { readonly kind: 'answered'; readonly id: number };

/** The state after an action of each kind. */
export type Steps = {
  readonly [K in Action['kind']]: (state: State, action: Extract<Action, { kind: K }>) => State;
};

/** Holds the state outside React, so that each of several keys in one tick counts. */
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

  know(facts: Partial<Pick<State, Fact>>): void {
    this.dispatch({ kind: 'facts', facts });
  }

  act(action: ViewAction): void {
    this.dispatch({ kind: 'view', action });
  }

  /** Logs one message, with control characters made visible. */
  logMessage(tone: LogTone, text: string): void {
    this.dispatch({ kind: 'log', lines: [{ tone, text: visibleLines(text) }] });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): State => this.#state;
}

/** Caches the last two results, for the states before and after a change. Compares arguments by identity. */
export function memoized<A extends readonly unknown[], R>(
  compute: (...args: A) => R,
  keysOf: (args: A) => readonly unknown[] = (args) => args,
): (...args: A) => R {
  let known: readonly { keys: readonly unknown[]; result: R }[] = [];
  return (...args) => {
    const keys = keysOf(args);
    const found = known.find((entry) => keys.every((key, index) => key === entry.keys[index]));
    if (found !== undefined) return found.result;
    const entry = { keys, result: compute(...args) };
    known = [entry, ...known.slice(0, 1)];
    return entry.result;
  };
}

/** Events within this time are shown together. */
const LEAST_MS = 16;
/** With a longer pause, the screen would seem frozen. */
const MOST_MS = 2000;
/** The pause is this many times as long as the work, so that other work has time, too. */
const PAUSE_FACTOR = 9;

/** Runs work once for many events, such as devices that connect. The longer the work takes, the longer it waits. */
export class Throttle {
  readonly #work: () => void;
  #timer: NodeJS.Timeout | undefined;
  #tookMs = 0;
  #endedAt = -Infinity;
  #pauseMs = LEAST_MS;

  constructor(work: () => void) {
    this.#work = work;
  }

  schedule(): void {
    const restMs = this.#endedAt + this.#pauseMs - performance.now();
    this.#timer ??= setTimeout(() => this.runNow(), Math.max(LEAST_MS, restMs));
  }

  runNow(): void {
    this.stop();
    const startedAt = performance.now();
    this.#work();
    // The screen is drawn in a microtask that the work has queued.
    queueMicrotask(() => {
      this.#endedAt = performance.now();
      const tookMs = this.#endedAt - startedAt;
      // It takes the minimum of two frames, because the first one takes longer than others.
      const usualMs = Math.min(tookMs, this.#tookMs);
      this.#tookMs = tookMs;
      this.#pauseMs = Math.min(MOST_MS, PAUSE_FACTOR * usualMs);
    });
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
