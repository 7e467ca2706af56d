import { cut, fit, widthOf } from '../../text/visible.ts';
import { EDIT_KEYS } from '../editor/line.ts';
import { bindingsIn, contextOf, hasCommandKeys, keyText } from '../keys/keymap.ts';
import type { Context, KeyBinding, State } from '../state.ts';
import { plainLine } from '../screen/theme.ts';
import type { OverOf, View } from './view.ts';

/** The keys of the context in which the help was opened. The palette and `help keys` have all keys. */
export const HELP: View<OverOf<'help'>> = {
  breadcrumb: () => 'keys',
  lines: (_overlay, state) =>
    helpLines(state).map((line, index) => plainLine(line, index === 0 ? 'heading' : 'plain')),
};

/** The most keys that fit on a screen of 24 lines. */
const MOST_KEYS = 15;
/** Wider lists of keys are not aligned. */
const KEYS_WIDTH = 12;

/** The keys of the context in the order of the footer, each with its command, or why it does nothing now. */
export function helpLines(state: State): string[] {
  const here = contextBelow(state);
  const bindings = bindingsIn(here, state.keymap);
  const keys = bindings
    .filter(({ action, keys }, index) => {
      return keys.length > 0 && bindings.findIndex((one) => one.action === action) === index;
    })
    .sort((a, b) => rankOf(a) - rankOf(b))
    .map((binding) => [binding.keys.map(keyText).join(' '), textOf(binding, state)] as const);
  const edits = EDIT_KEYS.map(({ keys, label }) => [keys.map(keyText).join(' '), label] as const);
  const shown = [...keys, ...(hasCommandKeys(here) ? [] : edits)].slice(0, MOST_KEYS);
  const width = state.size.columns - 2;
  const first = Math.min(KEYS_WIDTH, Math.max(...shown.map(([names]) => widthOf(names))));
  return [
    bindings[0]?.place ?? '',
    ...shown.map(([names, text]) => `  ${fit(names, Math.max(first, widthOf(names)))}  ${text}`),
    '',
    'ctrl-k finds every key and command by a word; "help keys" lists all keys.',
  ].map((line) => cut(line, width));
}

/** The user's own keys come first. */
function rankOf({ action, hint }: KeyBinding): number {
  return action.startsWith('alias ') ? 0 : (hint?.[0] ?? Infinity);
}

function textOf({ label, command, disabled }: KeyBinding, state: State): string {
  const reason = disabled?.(state);
  if (reason !== undefined) return `${label}; not now: ${reason}`;
  return command === undefined ? label : `${label}  (${command})`;
}

/** The context in which the help was opened. */
function contextBelow(state: State): Context {
  const place = state.backStack.at(-1);
  if (state.overlay.kind !== 'help' || place === undefined) return contextOf(state);
  return contextOf({ ...state, focus: place.focus, overlay: place.overlay });
}
