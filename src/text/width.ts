import stringWidth from 'string-width';

/** Latin letters, private ones (`tui/terminal/line-marks.ts`) and our own signs: a cell each, and none joins. */
const NARROW = /^[\x20-\x7e\xa1-\xac\xae-\u02af\ue000-\uf8ff…·•–▸›●○◌✓✗≠─↑↓←→↹⏎]*$/;

/** Whether each UTF-16 unit of the text is one cell of its own, so that nothing needs to be measured. */
export function isNarrow(text: string): boolean {
  return NARROW.test(text);
}

/** Terminal cells that a text takes; it must already be harmless (`visible`). */
export function widthOf(text: string): number {
  return isNarrow(text) ? text.length : stringWidth(text);
}

/** At most `width` cells: what is too long ends with `…`. Never cuts a character in half. */
export function cut(text: string, width: number): string {
  // No text takes less than one unit for two cells, so a short one needs no measuring.
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

/**
 * A key or a line may be a megabyte that somebody pasted or marked: of a longer one its beginning and its
 * end, and how much lies between them.
 */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const isLow = (index: number): boolean => /[\udc00-\udfff]/.test(text.charAt(index));
  let head = Math.ceil(most * 0.75);
  let tail = text.length - Math.floor(most * 0.25);
  if (isLow(head)) head -= 1;
  if (isLow(tail)) tail += 1;
  return `${text.slice(0, head)} …[${tail - head} characters]… ${text.slice(tail)}`;
}

/** Made when first used: it takes as long as all the rest of a start, and most texts are ASCII. */
let segmenter: Intl.Segmenter | undefined;

/** What a reader takes for single characters, of one or more code points each. */
export function graphemeClusters(text: string): Intl.Segments {
  return (segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })).segment(text);
}

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;

/** Nothing but letters, digits and signs of ASCII, and blanks: one cell each, and nothing to be looked into. */
export function isPlainAscii(text: string): boolean {
  return PRINTABLE_ASCII.test(text);
}
