import { found } from '../../shell/findable.ts';
import { COMMANDS } from '../../shell/commands/index.ts';
import { synonymsOf } from '../../shell/grammar/meant-lines.ts';
import { GUTTER } from '../../text/fit-columns.ts';
import { cut, fit, visible } from '../../text/visible.ts';
import { lineText } from '../editor/line.ts';
import { key, keysOf } from '../keys/binding.ts';
import { bindingsIn, contextOf, keyText } from '../keys/keymap.ts';
import type { KeyBinding, PaletteEntry, State } from '../state.ts';
import { memoized } from '../store.ts';
import { MOVES, type OverOf, type View } from './view.ts';

type PaletteOver = OverOf<'palette'>;

/** Everything that has a name: typed words find it, Enter goes there. */
export const PALETTE: View<PaletteOver> = {
  keys: keysOf('palette', 'While something is looked up by its name', [
    key(
      ['enter'],
      'choose',
      'press that key, open that; a command that changes something: to the prompt',
      {
        hint: [1, 'go'],
      },
    ),
    key(['escape'], 'close', 'back', { hint: [2, 'back'] }),
    key(['down'], 'down', 'the next one', { hint: [3, 'next'] }),
    key(['up'], 'up', 'the one before'),
    key(['pagedown'], 'page-down', 'a page down'),
    key(['pageup'], 'page-up', 'a page up'),
  ]),
  breadcrumb: () => 'go to',
  title: ({ isFilling }, _state, found) => [
    { text: isFilling ? 'looking up devices, users and runs …' : found.text, rank: 1 },
  ],
  listed(overlay, { find }) {
    const rows = inOrder(overlay.entries, lineText(find.editing.line));
    const idAt = (index: number): string | undefined => {
      const entry = rows[index];
      return entry && `${entry.kind} ${entry.name} ${entry.summary}`;
    };
    return { rows, idAt, fields: [], total: overlay.entries.length };
  },
  drawn(overlay, state) {
    const rows = inOrder(overlay.entries, lineText(state.find.editing.line));
    const width = state.size.columns - GUTTER;
    const name = Math.min(32, Math.floor(width * 0.4));
    const isWide = width >= 60;
    const line = (kind: string, text: string, what: string): string =>
      cut(`${isWide ? `${fit(kind, 8)} ` : ''}${fit(text, name)}  ${what}`, width);
    return {
      header: line('WHAT', 'NAME', ''),
      count: rows.length,
      row(index) {
        const entry = rows[index];
        if (entry === undefined) return { tone: 'plain', parts: [] };
        const reason = entry.kind === 'key' && 'binding' in entry && whyNot(entry.binding, state);
        const summary = visible(entry.summary) + (reason ? `; not now: ${reason}` : '');
        const tone = reason ? 'quiet' : 'plain';
        return { tone, parts: [{ tone, text: line(entry.kind, visible(entry.name), summary) }] };
      },
      cursor: overlay.cursor,
      empty: 'nothing is known here',
    };
  },
};

const inOrder = memoized((entries: readonly PaletteEntry[], typed: string) =>
  found(entries, typed),
);

export function chosenEntry({ overlay, find }: State): PaletteEntry | undefined {
  if (overlay.kind !== 'palette') return undefined;
  return inOrder(overlay.entries, lineText(find.editing.line))[overlay.cursor];
}

/** Opens with the keys of the table or the view over it; other entries follow. */
export function paletteOf(state: State): PaletteOver {
  const bindings = bindingsIn(contextOf({ ...state, focus: 'table' }), state.keymap);
  const seen = new Set<string>([...Object.keys(MOVES), 'palette', 'back', 'close']);
  const entries = bindings.flatMap((binding): PaletteEntry[] => {
    const { keys, label, action, command = '' } = binding;
    if (seen.has(action)) return [];
    seen.add(action);
    const words = [
      ...keys,
      ...action.split('-'),
      ...command.toLowerCase().split(' '),
      ...synonymsOf(command, COMMANDS),
    ];
    return [
      { kind: 'key', name: keys.map(keyText).join(' ') || '–', summary: label, words, binding },
    ];
  });
  return { kind: 'palette', entries, isFilling: true, cursor: 0 };
}

export function addEntries(state: State, entries: readonly PaletteEntry[]): State {
  const { overlay } = state;
  if (overlay.kind !== 'palette') return state;
  const all = [...overlay.entries, ...entries];
  return { ...state, overlay: { ...overlay, entries: all, isFilling: false } };
}

/** Why a key does nothing in the view below. */
function whyNot({ disabled }: KeyBinding, state: State): string | undefined {
  const below = state.backStack.at(-1);
  if (below === undefined) return undefined;
  return disabled?.({ ...state, overlay: below.overlay, find: below.find, focus: 'table' });
}
