import { firstGrapheme } from '../editor/graphemes.ts';
import { widthOf } from '../../text/width.ts';

/**
 * A harmless text in lines of at most `width` cells, broken at blanks where there are some; lines
 * after the first are indented.
 */
export function wrapText(text: string, width: number, indent = ''): string[] {
  return text.split('\n').flatMap((line) => wrapLine(line, width, indent));
}

function wrapLine(text: string, width: number, indent: string): string[] {
  if (widthOf(text) <= width || width < 4) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<=\s)/)) {
    if (widthOf(line) + widthOf(word.trimEnd()) <= width) {
      line += word;
      continue;
    }
    if (line.trim() !== '') {
      lines.push(line.trimEnd());
      line = indent;
    }
    line += word;
    // Only the head of the rest is measured: a pasted word may be a thousand lines long.
    let margin = '';
    for (;;) {
      const head = headOf(line, width - margin.length);
      if (head.length >= line.trimEnd().length) break;
      lines.push(margin + head);
      line = line.slice(head.length);
      margin = indent;
    }
    line = margin + line;
  }
  if (line.trim() !== '') lines.push(line.trimEnd());
  return lines;
}

/** As much of the start as fits; at least one character. */
function headOf(text: string, width: number): string {
  let head = '';
  let used = 0;
  while (head.length < text.length) {
    const next = firstGrapheme(text.slice(head.length));
    used += widthOf(next);
    if (used > width && head !== '') return head.slice(0, breakIn(head));
    head += next;
  }
  return head;
}

/** Fingerprints, paths and lists are broken behind a separator when there is one near the end. */
function breakIn(head: string): number {
  const [, kept] = /^(.*[:,;/])[^:,;/]{1,8}$/su.exec(head) ?? [];
  return kept === undefined || kept.trim() === '' ? head.length : kept.length;
}
