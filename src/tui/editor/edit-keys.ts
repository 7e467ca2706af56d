import type { PlainKind } from './line.ts';

/** The emacs keys that edit a line, as readline has them. */
export const EDIT_KEYS: readonly {
  readonly kind: PlainKind;
  readonly keys: readonly string[];
  readonly label: string;
}[] = [
  { kind: 'left', keys: ['left', 'ctrl-b'], label: 'back by a character' },
  { kind: 'right', keys: ['right', 'ctrl-f'], label: 'forth by a character' },
  { kind: 'word-left', keys: ['alt-b', 'alt-left', 'ctrl-left'], label: 'back by a word' },
  { kind: 'word-right', keys: ['alt-f', 'alt-right', 'ctrl-right'], label: 'forth by a word' },
  { kind: 'home', keys: ['ctrl-a', 'home'], label: 'to the start' },
  { kind: 'end', keys: ['ctrl-e', 'end'], label: 'to the end' },
  { kind: 'erase-left', keys: ['backspace', 'ctrl-h'], label: 'erase the character before' },
  { kind: 'erase-right', keys: ['delete', 'ctrl-d'], label: 'erase the character behind' },
  { kind: 'kill-left', keys: ['ctrl-u'], label: 'cut to the start' },
  { kind: 'kill-right', keys: ['ctrl-k'], label: 'cut to the end' },
  { kind: 'kill-word-left', keys: ['ctrl-w'], label: 'cut the word before, back to a blank' },
  {
    kind: 'kill-part-left',
    keys: ['alt-backspace', 'ctrl-backspace'],
    label: 'cut the letters and digits before',
  },
  {
    kind: 'kill-part-right',
    keys: ['alt-d', 'ctrl-delete'],
    label: 'cut the letters and digits behind',
  },
  { kind: 'yank', keys: ['ctrl-y'], label: 'put in what was cut last' },
  { kind: 'yank-pop', keys: ['alt-y'], label: 'after that: what was cut before it' },
  { kind: 'transpose', keys: ['ctrl-t'], label: 'swap two characters' },
  { kind: 'transpose-words', keys: ['alt-t'], label: 'swap two words' },
  { kind: 'upper-case', keys: ['alt-u'], label: 'the word behind in capitals' },
  { kind: 'lower-case', keys: ['alt-l'], label: 'the word behind in small letters' },
  { kind: 'capitalize', keys: ['alt-c'], label: 'the word behind with a capital' },
  { kind: 'undo', keys: ['ctrl-_'], label: 'take the last change back' },
];
