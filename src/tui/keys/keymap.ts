import { isPart } from './key-binding.ts';
import type { Context, Keymap, State, KeyBinding } from '../state.ts';
import { formContext } from '../form/form-state.ts';
import { lineText } from '../editor/line.ts';
import { type KeyEvent, keyLabel, type KeyName, matchesKey } from '../terminal/keys.ts';

export function contextOf(state: State): Context {
  const { questions, overlay, form, table, prompt, focus } = state;
  const [question] = questions;
  if (question !== undefined) {
    if (!question.isOpen) return 'waiting';
    if (question.find.isOpen) return 'plan-find';
    return question.unfolded === undefined ? 'question' : 'plan';
  }
  if (overlay.kind !== 'none' && focus === 'table') return overlayContext(state);
  if (overlay.kind === 'none' && form !== undefined) return formContext(form);
  if (focus === 'table') return table.filter.isOpen ? 'filter' : 'table';
  if (prompt.search !== undefined) return 'search';
  if (prompt.menu !== undefined) return 'menu';
  if (offersFirstSteps(state)) return state.nextSteps.length > 0 ? 'go-on' : 'first-run';
  return lineText(prompt.editing.line) === '' ? 'empty-prompt' : 'prompt';
}

/** A view with keys of its own is a place for itself. */
function overlayContext({ overlay, find, keymap }: State): Context {
  if (find.isOpen || overlay.kind === 'none') return 'find';
  return keymap.some(({ context }) => context === overlay.kind) ? overlay.kind : 'overlay';
}

/** Whether what is typed goes into the line of the prompt. */
export function isAtPrompt(state: State): boolean {
  return ['prompt', 'menu', 'first-run', 'go-on', 'empty-prompt'].includes(contextOf(state));
}

/** Where a key goes that means nothing in a place of its own; of a view: `overlay`. */
const BELOW: Readonly<Partial<Record<Context, Context>>> = {
  menu: 'prompt',
  'first-run': 'empty-prompt',
  'go-on': 'empty-prompt',
  'empty-prompt': 'prompt',
  plan: 'question',
  'plan-find': 'find',
  'form-switch': 'form',
  'form-choice': 'form',
  'form-pick': 'form',
  'form-run': 'form',
};

/** Where all keys below are worth a hint, too; below a view those are that lead elsewhere, no moves. */
const HINTS_BELOW: readonly Context[] = [
  'plan',
  'plan-find',
  'first-run',
  'go-on',
  'empty-prompt',
  'form-switch',
  'form-choice',
  'form-run',
];

const WAYS: readonly string[] = ['find', 'go-prompt', 'help'];

/** What a key does: a binding and which of its keys it was, or the beginning of several presses. */
export type Pressed =
  | { readonly kind: 'binding'; readonly binding: KeyBinding; readonly index: number }
  | { readonly kind: 'prefix'; readonly keys: KeyName };

/**
 * What a key means where the focus is; undefined when it edits a line or means nothing.
 *
 * @param pending the presses before it, when they have begun a key of several
 */
export function pressedKey(
  event: KeyEvent,
  context: Context,
  keymap: Keymap,
  pending = '',
): Pressed | undefined {
  if (event.kind === 'paste') return undefined;
  for (const binding of bindingsIn(context, keymap)) {
    const index = binding.keys.findIndex((key) => {
      const { before, last } = pressesOf(key);
      return before === pending && matchesKey(event, last);
    });
    if (index !== -1) return { kind: 'binding', binding, index };
  }
  const keys = `${pending} ${keyLabel(event)}`.trim();
  const begins = bindingsIn(context, keymap).some((binding) =>
    binding.keys.some((key) => key.startsWith(`${keys} `)),
  );
  return begins ? { kind: 'prefix', keys } : undefined;
}

function bindingsIn(context: Context, keymap: Keymap): KeyBinding[] {
  return [context, 'anywhere' as const, ...placesBelow(context)].flatMap((place) =>
    keymap.filter((binding) => binding.context === place),
  );
}

function placesBelow(context: Context): Context[] {
  const below = isPart(context) ? BELOW[context] : 'overlay';
  return below === undefined ? [] : [below, ...placesBelow(below)];
}

