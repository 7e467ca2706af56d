import { edit, lineText, type Editing, type EditKey } from './line.ts';
import { back, endOfWords, moveBy, forward, type Find } from './vi-motion.ts';

/** A repeatable change: the keys that began it, and the text typed then. */
interface Change {
  readonly keys: string;
  readonly typed: readonly EditKey[];
}

export interface ViState {
  readonly mode: 'insert' | 'normal';
  /** The keys of an incomplete command: `2d`. */
  readonly pending: string;
  readonly lastFind: Find | undefined;
  /** What `.` repeats. */
  readonly lastChange: Change | undefined;
  /** The change in progress in insert mode. */
  readonly recording: Change | undefined;
}

/** A key's request to the history. */
export type ViRequest = 'history-back' | 'history-forth' | 'search';

export interface ViStep {
  readonly vi: ViState;
  readonly editing: Editing;
  readonly request?: ViRequest;
}

export const VI_START: ViState = {
  mode: 'insert',
  pending: '',
  lastFind: undefined,
  lastChange: undefined,
  recording: undefined,
};

/** count, operator, count, motion; the operator twice means the whole line. */
const OPERATION = /^([1-9]\d*)?([dcy])([1-9]\d*)?(?:([fFtT])(.)|(\2|[hl0^$wWbBeE;,]))$/su;

/** count, command; `f` and `r` accept any character after them. */
const COMMAND = /^([1-9]\d*)?(?:([fFtT])(.)|r(.)|([hl0^$wWbBeE;,iIaAxXDCYSspPujk./~]))$/su;

const BEGUN = /^(?:[1-9]\d*)?(?:[dcy](?:[1-9]\d*)?)?[fFtT]?$|^(?:[1-9]\d*)?r$/u;

/** Records a key in insert mode for `.`; the caller edits the line. */
export function recorded(vi: ViState, key: EditKey): ViState {
  const { recording } = vi;
  if (recording === undefined) return vi;
  return { ...vi, recording: { ...recording, typed: [...recording.typed, key] } };
}

/** Esc: leaves insert mode, or drops an incomplete command. Pure. */
export function leaveInsert(vi: ViState, editing: Editing): ViStep {
  if (vi.mode === 'normal') return { vi: { ...vi, pending: '' }, editing };
  const { recording } = vi;
  const lastChange = recording ?? vi.lastChange;
  const normal: ViState = { ...vi, mode: 'normal', pending: '', lastChange, recording: undefined };
  return { vi: normal, editing: onCharacter(edit(editing, { kind: 'left' })) };
}

/** One character in normal mode. Pure; an invalid command is dropped. */
export function viKey(vi: ViState, editing: Editing, character: string): ViStep {
  const keys = vi.pending + character;
  const idle: ViState = { ...vi, pending: '' };
  const done = runCommand(idle, onCharacter(editing), keys);
  if (done !== undefined) return done;
  return { vi: BEGUN.test(keys) ? { ...vi, pending: keys } : idle, editing };
}

/** Undefined for an incomplete command. */
function runCommand(vi: ViState, editing: Editing, keys: string): ViStep | undefined {
  const operation = OPERATION.exec(keys);
  if (operation !== null) {
    const [, first, operator = '', second, find, target, plain = ''] = operation;
    const wanted = searchOf(vi, find, target, plain);
    const known = find === undefined ? vi : { ...vi, lastFind: wanted };
    const count = countOf(first) * countOf(second);
    return operate(known, editing, { keys, operator, motion: plain, count, wanted });
  }
  const single = COMMAND.exec(keys);
  if (single === null) return undefined;
  const [, first, find, target, replacement, plain = ''] = single;
  const count = countOf(first);
  if (replacement !== undefined) return replace(vi, editing, keys, replacement, count);
  const wanted = searchOf(vi, find, target, plain);
  const known = find === undefined ? vi : { ...vi, lastFind: wanted };
  const text = lineText(editing.line);
  const moved = moveBy(text, editing.line.before.length, plain, count, wanted);
  if (moved !== undefined) return { vi: known, editing: onCharacter(at(editing, text, moved.to)) };
  return command(known, editing, keys, plain, count);
}

