import type { ViewAction } from '../actions.ts';
import type { KeyName } from '../terminal/key-name.ts';

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
export type Context =
  | 'waiting'
  | 'question'
  | 'plan'
  | 'plan-find'
  | 'runs'
  | 'devices'
  | 'resources'
  | 'questions'
  | 'drift'
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

export interface KeyBinding {
  /** Each does the same; one of several presses is written with blanks: `ctrl-x ctrl-e`. */
  readonly keys: readonly KeyName[];
  readonly context: Context | 'anywhere';
  readonly action: ViewAction | Effect;
  readonly label: string;
  /** Shown in the footer, in this order of importance. */
  readonly hint?: { readonly rank: number; readonly text: string };
  /** The line that does the same. */
  readonly command?: string;
}

/** All keys with their meaning, as they hold for this user. */
export type Keymap = readonly KeyBinding[];

export function isEffect(action: ViewAction | Effect): action is Effect {
  return EFFECTS.some((effect) => effect === action);
}

/** One binding; the arguments come in the order of their need. */
export function bind(
  context: KeyBinding['context'],
  keys: readonly KeyName[],
  action: KeyBinding['action'],
  label: string,
  hint?: KeyBinding['hint'],
  command?: string,
): KeyBinding {
  return {
    context,
    keys,
    action,
    label,
    ...(hint !== undefined && { hint }),
    ...(command !== undefined && { command }),
  };
}
