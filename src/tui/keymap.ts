import type { ViewAction } from './actions.ts';
import { KEYMAP, type Context, type Effect } from './key-bindings.ts';
import { formContext } from './form/form-state.ts';
import type { State } from './state.ts';
import { matchesKey, type KeyName } from './terminal/key-name.ts';
import type { KeyEvent } from './terminal/keys.ts';

export function contextOf({ questions, overlay, form, table, prompt, focus }: State): Context {
  const [question] = questions;
  if (question !== undefined) {
    if (!question.isOpen) return 'waiting';
    return question.unfolded === undefined ? 'question' : 'plan';
  }
  if (overlay.kind === 'runs') return 'runs';
  if (overlay.kind !== 'none') return 'overlay';
  if (form !== undefined) return formContext(form);
  if (focus === 'table') return table.filter.isOpen ? 'filter' : 'table';
  if (prompt.search !== undefined) return 'search';
  return prompt.menu === undefined ? 'prompt' : 'menu';
}

/** Where a key goes that means nothing in a place of its own. */
const BELOW: Readonly<Partial<Record<Context, Context>>> = {
  menu: 'prompt',
  plan: 'question',
  runs: 'overlay',
  'form-switch': 'form',
  'form-choice': 'form',
  'form-pick': 'form',
  'form-run': 'form',
};

/** Where the keys below are worth a hint, too. */
const HINTS_BELOW: readonly Context[] = ['plan', 'form-switch', 'form-choice', 'form-run'];

/** What a key means where the focus is; undefined when it edits a line or means nothing. */
export function actionFor(event: KeyEvent, context: Context): ViewAction | Effect | undefined {
  const here = KEYMAP.filter((binding) => binding.context === context);
  const rest = KEYMAP.filter((binding) => binding.context === 'anywhere');
  const below = KEYMAP.filter((binding) => binding.context === BELOW[context]);
  return [...here, ...rest, ...below].find(({ keys }) => keys.some((key) => matchesKey(event, key)))
    ?.action;
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

/** `enter run · ↹ complete · esc table`, as many as fit. */
export function footerHints(context: Context): readonly string[] {
  const below = HINTS_BELOW.includes(context) ? BELOW[context] : undefined;
  const here = KEYMAP.filter((binding) => binding.context === context);
  const isTaken = (key: KeyName | undefined): boolean =>
    here.some(({ keys }) => keys.some((one) => one === key));
  const rest = KEYMAP.filter((binding) => binding.context === below && !isTaken(binding.keys[0]));
  return [...here, ...rest]
    .filter(({ hint }) => hint !== undefined)
    .sort((a, b) => (a.hint?.rank ?? 0) - (b.hint?.rank ?? 0))
    .map(({ keys, hint }) => `${keyText(keys[0] ?? '')} ${hint?.text ?? ''}`);
}
