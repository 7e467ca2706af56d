import { dropFirstGrapheme, dropLastGrapheme, lastGrapheme, firstGrapheme } from './graphemes.ts';
import type { KeyEvent } from './terminal/keys.ts';

/** The line being edited, split at the cursor: no index can fall out of step. */
export interface Line {
  readonly before: string;
  readonly after: string;
}

/** A line with what its editing remembers. */
export interface Editing {
  readonly line: Line;
  /** What was cut last, for `yank`. */
  readonly killed: string;
  /** The lines to go back to, oldest first. */
  readonly undo: readonly Line[];
  /** Kind of the last edit: typing on is one step of `undo`, cutting on adds to `killed`. */
  readonly last: EditKey['kind'] | undefined;
}

export type EditKey =
  /** Types or pastes text. Line ends stay, other control characters are dropped. */
  | { readonly kind: 'insert'; readonly text: string }
  /** Replaces the line; the cursor goes to the end unless the line says where. */
  | { readonly kind: 'set'; readonly line: Line | string }
  | { readonly kind: PlainKind };

type PlainKind = Move | Change | Kill | 'yank' | 'undo';
type Move = 'left' | 'right' | 'word-left' | 'word-right' | 'home' | 'end';
type Change = 'erase-left' | 'erase-right' | 'transpose';
/** `kill-word-left` goes back to a blank, `kill-part-left` to the start of a run of letters and digits. */
type Kill = 'kill-left' | 'kill-right' | 'kill-word-left' | 'kill-part-left' | 'kill-part-right';

const UNDO_LIMIT = 500;

export const EMPTY_LINE: Line = { before: '', after: '' };

export const EMPTY_EDITING: Editing = { line: EMPTY_LINE, killed: '', undo: [], last: undefined };

export function lineText(line: Line): string {
  return line.before + line.after;
}

/** One key, one new state. Pure; cuts at grapheme borders. A key that changes nothing keeps the line. */
export function edit(state: Editing, key: EditKey): Editing {
  switch (key.kind) {
    case 'insert':
      return insert(state, key.text);
    case 'set':
      return change(state, key.kind, asLine(key.line));
    case 'left':
    case 'right':
    case 'word-left':
    case 'word-right':
    case 'home':
    case 'end':
      return { ...state, line: moved(state.line, key.kind), last: key.kind };
    case 'erase-left':
    case 'erase-right':
    case 'transpose':
      return change(state, key.kind, changed(state.line, key.kind));
    case 'kill-left':
    case 'kill-right':
    case 'kill-word-left':
    case 'kill-part-left':
    case 'kill-part-right':
      return kill(state, key.kind);
    case 'yank':
      return change(state, key.kind, {
        ...state.line,
        before: state.line.before + state.killed,
      });
    case 'undo':
      return {
        ...state,
        line: state.undo.at(-1) ?? state.line,
        undo: state.undo.slice(0, -1),
        last: key.kind,
      };
  }
}

/** The emacs keys, as readline has them. Undefined: not a key that edits. */
export function editKeyOf(event: KeyEvent): EditKey | undefined {
  if (event.kind === 'paste') return { kind: 'insert', text: event.text };
  const { name, ctrl, meta, text } = event;
  if (text !== '') return { kind: 'insert', text };
  const modifiers = (ctrl ? 'ctrl-' : '') + (meta ? 'alt-' : '');
  const kind = EDIT_KEYS.get(modifiers + name);
  return kind && { kind };
}

const EDIT_KEYS: ReadonlyMap<string, PlainKind> = new Map<string, PlainKind>([
  ['left', 'left'],
  ['ctrl-b', 'left'],
  ['right', 'right'],
  ['ctrl-f', 'right'],
  ['ctrl-left', 'word-left'],
  ['alt-left', 'word-left'],
  ['alt-b', 'word-left'],
  ['ctrl-right', 'word-right'],
  ['alt-right', 'word-right'],
  ['alt-f', 'word-right'],
  ['home', 'home'],
  ['ctrl-a', 'home'],
  ['end', 'end'],
  ['ctrl-e', 'end'],
  ['backspace', 'erase-left'],
  ['ctrl-h', 'erase-left'],
  ['delete', 'erase-right'],
  ['ctrl-d', 'erase-right'],
  ['ctrl-t', 'transpose'],
  ['ctrl-u', 'kill-left'],
  ['ctrl-k', 'kill-right'],
  ['ctrl-w', 'kill-word-left'],
  ['alt-backspace', 'kill-part-left'],
  ['ctrl-backspace', 'kill-part-left'],
  ['alt-d', 'kill-part-right'],
  ['ctrl-delete', 'kill-part-right'],
  ['ctrl-y', 'yank'],
  ['ctrl-_', 'undo'],
]);

