import { graphemeClusters, wholeCharacters } from '../../text/visible.ts';

/** Longer clusters are malicious; cutting inside one keeps every step fast. */
const LONGEST = 256;
/** Units segmented at once: faster than one cluster at a time. */
const BLOCK = 1024;

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
  let at = 0;
  while (at < text.length) {
    if (
      isAlone(text.charCodeAt(at)) &&
      (at + 1 === text.length || isAlone(text.charCodeAt(at + 1)))
    ) {
      yield text.charAt(at++);
      continue;
    }
    const block = wholeCharacters(text.slice(at), BLOCK);
    const isEnd = at + block.length === text.length;
    for (const { segment, index } of graphemeClusters(block)) {
      // The cluster may continue after the block.
      if (!isEnd && index >= BLOCK - LONGEST) break;
      yield segment;
      at += segment.length;
    }
  }
}

/** All user-perceived characters, last to first. */
export function* graphemesBack(text: string): Generator<string> {
  let end = text.length;
  while (end > 0) {
    if (isAlone(text.charCodeAt(end - 1)) && (end === 1 || isAlone(text.charCodeAt(end - 2)))) {
      yield text.charAt(--end);
      continue;
    }
    let from = Math.max(0, end - BLOCK);
    if (from > 0 && isLowHalf(text.charCodeAt(from))) from--;
    const block = Array.from(graphemeClusters(text.slice(from, end)));
    // The first clusters may begin before the block.
    const whole = from === 0 ? block : block.filter(({ index }) => index >= LONGEST);
    for (const { segment } of (whole.length > 0 ? whole : block).reverse()) {
      yield segment;
      end -= segment.length;
    }
  }
}

/** Latin letters, digits and signs, and Han characters, never join each other (UAX 29); CR does. */
function isAlone(code: number): boolean {
  return (code < 0x300 && code !== 0x0d) || (code >= 0x4e00 && code <= 0x9fff);
}

function isLowHalf(code: number): boolean {
  return (code & 0xfc00) === 0xdc00;
}
