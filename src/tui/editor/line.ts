import { firstGrapheme, graphemes, graphemesBack, lastGrapheme } from './graphemes.ts';
import type { KeyEvent } from '../terminal/keys.ts';

/** The emacs keys that edit a line, as in readline. */
export const EDIT_KEYS: readonly {
  readonly kind: PlainKind;
  readonly keys: readonly string[];
  readonly label: string;
}[] = [
  { kind: 'left', keys: ['left', 'ctrl-b'], label: 'back by a character' },
  { kind: 'right', keys: ['right', 'ctrl-f'], label: 'forward by a character' },
  { kind: 'word-left', keys: ['alt-b', 'alt-left', 'ctrl-left'], label: 'back by a word' },
  { kind: 'word-right', keys: ['alt-f', 'alt-right', 'ctrl-right'], label: 'forward by a word' },
  { kind: 'home', keys: ['ctrl-a', 'home'], label: 'to the start' },
  { kind: 'end', keys: ['ctrl-e', 'end'], label: 'to the end' },
  { kind: 'erase-left', keys: ['backspace', 'ctrl-h'], label: 'erase the previous character' },
  { kind: 'erase-right', keys: ['delete', 'ctrl-d'], label: 'erase the next character' },
  { kind: 'kill-left', keys: ['ctrl-u'], label: 'cut to the start' },
  { kind: 'kill-right', keys: ['ctrl-k'], label: 'cut to the end' },
  { kind: 'kill-word-left', keys: ['ctrl-w'], label: 'cut the previous word, up to a space' },
  {
    kind: 'kill-part-left',
    keys: ['alt-backspace', 'ctrl-backspace'],
    label: 'cut the previous letters and digits',
  },
  {
    kind: 'kill-part-right',
    keys: ['alt-d', 'ctrl-delete'],
    label: 'cut the next letters and digits',
  },
  { kind: 'yank', keys: ['ctrl-y'], label: 'insert what was cut last' },
  { kind: 'undo', keys: ['ctrl-_'], label: 'undo the last change' },
];

/** The line being edited, split at the cursor, so that no index can become wrong. */
export interface Line {
  readonly before: string;
  readonly after: string;
}

export interface Editing {
  readonly line: Line;
  /** The last cut text, for `yank`. */
  readonly killed: string;
  /** Earlier lines, oldest first. */
  readonly undo: readonly Line[];
  /** The kind of the last edit. Repeated typing is one `undo` step, and repeated cuts add to `killed`. */
  readonly last: EditKey['kind'] | undefined;
}

export type EditKey =
  /** Types or pastes text. Line ends stay, other control characters are dropped. */
  | { readonly kind: 'insert'; readonly text: string }
  /** Replaces the line; the cursor goes to the end unless the line has its own. */
  | { readonly kind: 'set'; readonly line: Line | string }
  | { readonly kind: PlainKind };

/** An edit that needs no text. */
export type PlainKind = keyof typeof TARGETS | 'yank' | 'undo';

/** Where a key moves the cursor, in UTF-16 units of the whole line. `erase-` and `kill-` cut the text between. */
const TARGETS = {
  left: ({ before }: Line) => before.length - lastGrapheme(before).length,
  right: ({ before, after }: Line) => before.length + firstGrapheme(after).length,
  'word-left': ({ before }: Line) => partStart(before),
  'word-right': ({ before, after }: Line) => before.length + partEnd(after),
  home: () => 0,
  end: (line: Line) => lineText(line).length,
  'erase-left': (line: Line) => TARGETS.left(line),
  'erase-right': (line: Line) => TARGETS.right(line),
  'kill-left': () => 0,
  'kill-right': (line: Line) => lineText(line).length,
  /** Back to a blank. */
  'kill-word-left': ({ before }: Line) => wordStart(before),
  /** To the start of a run of letters and digits. */
  'kill-part-left': ({ before }: Line) => partStart(before),
  'kill-part-right': (line: Line) => TARGETS['word-right'](line),
};

const UNDO_LIMIT = 500;

export const EMPTY_LINE: Line = { before: '', after: '' };

export const EMPTY_EDITING: Editing = { line: EMPTY_LINE, killed: '', undo: [], last: undefined };

export function lineText(line: Line): string {
  return line.before + line.after;
}

