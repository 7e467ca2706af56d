/** Made when first used: it takes as long as all the rest of a start, and most texts are ASCII. */
let segmenter: Intl.Segmenter | undefined;

/** What a reader takes for single characters, of one or more code points each. */
export function graphemeClusters(text: string): Intl.Segments {
  return (segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })).segment(text);
}