function insert(state: Editing, text: string): Editing {
  const clean = insertable(text);
  if (clean === '') return state;
  const line = { ...state.line, before: state.line.before + clean };
  const goesOn = state.last === 'insert' && !/\s$/u.test(state.line.before) && clean.length <= 2;
  return goesOn ? { ...state, line } : change(state, 'insert', line);
}

/** Line ends as `\n`, tabs as blanks, no other control characters and no halves of characters. */
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

/** The new line, with the old one to go back to. */
function change(state: Editing, last: EditKey['kind'], line: Line): Editing {
  const isSame = line.before === state.line.before && line.after === state.line.after;
  if (isSame) return { ...state, last };
  return { ...state, line, undo: [...state.undo, state.line].slice(-UNDO_LIMIT), last };
}

function moved({ before, after }: Line, move: Move): Line {
  switch (move) {
    case 'left':
      return splitAt(before, dropLastGrapheme(before).length, after);
    case 'right': {
      const first = firstGrapheme(after);
      return { before: before + first, after: after.slice(first.length) };
    }
    case 'word-left':
      return splitAt(before, partStart(before), after);
    case 'word-right': {
      const end = partEnd(after);
      return { before: before + after.slice(0, end), after: after.slice(end) };
    }
    case 'home':
      return { before: '', after: before + after };
    case 'end':
      return { before: before + after, after: '' };
  }
}

function splitAt(before: string, at: number, after: string): Line {
  return { before: before.slice(0, at), after: before.slice(at) + after };
}

function changed(line: Line, kind: Change): Line {
  switch (kind) {
    case 'erase-left':
      return { ...line, before: dropLastGrapheme(line.before) };
    case 'erase-right':
      return { ...line, after: dropFirstGrapheme(line.after) };
    case 'transpose':
      return transposed(line);
  }
}

/** Swaps the characters around the cursor and goes past them; at the end, the last two. */
function transposed({ before, after }: Line): Line {
  const right = after === '' ? lastGrapheme(before) : firstGrapheme(after);
  const head = after === '' ? dropLastGrapheme(before) : before;
  const left = lastGrapheme(head);
  if (left === '' || right === '') return { before, after };
  return {
    before: dropLastGrapheme(head) + right + left,
    after: after.slice(after === '' ? 0 : right.length),
  };
}

function kill(state: Editing, kind: Kill): Editing {
  const { before, after } = state.line;
  const goesOn = state.last?.startsWith('kill-') === true;
  const collected = goesOn ? state.killed : '';
  if (kind === 'kill-right' || kind === 'kill-part-right') {
    const end = kind === 'kill-right' ? after.length : partEnd(after);
    if (end === 0) return { ...state, last: kind };
    const killed = collected + after.slice(0, end);
    return { ...change(state, kind, { before, after: after.slice(end) }), killed };
  }
  const start =
    kind === 'kill-left' ? 0 : kind === 'kill-word-left' ? wordStart(before) : partStart(before);
  if (start === before.length) return { ...state, last: kind };
  const killed = before.slice(start) + collected;
  return { ...change(state, kind, { before: before.slice(0, start), after }), killed };
}

const isBlank = (grapheme: string): boolean => /^\s/u.test(grapheme);
const isPartOfWord = (grapheme: string): boolean => /^[\p{L}\p{N}_]/u.test(grapheme);

/** Where the word between blanks that ends `before` starts. */
function wordStart(before: string): number {
  return skipBack(skipBack(before, isBlank), (grapheme) => !isBlank(grapheme)).length;
}

/** Where the run of letters and digits that ends `before` starts. */
function partStart(before: string): number {
  return skipBack(
    skipBack(before, (grapheme) => !isPartOfWord(grapheme)),
    isPartOfWord,
  ).length;
}

/** Where the run of letters and digits that starts `after` ends. */
function partEnd(after: string): number {
  const rest = skip(
    skip(after, (grapheme) => !isPartOfWord(grapheme)),
    isPartOfWord,
  );
  return after.length - rest.length;
}

function skipBack(text: string, isSkipped: (grapheme: string) => boolean): string {
  let rest = text;
  while (rest !== '') {
    const grapheme = lastGrapheme(rest);
    if (!isSkipped(grapheme)) break;
    rest = rest.slice(0, rest.length - grapheme.length);
  }
  return rest;
}

function skip(text: string, isSkipped: (grapheme: string) => boolean): string {
  let rest = text;
  while (rest !== '') {
    const grapheme = firstGrapheme(rest);
    if (!isSkipped(grapheme)) break;
    rest = rest.slice(grapheme.length);
  }
  return rest;
}