/** The state after one key. Pure; cuts at grapheme borders. A key without effect keeps the line. */
export function edit(state: Editing, key: EditKey): Editing {
  const { line, killed, undo } = state;
  if (key.kind === 'insert') return insert(state, key.text);
  if (key.kind === 'set') return change(state, key.kind, asLine(key.line));
  if (key.kind === 'yank') {
    return change(state, key.kind, { ...line, before: line.before + killed });
  }
  if (key.kind !== 'undo') return movedOrCut(state, key.kind);
  return { ...state, line: undo.at(-1) ?? line, undo: undo.slice(0, -1), last: key.kind };
}

function movedOrCut(state: Editing, kind: keyof typeof TARGETS): Editing {
  const { line, killed, last } = state;
  const whole = lineText(line);
  const at = line.before.length;
  const to = TARGETS[kind](line);
  if (!/^(?:erase|kill)-/.test(kind)) {
    return { ...state, line: { before: whole.slice(0, to), after: whole.slice(to) }, last: kind };
  }
  const [start, end] = [Math.min(at, to), Math.max(at, to)];
  const rest = change(state, kind, { before: whole.slice(0, start), after: whole.slice(end) });
  if (kind.startsWith('erase-') || start === end) return rest;
  const cut = whole.slice(start, end);
  const collected = last?.startsWith('kill-') === true ? killed : '';
  return { ...rest, killed: to < at ? cut + collected : collected + cut };
}

/** The edit for a key, with emacs keys as in readline; undefined if the key does not edit. */
export function editKeyOf(event: KeyEvent): EditKey | undefined {
  if (event.kind === 'paste') return { kind: 'insert', text: event.text };
  const { name, ctrl, meta, shift, text } = event;
  if (text !== '') return { kind: 'insert', text };
  // Alt-B is not Alt-b.
  if (meta && shift && /^.$/u.test(name)) return undefined;
  const modifiers = (ctrl ? 'ctrl-' : '') + (meta ? 'alt-' : '');
  const kind = KIND_OF_KEY.get(modifiers + name);
  return kind && { kind };
}

const KIND_OF_KEY: ReadonlyMap<string, PlainKind> = new Map(
  EDIT_KEYS.flatMap(({ kind, keys }) => keys.map((key) => [key, kind])),
);

/** Sets a value of a record or a device unchanged, also characters that cannot be typed. */
export function filled(state: Editing, text: string): Editing {
  return change(state, 'set', { before: text, after: '' });
}

function insert(state: Editing, text: string): Editing {
  const clean = insertable(text);
  if (clean === '') return state;
  const line = { ...state.line, before: state.line.before + clean };
  const isContinued =
    state.last === 'insert' && !/\s$/u.test(state.line.before) && clean.length <= 2;
  return isContinued ? { ...state, line } : change(state, 'insert', line);
}

/** The text with `\n` at line ends and blanks for tabs, without other control characters and lone surrogates. */
function insertable(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/\t/g, ' ')
    .replace(/(?!\n)[\p{Cc}\p{Cs}]/gu, '');
}

function asLine(line: Line | string): Line {
  const { before, after } = typeof line === 'string' ? { before: line, after: '' } : line;
  return { before: insertable(before), after: insertable(after) };
}

/** Sets the line, and keeps the old one for undo. */
function change(state: Editing, last: EditKey['kind'], line: Line): Editing {
  const isSame = line.before === state.line.before && line.after === state.line.after;
  if (isSame) return { ...state, last };
  return { ...state, line, undo: [...state.undo, state.line].slice(-UNDO_LIMIT), last };
}

const isNoBlank = (grapheme: string): boolean => !/^\s/u.test(grapheme);
const isPartOfWord = (grapheme: string): boolean => /^[\p{L}\p{N}_]/u.test(grapheme);

/** Start of the last blank-separated word of `before`. */
export function wordStart(before: string): number {
  return before.length - throughRun(graphemesBack(before), isNoBlank);
}

/** Start of the last run of letters and digits of `before`. */
export function partStart(before: string): number {
  return before.length - throughRun(graphemesBack(before), isPartOfWord);
}

/** End of the first run of letters and digits of `after`. */
export function partEnd(after: string): number {
  return throughRun(graphemes(after), isPartOfWord);
}

/** The length of the first run of characters, and of those before it. */
function throughRun(characters: Iterable<string>, isInRun: (one: string) => boolean): number {
  let [units, hasBegun] = [0, false];
  for (const character of characters) {
    if (hasBegun && !isInRun(character)) break;
    hasBegun ||= isInRun(character);
    units += character.length;
  }
  return units;
}
