import { fit, widthOf } from '../../text/visible.ts';
import { EDIT_KEYS } from '../editor/line.ts';
import { contextOf, keyText } from '../keys/keymap.ts';
import { wrapText } from '../editor/graphemes.ts';
import type { Context, KeyBinding, State } from '../state.ts';
import type { OverOf, View } from './view.ts';

/** The keys of all contexts; those of the context below come first. */
export const HELP: View<OverOf<'help'>> = {
  crumb: () => 'keys',
  lines: (_overlay, state) => helpLines(state),
};

const KEYS_WIDTH = 18;

/** All keys by place, with their commands, and why some are disabled now. */
export function helpLines(state: State): string[] {
  const width = state.size.columns - 2;
  const here = contextBelow(state);
  const places = [...new Set(state.keymap.map(({ context }) => context))];
  const ordered = [
    ...places.filter((place) => place === here),
    ...places.filter((place) => place !== here),
  ];
  const sections = ordered.flatMap((place) => {
    const bindings = state.keymap.filter(({ context }) => context === place);
    return [
      bindings[0]?.place ?? '',
      ...bindings.flatMap((binding) => bindingLines(binding, state, width)),
      '',
    ];
  });
  return [
    'Commands are typed at the prompt: "help" lists them, "help user add" explains one.',
    '',
    ...sections,
    'Where a line is typed, as in emacs and bash',
    ...EDIT_KEYS.map(({ keys, label }) => {
      const names = keys.map(keyText).join(' ');
      const isLong = widthOf(names) > KEYS_WIDTH;
      return `  ${isLong ? names : fit(names, KEYS_WIDTH)} ${label}`;
    }),
  ].flatMap((line) => wrapText(line, width));
}

/** The context in which the help was opened. */
function contextBelow(state: State): Context {
  const place = state.backStack.at(-1);
  if (state.overlay.kind !== 'help' || place === undefined) return contextOf(state);
  return contextOf({ ...state, focus: place.focus, overlay: place.overlay });
}

function bindingLines(binding: KeyBinding, state: State, width: number): string[] {
  const keys = binding.keys.length === 0 ? '(no key)' : binding.keys.map(keyText).join(' ');
  const command = binding.command === undefined ? '' : `  (${binding.command})`;
  const reason = binding.disabled?.(state);
  const why = reason === undefined ? '' : `; not now: ${reason}`;
  const room = width - KEYS_WIDTH - 3;
  const isLong = widthOf(keys) > KEYS_WIDTH;
  const lines = wrapText(binding.label + command + why, room);
  const first = isLong ? '' : (lines.shift() ?? '');
  const head = `  ${isLong ? keys : fit(keys, KEYS_WIDTH)} ${first}`.trimEnd();
  return [head, ...lines.map((line) => ' '.repeat(KEYS_WIDTH + 3) + line)];
}
