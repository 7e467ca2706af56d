import { isPart } from './key-binding.ts';
import type { Context, Keymap, State, KeyBinding } from '../state.ts';
import { currentField, formContext, textOf } from '../form/form-state.ts';
import { EMPTY_LINE, lineText } from '../editor/line.ts';
import { type KeyEvent, keyLabel, type KeyName } from '../terminal/keys.ts';

export function contextOf(state: State): Context {
  const { questions, overlay, form, table, prompt, focus } = state;
  const [question] = questions;
  if (question !== undefined) {
    if (!question.isOpen) return 'waiting';
    if (question.find.isOpen) return 'find';
    return question.unfolded === undefined ? 'question' : 'plan';
  }
  if (overlay.kind !== 'none' && focus === 'table') return overlayContext(state);
  if (overlay.kind === 'none' && form !== undefined) return formContext(form);
  if (focus === 'table') return table.filter.isOpen ? 'filter' : 'table';
  if (prompt.search !== undefined) return 'search';
  if (prompt.menu !== undefined) return 'menu';
  return lineText(prompt.editing.line) === '' ? 'empty-prompt' : 'prompt';
}

const typedAtPrompt = ({ prompt }: State): string => lineText(prompt.editing.line);
const typedInFind = ({ questions: [question], find }: State): string =>
  lineText((question?.find ?? find).editing.line);
const typedAnswer = ({ questions: [question] }: State): string =>
  lineText(question?.editing.line ?? EMPTY_LINE);
const typedInForm = ({ form }: State): string => {
  const field = form && currentField(form);
  return form && field ? textOf(form, field) : '';
};

/** The typed text, by the context in which it is typed. */
const TYPED: Readonly<Partial<Record<Context, (state: State) => string>>> = {
  question: typedAnswer,
  plan: typedAnswer,
  filter: ({ table }) => lineText(table.filter.editing.line),
  find: typedInFind,
  palette: typedInFind,
  search: ({ prompt }) => prompt.search?.query ?? '',
  form: typedInForm,
  'form-choice': typedInForm,
  'form-pick': typedInForm,
  prompt: typedAtPrompt,
  menu: typedAtPrompt,
};

/** The typed text in the present context; empty if its keys type no text. */
export function typedText(state: State): string {
  return TYPED[contextOf(state)]?.(state) ?? '';
}

/** A view with keys of its own is its own context. */
function overlayContext({ overlay, find, keymap }: State): Context {
  if (overlay.kind === 'palette') return 'palette';
  if (find.isOpen || overlay.kind === 'none') return 'find';
  return keymap.some(({ context }) => context === overlay.kind) ? overlay.kind : 'overlay';
}

/** Whether text that is typed before the plan of a line is open stays at the prompt. */
export function isTypedOn({ focus, questions: [question] }: State): boolean {
  return focus === 'prompt' && question?.unfolded !== undefined;
}

/** Whether the keys of an empty prompt close the view above it. A run in progress has keys of its own. */
export function isTypedView(state: State): boolean {
  const isRun = state.overlay.kind === 'roll-out' && state.rollOut?.control !== 'ended';
  return contextOf(state) === 'empty-prompt' && state.overlay.kind !== 'none' && !isRun;
}

/** Whether typed text goes into the prompt's line. */
export function isAtPrompt(state: State): boolean {
  return ['prompt', 'menu', 'empty-prompt'].includes(contextOf(state));
}

/** The context that handles keys which another one does not bind; for a view it is `overlay`. */
const BELOW: Readonly<Partial<Record<Context, Context>>> = {
  menu: 'prompt',
  'empty-prompt': 'prompt',
  plan: 'question',
  'form-choice': 'form',
  'form-pick': 'form',
  'form-run': 'form',
};

/** Contexts that also show all hints of the contexts below. A view shows only the `EXITS` of those. */
const HINTS_BELOW: readonly Context[] = ['plan', 'empty-prompt', 'form-choice', 'form-run'];

const EXITS: readonly string[] = ['find', 'go-prompt', 'help', 'close'];

/** The binding of a key with the index of the key in it, or the beginning of a sequence. */
export type Pressed =
  | { readonly kind: 'binding'; readonly binding: KeyBinding; readonly index: number }
  | { readonly kind: 'prefix'; readonly keys: KeyName };

/** The meaning of a key; undefined if it edits a line or means nothing. `pending`: the keys of the sequence so far. */
export function pressedKey(
  event: KeyEvent,
  context: Context,
  keymap: Keymap,
  pending = '',
): Pressed | undefined {
  if (event.kind === 'paste') return undefined;
  const keys = `${pending} ${keyLabel(event)}`.trim();
  const bindings = bindingsIn(context, keymap);
  for (const binding of bindings) {
    const index = binding.keys.indexOf(keys);
    if (index !== -1) return { kind: 'binding', binding, index };
  }
  const begins = bindings.some((one) => one.keys.some((key) => key.startsWith(`${keys} `)));
  return begins ? { kind: 'prefix', keys } : undefined;
}

