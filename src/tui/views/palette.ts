import { found } from '../../shell/findable.ts';
import { COMMANDS } from '../../shell/commands/index.ts';
import { synonymsOf } from '../../shell/grammar/meant-lines.ts';
import { visible } from '../../text/visible.ts';
import { key, keysOf } from '../keys/binding.ts';
import { MOVES } from '../keys/key-binding.ts';
import { bindingsIn, contextOf, keyText } from '../keys/keymap.ts';
import type { PaletteEntry, State } from '../state.ts';
import { memoized } from '../store.ts';
import { type ListColumn, type ListOf, listOf, type OverOf } from './view.ts';

type PaletteOver = OverOf<'palette'>;

/** A list of everything that has a name. Typed words find an entry, Enter opens it. */
export const PALETTE: ListOf<PaletteOver, PaletteEntry> = listOf({
  kind: 'palette',
  keys: keysOf('palette', 'While something is looked up by its name', [
    key(
      ['enter'],
      'choose',
      'press that key, open that; a command that changes something: to the prompt',
      { hint: [1, 'go'] },
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
  items: ({ entries }) => entries,
  idOf: ({ kind, name, summary }) => `${kind} ${name} ${summary}`,
  columns: () => COLUMNS,
  found: memoized((entries: readonly PaletteEntry[], typed: string) => found(entries, typed)),
  toneOf: (entry) => (reasonOf(entry) === undefined ? 'plain' : 'quiet'),
  empty: () => 'nothing is known here',
});

const COLUMNS: readonly ListColumn<PaletteEntry>[] = [
  { title: 'WHAT', text: ({ kind }) => kind, most: 8, rank: 2 },
  { title: 'NAME', text: ({ name }) => visible(name), most: 32, least: 12, rank: 0 },
  { title: '', text: summaryText, most: Infinity, least: 24, rank: 1, isFilling: true },
];

function summaryText(entry: PaletteEntry): string {
  const reason = reasonOf(entry);
  return visible(entry.summary) + (reason === undefined ? '' : `; not now: ${reason}`);
}

function reasonOf(entry: PaletteEntry): string | undefined {
  return 'binding' in entry ? entry.reason : undefined;
}

/** Opens with the keys of the table or the view over it; other entries follow. */
export function paletteOf(state: State): PaletteOver {
  const below = { ...state, focus: 'table' } as const;
  const bindings = bindingsIn(contextOf(below), state.keymap);
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
    const name = keys.map(keyText).join(' ') || '–';
    const reason = binding.disabled?.(below);
    return [{ kind: 'key', name, summary: label, words, binding, reason }];
  });
  return { kind: 'palette', entries, isFilling: true, cursor: 0 };
}
