import type { Line as EditedLine } from '../editor/line.ts';
import type { KeyName } from '../terminal/keys.ts';

/** Moves: of the table's cursor, or of a text that lies over it. */
export type MoveAction =
  'up' | 'down' | 'page-up' | 'page-down' | 'half-up' | 'half-down' | 'first' | 'last';

export type TableAction =
  | MoveAction
  | 'left'
  | 'right'
  | 'mark'
  | 'mark-all'
  | 'mark-invert'
  | 'mark-range'
  | 'range-up'
  | 'range-down'
  | 'sort'
  | 'sort-more'
  | 'reverse'
  | 'fold'
  | 'fold-row'
  | 'watch'
  | 'filter'
  | 'keep-filter'
  | 'clear-filter';

export type PromptAction =
  | 'history-back'
  | 'history-forth'
  | 'last-argument'
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
  | 'fields-on'
  | 'fields-back'
  | 'switch'
  | 'choice-next'
  | 'choice-back'
  | 'open-choices'
  | 'take-choice'
  | 'close-choices'
  | 'close-form';

/** What a key does to the screen alone: no command runs, nothing is read. */
export type ViewAction =
  | TableAction
  | PromptAction
  | FormAction
  | 'details'
  | 'find'
  | 'keep-find'
  | 'clear-find'
  | 'only-found'
  | 'next-found'
  | 'previous-found'
  | 'whole'
  | 'messages'
  | 'questions'
  | 'help'
  | 'close'
  | 'go-prompt'
  | 'press-in-table'
  | 'back'
  | 'go-table'
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
  'copy',
  'page-out',
  'answer',
  'decline',
] as const;

/** What a key asks of the controller: completion, history, clipboard, the terminal. */
export type Effect = (typeof EFFECTS)[number];

/** The parts of the screen that get keys; `waiting`: a question that has just come up gets none yet. */
const PARTS = [
  'waiting',
  'question',
  'plan',
  'plan-find',
  'find',
  'overlay',
  'form',
  'form-switch',
  'form-choice',
  'form-pick',
  'form-run',
  'filter',
  'search',
  'menu',
  'first-run',
  'go-on',
  'empty-prompt',
  'prompt',
  'table',
  'anywhere',
] as const;

export type Part = (typeof PARTS)[number];

/** Any other place is a view with keys of its own. */
export function isPart(context: string): context is Part {
  return PARTS.some((part) => part === context);
}

/** What may be said of a key. `S`: the state that it is asked about. */
export interface Facts<S> {
  /** Shown in the footer: its rank among the others, and in a word what it does. */
  readonly hint?: readonly [rank: number, text: string];
  /** The line that does the same. */
  readonly command?: string;
  /** Why it would do nothing now, in words for the status line; undefined: it does what it says. */
  readonly disabled?: (state: S) => string | undefined;
}

/** A key that is a line, run as if it had been typed. */
export interface Line<S> {
  /** Nothing is run where nothing is under the cursor. `index`: which of its keys it was. */
  readonly run: (state: S, index: number) => string | undefined;
  /** The view is left first: what the line does is seen in the table. */
  readonly closes?: boolean;
}

/** A key that begins a line at the prompt, to be gone on with. */
export interface Start<S> {
  readonly start: (state: S) => EditedLine | string | undefined;
}

export type Key<S> = Facts<S> & {
  /** Each does the same; one of several presses is written with blanks: `ctrl-x ctrl-e`. */
  readonly keys: readonly KeyName[];
  readonly label: string;
} & (
    | { readonly action: ViewAction | Effect; readonly run?: undefined; readonly start?: undefined }
    | ({ readonly action: string; readonly start?: undefined } & Line<S>)
    | ({ readonly action: string; readonly run?: undefined } & Start<S>)
  );

/** A key in its place; `C`: the places that get keys. */
export type Binding<S, C> = Key<S> & {
  readonly context: C;
  /** The same in words, for the help. */
  readonly place: string;
};

export function isEffect(action: string): action is Effect {
  return EFFECTS.some((effect) => effect === action);
}