export function bindingsIn(context: Context, keymap: Keymap): KeyBinding[] {
  return [context, ...placesBelow(context), 'anywhere' as const].flatMap((place) =>
    keymap.filter((binding) => binding.context === place),
  );
}

function placesBelow(context: Context): Context[] {
  const below = isPart(context) ? BELOW[context] : 'overlay';
  return below === undefined ? [] : [below, ...placesBelow(below)];
}

/** The display name of the first key for an action, if there is one. */
export function keyNameOf(action: string, context: Context, keymap: Keymap): string | undefined {
  const binding = bindingsIn(context, keymap).find((one) => one.action === action);
  const [key] = binding?.keys ?? [];
  return key === undefined ? undefined : keyText(key);
}

const NAMES: Readonly<Record<string, string>> = {
  tab: '↹',
  'shift-tab': 'shift-↹',
  escape: 'esc',
  up: '↑',
  down: '↓',
  left: '←',
  right: '→',
  pageup: 'pgup',
  pagedown: 'pgdn',
};

export function keyText(key: KeyName): string {
  return NAMES[key] ?? key;
}

/** A hint of the footer. A disabled one is in brackets. */
export interface FooterHint {
  readonly text: string;
  readonly isDisabled: boolean;
  /** Undefined for the continuation of a key sequence. */
  readonly action?: string;
  /** Whether it stays on a narrow screen, as help and the keys that lead out. */
  readonly isKept: boolean;
}

const KEPT: readonly string[] = ['help', 'quit', 'end-of-input'];

/** `enter run`, `↹ complete`, `(d delete)`: the most important first. */
export function footerHints(state: State, context = contextOf(state)): FooterHint[] {
  const { keymap, pendingKeys } = state;
  if (pendingKeys !== undefined) return continuations(context, keymap, pendingKeys);
  const hasAll = HINTS_BELOW.includes(context);
  const below = hasAll || !isPart(context) ? placesBelow(context) : [];
  const here = keymap.filter((binding) => binding.context === context);
  const isBound = (key: KeyName | undefined): boolean =>
    here.some(({ keys }) => keys.some((one) => one === key));
  const rest = keymap
    .filter(({ context: place }) => below.some((one) => place === one))
    .filter(({ keys }) => !isBound(keys[0]))
    .filter(({ action }) => hasAll || EXITS.includes(action));
  const everywhere = keymap.filter(
    ({ context: place, action, disabled }) =>
      place === 'anywhere' &&
      disabled?.(state) === undefined &&
      ![...here, ...rest].some((one) => one.action === action),
  );
  return [...here, ...rest, ...everywhere]
    .filter(({ hint, keys }) => hintText(hint, state) !== '' && keys.length > 0)
    .sort((a, b) => (a.hint?.[0] ?? 0) - (b.hint?.[0] ?? 0))
    .map((binding) => {
      const { keys, action, disabled } = binding;
      const [first = '', ...others] = keys;
      const text = `${keyText(first)} ${shortLabel(binding, state)}${others.includes('q') ? ' or q' : ''}`;
      const isDisabled = disabled?.(state) !== undefined;
      // With nothing typed, ctrl-d leaves.
      const isBack = keys.includes('escape') && context !== 'empty-prompt';
      const isKept = isBack || KEPT.includes(action);
      return { text: isDisabled ? `(${text})` : text, isDisabled, action, isKept };
    });
}

/** The effect of a key, as the footer words it. */
export function shortLabel({ hint, label }: KeyBinding, state: State): string {
  return hintText(hint, state) || label;
}

function hintText(hint: KeyBinding['hint'], state: State): string {
  const text = hint?.[1] ?? '';
  return typeof text === 'string' ? text : text(state);
}

function continuations(context: Context, keymap: Keymap, pending: KeyName): FooterHint[] {
  const rest = bindingsIn(context, keymap).flatMap(({ keys, label }) =>
    keys
      .filter((key) => key.startsWith(`${pending} `))
      .map((key) => `${keyText(key.slice(pending.length + 1))} ${label}`),
  );
  return [`${keyText(pending)} …`, ...rest, 'esc leave'].map((text) => ({
    text,
    isDisabled: false,
    isKept: false,
  }));
}

/** Whether letters are commands in this context, and not typed into a line. */
export function hasCommandKeys(context: Context): boolean {
  return context === 'table' || context === 'overlay' || !isPart(context);
}

/** Tells that a command can be typed only at the prompt, and how to get there. Undefined in contexts that take text. */
export function unboundKeyText(state: State): string | undefined {
  const context = contextOf(state);
  if (!hasCommandKeys(context)) return undefined;
  const ways = [
    ['go-prompt', 'goes to the prompt'],
    ['help', 'lists the keys'],
  ] as const;
  const hints = ways.flatMap(([action, what]) => {
    const key = keyNameOf(action, context, state.keymap);
    return key === undefined ? [] : [`"${key}" ${what}`];
  });
  return ['this key does nothing here', hints.join(', ')].filter(Boolean).join('; ');
}
