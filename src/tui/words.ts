import { firstGrapheme, lastGrapheme } from './graphemes.ts';

const isBlank = (grapheme: string): boolean => /^\s/u.test(grapheme);
const isPartOfWord = (grapheme: string): boolean => /^[\p{L}\p{N}_]/u.test(grapheme);

/** Where the word between blanks that ends `before` starts. */
export function wordStart(before: string): number {
  return skipBack(skipBack(before, isBlank), (grapheme) => !isBlank(grapheme)).length;
}

/** Where the run of letters and digits that ends `before` starts. */
export function partStart(before: string): number {
  return skipBack(
    skipBack(before, (grapheme) => !isPartOfWord(grapheme)),
    isPartOfWord,
  ).length;
}

/** Where the run of letters and digits that starts `after` ends. */
export function partEnd(after: string): number {
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

/** How much of the end of a text is no word. */
export function trailing(text: string): number {
  return text.length - skipBack(text, (grapheme) => !isPartOfWord(grapheme)).length;
}
