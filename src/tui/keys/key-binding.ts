import type { KeyName } from '../terminal/key-name.ts';

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
  'add',
  'edit-record',
  'export',
  'edit-text',
  'add-form',
  'edit-form',
  'run-form',
  'delete',
  'undo',
  'devices',
  'resources',
  'drift',
  'open-device',
  'connect-device',
  'disconnect-device',
  'trust-device',
  'open-resource',
  'accept-questions',
  'decline-questions',
  'prove-questions',
  'compare-again',
  'runs',
  'show-run',
  'resume-run',
  'retry-run',
  'undo-run',
  'report-run',
  'refresh',
  'jump-device',
  'all-devices',
  'next-device',
  'previous-device',
  'copy',
  'page-out',
  'answer',
  'decline',
  'first-demo',
  'first-connect',
  'first-import',
  'first-import',
  'first-device',
  'first-help',
  'go-on',
] as const;

/** What a key asks of the controller: commands, completion, history, clipboard, the terminal. */
export type Effect = (typeof EFFECTS)[number];

/** Who gets the key; `waiting`: a question that has just come up gets none yet. */
export type KeyContext =
  | 'waiting'
  | 'question'
  | 'plan'
  | 'plan-find'
  | 'find'
  | 'overlay'
  | 'form'
  | 'form-switch'
  | 'form-choice'
  | 'form-pick'
  | 'form-run'
  | 'filter'
  | 'search'
  | 'menu'
  | 'first-run'
  | 'go-on'
  | 'empty-prompt'
  | 'prompt'
  | 'table';

/** What a key does in a place. `S`: the state that it is asked about; `C`: the places that get keys. */
export interface Binding<S, C> {
  /** Each does the same; one of several presses is written with blanks: `ctrl-x ctrl-e`. */
  readonly keys: readonly KeyName[];
  readonly context: C;
  readonly action: ViewAction | Effect;
  readonly label: string;
  /** Shown in the footer, in this order of importance. */
  readonly hint?: { readonly rank: number; readonly text: string };
  /** The line that does the same. */
  readonly command?: string;
  /** Why it would do nothing now, in words for the status line; undefined: it does what it says. */
  readonly disabled?: (state: S) => string | undefined;
}

export function isEffect(action: ViewAction | Effect): action is Effect {
  return EFFECTS.some((effect) => effect === action);
}

/** One binding; the arguments come in the order of their need. */
export function bind<S, C>(
  context: C,
  keys: readonly KeyName[],
  action: ViewAction | Effect,
  label: string,
  hint?: Binding<S, C>['hint'],
  command?: string,
): Binding<S, C> {
  return {
    context,
    keys,
    action,
    label,
    ...(hint !== undefined && { hint }),
    ...(command !== undefined && { command }),
  };
}
