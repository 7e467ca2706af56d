import type { Theme, Tone } from './theme.ts';

/** Text with some of its characters in another tone than the rest; `letters` in UTF-16 units from 0, ascending. */
export function stressed(
  theme: Theme,
  tone: Tone,
  text: string,
  letters: readonly number[],
  rest: Tone = 'plain',
): string {
  let styled = '';
  let from = 0;
  for (let at = 0; at < letters.length; at += 1) {
    const start = letters[at] ?? text.length;
    let end = start + 1;
    while (letters[at + 1] === end) {
      at += 1;
      end += 1;
    }
    styled += theme(rest, text.slice(from, start)) + theme(tone, text.slice(start, end));
    from = end;
  }
  return styled + theme(rest, text.slice(from));
}
