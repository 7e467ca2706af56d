import { graphemeClusters, isPlainAscii } from '../../text/visible.ts';

/** A longer cluster is an attack. It is cut inside, so that every step is fast. */
const LONGEST = 64;
/** The number of UTF-16 units that are segmented at once, which is faster than one cluster at a time. */
const BLOCK = 256;

/** The first user-perceived character of `text`; '' if there is none. */
export function firstGrapheme(text: string): string {
  const [first = ''] = graphemes(text);
  return first;
}

/** The last user-perceived character of `text`; '' if there is none. */
export function lastGrapheme(text: string): string {
  const [last = ''] = graphemesBack(text);
  return last;
}

/** All user-perceived characters, first to last. */
export function* graphemes(text: string): Generator<string> {
  if (isPlainAscii(text)) yield* text;
  else for (const { segment } of graphemeClusters(text)) yield segment;
}

/** All user-perceived characters, last to first. */
export function* graphemesBack(text: string): Generator<string> {
  let end = text.length;
  while (end > 0) {
    let from = Math.max(0, end - BLOCK);
    if (from > 0 && isLowHalf(text.charCodeAt(from))) from--;
    const start = end;
    for (const grapheme of [...graphemes(text.slice(from, end))].reverse()) {
      // The first clusters may begin before the block.
      const isWhole = from === 0 || end === start || end - grapheme.length >= from + LONGEST;
      if (!isWhole) break;
      yield grapheme;
      end -= grapheme.length;
    }
  }
}

function isLowHalf(code: number): boolean {
  return (code & 0xfc00) === 0xdc00;
}