/** Limits the count: no line is longer. */
function countOf(digits: string | undefined): number {
  return Math.min(999, Number(digits ?? 1));
}

/** The search of `f`, `t` and their repetitions. */
function searchOf(
  { lastFind }: ViState,
  find: string | undefined,
  target: string | undefined,
  plain: string,
): Find | undefined {
  if (find === 'f' || find === 'F' || find === 't' || find === 'T') {
    return { kind: find, character: target ?? '' };
  }
  if (lastFind === undefined || (plain !== ';' && plain !== ',')) return undefined;
  const other = { f: 'F', F: 'f', t: 'T', T: 't' } as const;
  return plain === ';' ? lastFind : { ...lastFind, kind: other[lastFind.kind] };
}

interface Operation {
  readonly keys: string;
  readonly operator: string;
  readonly motion: string;
  readonly count: number;
  readonly wanted: Find | undefined;
}

function operate(vi: ViState, editing: Editing, operation: Operation): ViStep {
  const { keys, operator, motion, count, wanted } = operation;
  const { before, after } = editing.line;
  const text = before + after;
  if (motion === operator) return cut(vi, editing, { keys, operator, from: 0, to: text.length });
  const isOnWord = /^\S/u.test(after);
  if (operator === 'c' && (motion === 'w' || motion === 'W') && isOnWord) {
    const to = endOfWords(text, before.length, count, motion === 'W');
    return cut(vi, editing, { keys, operator, from: before.length, to });
  }
  const moved = moveBy(text, before.length, motion, count, wanted);
  if (moved === undefined) return { vi, editing };
  const [low, high] = [Math.min(before.length, moved.to), Math.max(before.length, moved.to)];
  return cut(vi, editing, {
    keys,
    operator,
    from: low,
    to: moved.isInclusive ? forward(text, high) : high,
  });
}

interface Range {
  readonly keys: string;
  readonly operator: string;
  readonly from: number;
  readonly to: number;
}

function cut(vi: ViState, editing: Editing, { keys, operator, from, to }: Range): ViStep {
  const text = editing.line.before + editing.line.after;
  const killed = text.slice(from, to);
  if (operator === 'y') return { vi, editing: onCharacter({ ...at(editing, text, from), killed }) };
  const line = { before: text.slice(0, from), after: text.slice(to) };
  const left = killed === '' ? editing : { ...edit(editing, { kind: 'set', line }), killed };
  return operator === 'c' ? insertMode(vi, left, keys) : changed(vi, onCharacter(left), keys);
}

function replace(
  vi: ViState,
  editing: Editing,
  keys: string,
  character: string,
  count: number,
): ViStep {
  const { before, after } = editing.line;
  const text = before + after;
  const last = moveBy(text, before.length, 'l', count - 1)?.to ?? before.length;
  // More characters than the line has: vi replaces none.
  if (last >= text.length) return { vi, editing };
  const end = forward(text, last);
  const typed = character.repeat(count);
  const line = { before: before + typed, after: text.slice(end) };
  const replaced = edit(editing, { kind: 'set', line });
  return changed(vi, onCharacter(edit(replaced, { kind: 'left' })), keys);
}