/** How the first key for an action is written, where one is set. */
export function keyNameOf(action: string, context: Context, keymap: Keymap): string | undefined {
  const binding = bindingsIn(context, keymap).find((one) => one.action === action);
  const [key] = binding?.keys ?? [];
  return key === undefined ? undefined : keyText(key);
}

/** `ctrl-x ctrl-e`: the presses before the last one, and the last one. */
function pressesOf(key: KeyName): { before: KeyName; last: KeyName } {
  const at = key.lastIndexOf(' ');
  return { before: key.slice(0, Math.max(0, at)), last: key.slice(at + 1) };
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

/** A hint of the footer; one that does nothing now says so by its brackets, too. */
export interface FooterHint {
  readonly text: string;
  readonly isDisabled: boolean;
  /** Undefined: how a key of several presses goes on. */
  readonly action?: string;
}

/** `enter run`, `↹ complete`, `(d delete)`: the most important first. */
export function footerHints(state: State, context = contextOf(state)): FooterHint[] {
  const { keymap, pendingKeys } = state;
  if (pendingKeys !== undefined) return continuations(context, keymap, pendingKeys);
  const hasAll = HINTS_BELOW.includes(context);
  const below = hasAll || !isPart(context) ? placesBelow(context) : [];
  const here = keymap.filter((binding) => binding.context === context);
  const isTaken = (key: KeyName | undefined): boolean =>
    here.some(({ keys }) => keys.some((one) => one === key));
  const rest = keymap
    .filter((binding) => below.some((place) => place === binding.context))
    .filter((binding) => !isTaken(binding.keys[0]))
    .filter(({ action }) => hasAll || WAYS.includes(action));
  return [...here, ...rest]
    .filter(({ hint, keys }) => hint !== undefined && keys.length > 0)
    .sort((a, b) => (a.hint?.[0] ?? 0) - (b.hint?.[0] ?? 0))
    .map(({ keys, hint, action, disabled }) => {
      const [first = '', ...others] = keys;
      const text = `${keyText(first)} ${hint?.[1] ?? ''}${others.includes('q') ? ' or q' : ''}`;
      const isDisabled = disabled?.(state) !== undefined;
      return { text: isDisabled ? `(${text})` : text, isDisabled, action };
    });
}

/** After the first of several presses: how it may go on. */
function continuations(context: Context, keymap: Keymap, pending: KeyName): FooterHint[] {
  const rest = bindingsIn(context, keymap).flatMap(({ keys, label }) =>
    keys
      .filter((key) => key.startsWith(`${pending} `))
      .map((key) => `${keyText(key.slice(pending.length + 1))} ${label}`),
  );
  return [`${keyText(pending)} …`, ...rest, 'esc leave'].map((text) => ({
    text,
    isDisabled: false,
  }));
}

/** Whether keys move and act there, and none is typed into a line. */
export function isActedIn(context: Context): boolean {
  return context === 'table' || context === 'overlay' || !isPart(context);
}

/**
 * What to say of a key that means nothing where the focus is: who types a command there has to go to
 * the prompt first. Undefined where keys are typed.
 */
export function strayText(state: State): string | undefined {
  const context = contextOf(state);
  if (!isActedIn(context)) return undefined;
  const ways = [
    ['go-prompt', 'leads to the prompt'],
    ['help', 'lists the keys'],
  ] as const;
  const said = ways.flatMap(([action, what]) => {
    const key = keyNameOf(action, context, state.keymap);
    return key === undefined ? [] : [`"${key}" ${what}`];
  });
  return ['that key does nothing here', said.join(', ')].filter(Boolean).join('; ');
}

/** Whether the keys of the first screen hold: nothing is connected, typed or running. */
export function offersFirstSteps(state: State): boolean {
  const { firstRun, nextSteps, fleet, work, prompt } = state;
  return (
    (firstRun !== undefined || nextSteps.length > 0) &&
    fleet.devices.length === 0 &&
    work === undefined &&
    lineText(prompt.editing.line) === ''
  );
}
