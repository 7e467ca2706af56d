import { firstGrapheme, lastGrapheme } from './graphemes.ts';

/** A character search in the line: `f;` goes onto it, `t;` stops before it, capitals go backwards. */
export interface Find {
  readonly kind: 'f' | 'F' | 't' | 'T';
  readonly character: string;
}

/** Target of a motion in UTF-16 units; `isInclusive`: an operator includes the character there. */
export interface Moved {
  readonly to: number;
  readonly isInclusive: boolean;
}

/** A motion of vi over one line; undefined if the character is not found. */
export function moveBy(
  text: string,
  at: number,
  motion: string,
  count: number,
  find?: Find,
): Moved | undefined {
  const step = (by: (from: number) => number): number => {
    let to = at;
    for (let time = 0; time < count; time++) to = by(to);
    return to;
  };
  const exclusive = (to: number): Moved => ({ to, isInclusive: false });
  switch (motion) {
    case 'h':
      return exclusive(step((from) => back(text, from)));
    case 'l':
      return exclusive(step((from) => forward(text, from)));
    case '0':
      return exclusive(0);
    case '^':
      return exclusive(text.length - text.trimStart().length);
    case '$':
      return exclusive(text.length);
    case 'w':
    case 'W':
      return exclusive(step((from) => wordForward(text, from, motion === 'W')));
    case 'b':
    case 'B':
      return exclusive(step((from) => wordBack(text, from, motion === 'B')));
    case 'e':
    case 'E':
      return { to: step((from) => wordEnd(text, from, motion === 'E')), isInclusive: true };
    default:
      return find && found(text, at, find, count);
  }
}

/** One character to the right. */
export function forward(text: string, at: number): number {
  return at + firstGrapheme(text.slice(at)).length;
}

/** One character to the left. */
export function back(text: string, at: number): number {
  return at - lastGrapheme(text.slice(0, at)).length;
}

/** `cw` changes a word and leaves the blanks after it. */
export function endOfWords(text: string, at: number, count: number, isBig: boolean): number {
  let to = at;
  for (let time = 0; time < count; time++) {
    if (time > 0) to = skip(text, to, 'blank', isBig);
    to = skip(text, to, kindAt(text, to, isBig), isBig);
  }
  return to;
}

type Kind = 'blank' | 'word' | 'sign' | 'end';

function kindAt(text: string, at: number, isBig: boolean): Kind {
  const character = firstGrapheme(text.slice(at));
  if (character === '') return 'end';
  if (/^\s/u.test(character)) return 'blank';
  return isBig || /^[\p{L}\p{N}_]/u.test(character) ? 'word' : 'sign';
}

function skip(text: string, from: number, kind: Kind, isBig: boolean): number {
  let at = from;
  while (at < text.length && kindAt(text, at, isBig) === kind) at = forward(text, at);
  return at;
}

function wordForward(text: string, from: number, isBig: boolean): number {
  return skip(text, skip(text, from, kindAt(text, from, isBig), isBig), 'blank', isBig);
}

function wordEnd(text: string, from: number, isBig: boolean): number {
  const start = skip(text, forward(text, from), 'blank', isBig);
  if (start >= text.length) return back(text, text.length);
  return back(text, skip(text, start, kindAt(text, start, isBig), isBig));
}

function wordBack(text: string, from: number, isBig: boolean): number {
  let at = from;
  while (at > 0 && kindAt(text, back(text, at), isBig) === 'blank') at = back(text, at);
  if (at === 0) return 0;
  const kind = kindAt(text, back(text, at), isBig);
  while (at > 0 && kindAt(text, back(text, at), isBig) === kind) at = back(text, at);
  return at;
}

function found(
  text: string,
  at: number,
  { kind, character }: Find,
  count: number,
): Moved | undefined {
  const isForward = kind === 'f' || kind === 't';
  let to = at;
  for (let time = 0; time < count; time++) {
    const next = isForward
      ? text.indexOf(character, forward(text, to))
      : text.slice(0, to).lastIndexOf(character);
    if (next === -1) return undefined;
    to = next;
  }
  const stop = kind === 't' ? back(text, to) : kind === 'T' ? forward(text, to) : to;
  return { to: stop, isInclusive: isForward };
}