function command(vi: ViState, editing: Editing, keys: string, name: string, count: number): ViStep {
  const { before, after } = editing.line;
  const text = before + after;
  const here = before.length;
  const times = `${count}`;
  switch (name) {
    case 'i':
      return insertMode(vi, editing, keys);
    case 'I':
      return insertMode(vi, at(editing, text, text.length - text.trimStart().length), keys);
    case 'a':
      return insertMode(vi, at(editing, text, forward(text, here)), keys);
    case 'A':
      return insertMode(vi, at(editing, text, text.length), keys);
    case 'x':
      return runShorthand(vi, editing, keys, `d${times}l`);
    case 'X':
      return runShorthand(vi, editing, keys, `d${times}h`);
    case 's':
      return runShorthand(vi, editing, keys, `c${times}l`);
    case 'D':
      return runShorthand(vi, editing, keys, 'd$');
    case 'C':
      return runShorthand(vi, editing, keys, 'c$');
    case 'S':
      return runShorthand(vi, editing, keys, 'cc');
    case 'Y':
      return runShorthand(vi, editing, keys, 'yy');
    case 'p':
    case 'P':
      return paste(vi, editing, keys, name === 'p' ? forward(text, here) : here, count);
    case '~':
      return swapCase(vi, editing, keys, count);
    case 'u':
      return { vi, editing: onCharacter(edit(editing, { kind: 'undo' })) };
    case '.':
      return repeat(vi, editing);
    case 'k':
      return { vi, editing, request: 'history-back' };
    case 'j':
      return { vi, editing, request: 'history-forth' };
    case '/':
      return { vi, editing, request: 'search' };
    default:
      return { vi, editing };
  }
}

/** Executes a shorthand as its operator and motion; `.` repeats the shorthand. */
function runShorthand(vi: ViState, editing: Editing, keys: string, same: string): ViStep {
  const step = runCommand(vi, editing, same) ?? { vi, editing };
  const { recording, lastChange } = step.vi;
  if (recording !== undefined)
    return { ...step, vi: { ...step.vi, recording: { ...recording, keys } } };
  const change = lastChange === vi.lastChange ? lastChange : { keys, typed: [] };
  return { ...step, vi: { ...step.vi, lastChange: change } };
}

function paste(vi: ViState, editing: Editing, keys: string, from: number, count: number): ViStep {
  if (editing.killed === '') return { vi, editing };
  const text = editing.line.before + editing.line.after;
  const typed = editing.killed.repeat(Math.min(count, 100));
  const line = { before: text.slice(0, from) + typed, after: text.slice(from) };
  const pasted = edit(editing, { kind: 'set', line });
  return changed(vi, onCharacter(edit(pasted, { kind: 'left' })), keys);
}

function swapCase(vi: ViState, editing: Editing, keys: string, count: number): ViStep {
  const { before, after } = editing.line;
  const end = moveBy(before + after, before.length, 'l', count)?.to ?? before.length;
  const length = end - before.length;
  if (length === 0) return { vi, editing };
  const swapped = Array.from(after.slice(0, length), (one) =>
    one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase(),
  ).join('');
  const line = { before: before + swapped, after: after.slice(length) };
  return changed(vi, onCharacter(edit(editing, { kind: 'set', line })), keys);
}

function repeat(vi: ViState, editing: Editing): ViStep {
  const { lastChange } = vi;
  if (lastChange === undefined) return { vi, editing };
  const begun = runCommand(vi, editing, lastChange.keys) ?? { vi, editing };
  if (begun.vi.mode === 'normal') return begun;
  const typed = lastChange.typed.reduce(edit, begun.editing);
  const left = leaveInsert({ ...begun.vi, recording: undefined }, typed);
  return { ...left, vi: { ...left.vi, lastChange } };
}

function insertMode(vi: ViState, editing: Editing, keys: string): ViStep {
  return { vi: { ...vi, mode: 'insert', recording: { keys, typed: [] } }, editing };
}

function changed(vi: ViState, editing: Editing, keys: string): ViStep {
  return { vi: { ...vi, lastChange: { keys, typed: [] } }, editing };
}

function at(editing: Editing, text: string, to: number): Editing {
  return { ...editing, line: { before: text.slice(0, to), after: text.slice(to) } };
}

/** In normal mode the cursor is on a character, not after the last one. */
function onCharacter(editing: Editing): Editing {
  const { before, after } = editing.line;
  if (after !== '' || before === '') return editing;
  return at(editing, before, back(before, before.length));
}
