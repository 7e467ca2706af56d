import { cut, fit, widthOf } from '../output/width.ts';
import type { Completion } from '../shell/completion/complete.ts';
import { visible } from '../visible.ts';

/** More are no help, read one after the other. */
const MOST = 40;

/** What Tab makes of a line: what all proposals have in common goes into it, several are listed. */
export function tabbed(
  line: string,
  { start, proposals }: Completion,
  columns: number,
): { line: string; listing: readonly string[] } {
  const [first, ...others] = proposals;
  const before = line.slice(0, start);
  if (first === undefined) return { line, listing: ['  (nothing to complete)'] };
  if (others.length === 0) return { line: before + first.insert, listing: [] };
  const common = others.reduce((text, { insert }) => commonStart(text, insert), first.insert);
  const longer = before + common;
  const shown = proposals.slice(0, MOST).map(({ text, summary = '' }) => ({
    text: visible(text),
    summary: visible(summary),
  }));
  const width = Math.min(Math.max(...shown.map(({ text }) => widthOf(text))), columns >> 1);
  const rest = proposals.length - shown.length;
  return {
    line: longer.length > line.length && longer.startsWith(line) ? longer : line,
    listing: [
      ...shown.map(({ text, summary }) =>
        cut(`  ${summary === '' ? text : `${fit(text, width)}  ${summary}`}`, columns - 1),
      ),
      ...(rest > 0 ? [`  … ${rest} more`] : []),
    ],
  };
}

function commonStart(a: string, b: string): string {
  let end = 0;
  while (end < a.length && a[end] === b[end]) end += 1;
  return a.slice(0, end);
}
