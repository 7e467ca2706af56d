import { fit, widthOf } from '../../text/visible.ts';
import { EDIT_KEYS } from '../editor/line.ts';
import { contextOf, keyNameOf, keyText } from '../keys/keymap.ts';
import { wrapText } from '../editor/graphemes.ts';
import type { Context, KeyBinding, State } from '../state.ts';
import type { OverOf, View } from './view.ts';

/** The keys of all contexts; those of the context below come first. */
export const HELP: View<OverOf<'help'>> = {
  crumb: () => 'keys',
  lines: (_overlay, state) => helpLines(state),
};

const KEYS_WIDTH = 18;

/** A narrower column would wrap most labels. */
const LEAST_COLUMN = 56;
const GAP = '  ';
/** Bars, prompt, footer, and a message. */
const OTHER_ROWS = 6;

/** By place, with their commands, and why some are disabled now; on a wide screen in columns. */
export function helpLines(state: State): string[] {
  const room = state.size.columns - 2;
  const count = Math.max(1, Math.floor((room + GAP.length) / (LEAST_COLUMN + GAP.length)));
  const width = Math.floor((room + GAP.length) / count) - GAP.length;
  return inColumns(helpColumn(state, width), {
    count,
    width,
    height: state.size.rows - OTHER_ROWS,
  });
}

/** Fills the columns of a screen, then those of the next one. */
function inColumns(
  lines: readonly string[],
  { count, width, height }: { count: number; width: number; height: number },
): string[] {
  if (count === 1) return [...lines];
  const rows: string[] = [];
  for (let from = 0; from < lines.length; from += count * height) {
    const page = lines.slice(from, from + count * height);
    if (from > 0) rows.push('');
    // The last screen is as low as its columns allow.
    const high = Math.min(height, Math.ceil(page.length / count));
    for (let row = 0; row < high; row += 1) {
      const cells = Array.from({ length: count }, (_, at) =>
        fit(page[at * high + row] ?? '', width),
      );
      rows.push(cells.join(GAP).trimEnd());
    }
  }
  return rows;
}

function helpColumn(state: State, width: number): string[] {
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
    ...searchHint(state),
    '',
    'While a line is typed, as in emacs and bash',
    ...EDIT_KEYS.map(({ keys, label }) => {
      const names = keys.map(keyText).join(' ');
      const isLong = widthOf(names) > KEYS_WIDTH;
      return `  ${isLong ? names : fit(names, KEYS_WIDTH)} ${label}`;
    }),
  ].flatMap((line) => wrapText(line, width));
}

/** The palette looks the same keys up by a word, and more than keys. */
function searchHint({ keymap }: State): string[] {
  const name = keyNameOf('palette', 'overlay', keymap);
  return name === undefined ? [] : [`${name} finds keys, commands and devices by a word.`];
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
