import { graphemes, graphemesBack } from './graphemes.ts';

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
  let end = text.length;
  for (const grapheme of graphemesBack(text)) {
    if (!isSkipped(grapheme)) break;
    end -= grapheme.length;
  }
  return text.slice(0, end);
}

function skip(text: string, isSkipped: (grapheme: string) => boolean): string {
  let from = 0;
  for (const grapheme of graphemes(text)) {
    if (!isSkipped(grapheme)) break;
    from += grapheme.length;
  }
  return text.slice(from);
}

/** How much of the end of a text is no word. */
export function trailing(text: string): number {
  return text.length - skipBack(text, (grapheme) => !isPartOfWord(grapheme)).length;
}
