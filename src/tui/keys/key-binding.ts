import type { KeyName } from '../terminal/keys.ts';

/** The number of lines of a move at a given height. */
export const MOVES = {
  up: () => -1,
  down: () => 1,
  'page-up': (height: number) => 1 - height,
  'page-down': (height: number) => height - 1,
  first: () => -Infinity,
  last: () => Infinity,
};

/** Moves of the table's cursor, or in a text over it. */
export type MoveAction = keyof typeof MOVES;

export type TableAction =
  | MoveAction
  | 'mark'
  | 'mark-all'
  | 'sort'
  | 'reverse'
  | 'fold'
  | 'watch'
  | 'filter'
  | 'keep-filter'
  | 'clear-filter';

export type PromptAction =
  | 'history-back'
  | 'history-forth'
  | 'search'
  | 'search-accept'
  | 'search-cancel'
  | 'menu-next'
  | 'menu-back'
  | 'menu-accept'
  | 'menu-close'
  | 'clear-line';

export type FormAction =
  | 'next-field'
  | 'previous-field'
  | 'choice-next'
  | 'choice-back'
  | 'open-choices'
  | 'take-choice'
  | 'close-choices'
  | 'close-form';

/** Actions that only change the screen. They run no command, and read nothing. */
export type ViewAction =
  | TableAction
  | PromptAction
  | FormAction
  | 'details'
  | 'find'
  | 'keep-find'
  | 'clear-find'
  | 'next-found'
  | 'previous-found'
  | 'whole'
  | 'left'
  | 'right'
  | 'messages'
  | 'palette'
  | 'pane'
  | 'roll-out'
  | 'devices'
  | 'trouble'
  | 'questions'
  | 'help'
  | 'close'
  | 'go-prompt'
  | 'press-in-table'
  | 'back'
  | 'go-table'
  | 'leave-prompt'
  | 'close-typed'
  | 'unfold';

const EFFECTS = [
  'run-line',
  'complete',
  'edit-line',
  'interrupt',
  'end-of-input',
  'quit',
  'repaint',
  'suspend',
  'add-form',
  'edit-form',
  'run-form',
  'refresh',
  'pause-run',
  'stop-run',
  'copy',
  'answer',
  'decline',
  'choose',
] as const;

/** Actions of the controller: completion, history, clipboard, the terminal. */
export type Effect = (typeof EFFECTS)[number];

/** The parts of the screen that get keys. `waiting`: a new question that accepts no keys yet. */
const PARTS = [
  'waiting',
  'question',
  'plan',
  'find',
  'palette',
  'overlay',
  'form',
  'form-choice',
  'form-pick',
  'form-run',
  'filter',
  'search',
  'menu',
  'empty-prompt',
  'prompt',
  'table',
  'anywhere',
] as const;

export type Part = (typeof PARTS)[number];

/** Whether a context is a part of the screen. Any other context is a view with keys of its own. */
export function isPart(context: string): context is Part {
  return PARTS.some((part) => part === context);
}

/** Optional facts of a key. `S`: the state. */
export interface Facts<S> {
  /** Rank and short text in the footer. The text may depend on the state; if it is empty, there is no hint. */
  readonly hint?: readonly [rank: number, text: string | ((state: S) => string)] | undefined;
  /** The equivalent line. */
  readonly command?: string;
  /** Why the key does nothing now, for the status line; undefined if it is enabled. */
  readonly disabled?: (state: S) => string | undefined;
}

/** A key that runs a line, as if typed. */
export interface LineFacts<S> {
  /** Undefined if nothing is at the cursor. A line that ends with a blank waits at the prompt. `index`: that of the key. */
  readonly run: (state: S, index: number) => string | undefined;
  /** Whether it closes the view first, because the table shows the effect of the line. */
  readonly closes?: boolean;
}

export type Key<S> = Facts<S> & {
  /** Alternatives; a sequence is written with blanks: `ctrl-x ctrl-e`. */
  readonly keys: readonly KeyName[];
  readonly label: string;
} & (
    | { readonly action: ViewAction | Effect; readonly run?: undefined }
    | ({ readonly action: string } & LineFacts<S>)
  );

/** A key in its context; `C`: the contexts. */
export type Binding<S, C> = Key<S> & {
  readonly context: C;
  /** The context in words, for the help. */
  readonly place: string;
};

export function isEffect(action: string): action is Effect {
  return EFFECTS.some((effect) => effect === action);
}
