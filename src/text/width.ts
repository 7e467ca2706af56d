import stringWidth from 'string-width';

/** Latin letters, private use (`tui/terminal/render.ts`) and our signs: one cell each, none combine. */
const NARROW = /^[\x20-\x7e\xa1-\xac\xae-\u02af\ue000-\uf8ff…·•–▸›●○◌✓✗≠─↑↓←→↹⏎]*$/;

/** Whether each UTF-16 unit of the text takes one cell, so that measuring is unnecessary. */
export function isNarrow(text: string): boolean {
  return NARROW.test(text);
}

/** Terminal cells of a text, which must already be harmless (`visible`). */
export function widthOf(text: string): number {
  return isNarrow(text) ? text.length : stringWidth(text);
}

/** At most `width` cells: a longer text ends with `…`. Never cuts a character in half. */
export function cut(text: string, width: number): string {
  // Every unit takes at most two cells, so a short text needs no measuring.
  if (text.length * 2 <= width) return text;
  if (isNarrow(text)) {
    if (text.length <= width) return text;
    return width < 1 ? '' : text.slice(0, width - 1) + '…';
  }
  if (stringWidth(text) <= width) return text;
  if (width < 1) return '';
  let kept = '';
  let used = 0;
  for (const { segment } of graphemeClusters(text)) {
    used += stringWidth(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return kept + '…';
}

/** Exactly `width` cells: cut, or padded with spaces. */
export function fit(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const kept = cut(text, width);
  const padding = ' '.repeat(Math.max(0, width - widthOf(kept)));
  return align === 'left' ? kept + padding : padding + kept;
}

/** The beginning and end of a long text, with the number of characters left out between them. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const isLow = (index: number): boolean => /[\udc00-\udfff]/.test(text.charAt(index));
  let head = Math.ceil(most * 0.75);
  let tail = text.length - Math.floor(most * 0.25);
  if (isLow(head)) head -= 1;
  if (isLow(tail)) tail += 1;
  return `${text.slice(0, head)} …[${tail - head} characters]… ${text.slice(tail)}`;
}

/** Created on first use: it takes as long as the rest of a start, and most texts are ASCII. */
let segmenter: Intl.Segmenter | undefined;

/** User-perceived characters, of one or more code points each. */
export function graphemeClusters(text: string): Intl.Segments {
  return (segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })).segment(text);
}

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;

/** Only printable ASCII and spaces: one cell each, nothing to sanitize. */
export function isPlainAscii(text: string): boolean {
  return PRINTABLE_ASCII.test(text);
}
