import { visible } from '../visible.ts';
import type { Style } from './style.ts';
import { alignedLines } from './table-text.ts';
import { widthOf } from './width.ts';

/**
 * The Markdown of our own reports as a terminal shows it: headings with a rule below, tables aligned,
 * no signs of Markdown. Rows of two cells, a name and what it is, are never cut.
 */
export function markdownLines(markdown: string, columns: number, style: Style): string[] {
  const blocks: string[][] = [];
  for (const line of markdown.replace(/\n+$/, '').split('\n')) {
    const last = blocks.at(-1);
    if (line.startsWith('|') && last?.[0]?.startsWith('|') === true) last.push(line);
    else blocks.push([line]);
  }
  return blocks.flatMap((lines) => {
    const [line = ''] = lines;
    return line.startsWith('|') ? tableLines(lines, columns, style) : textLines(line, style);
  });
}

function textLines(line: string, style: Style): string[] {
  const [, level = '', title] = /^(#{1,6}) (.*)$/.exec(line) ?? [];
  if (title === undefined) return [plainText(line)];
  const text = plainText(title);
  const heading = style('heading', text);
  return level.length > 2 ? [heading] : [heading, '─'.repeat(widthOf(text))];
}

/** The first line names the columns, the second one parts it from the rows. */
function tableLines(lines: readonly string[], columns: number, style: Style): string[] {
  const [head = [], , ...rows] = lines.map((line) =>
    line
      .replace(/^\| | \|$/g, '')
      .split(' | ')
      .map(plainText),
  );
  const titles = head.map((title, index) => ({
    title: title.toUpperCase(),
    role: index === 0 ? ('key' as const) : ('field' as const),
  }));
  const isPairs = titles.length === 2;
  const [header = '', ...aligned] = alignedLines(
    { columns: titles, rows },
    isPairs ? Infinity : columns,
    style,
  );
  return isPairs ? aligned : [header, ...aligned];
}

/** Without the signs of Markdown; what only looks like one stands there as a character reference. */
function plainText(text: string): string {
  const bare = text.replaceAll('**', '');
  return visible(bare.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code))));
}
