import {
  characterWidth,
  graphemeClusters,
  isNarrow,
  isWithin,
  UNITS_OF_CELL,
  wholeCharacters,
} from './visible.ts';

/** A SHA-256 fingerprint at the end of a text in two lines of 16 bytes, to be compared by eye, if they fit. */
export function splitFingerprint(text: string, width: number): string {
  const [, head = '', first = '', rest] = FINGERPRINT.exec(text) ?? [];
  if (rest === undefined || head.length + first.length > width) return text;
  return `${head}${first}\n${' '.repeat(head.length)}${rest}`;
}

const FINGERPRINT = /^(.*?)((?:[\dA-F]{2}:){16})((?:[\dA-F]{2}:){15}[\dA-F]{2})$/;

/** At most `width` cells each, at blanks if possible; lines after the first are indented. */
export function wrapText(text: string, width: number, indent = ''): string[] {
  return text.split('\n').flatMap((line) => wrapLine(line, width, indent));
}

function wrapLine(text: string, width: number, indent: string): string[] {
  if (width < 4 || width === Infinity || isWithin(text, width)) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<=\s)/)) {
    if (isWithin(line + word.trimEnd(), width)) {
      line += word;
      continue;
    }
    if (line.trim() !== '') {
      lines.push(line.trimEnd());
      line = indent;
    }
    line += word;
    // Measures only the head of the rest: a pasted word may be a thousand lines long.
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
  const start = wholeCharacters(text, (width + 2) * UNITS_OF_CELL);
  const breakAt = (end: number): string => start.slice(0, breakIn(start.slice(0, end)));
  // What stands behind the last character may join it.
  if (width > 0 && isNarrow(start.slice(0, width + 1))) {
    return text.length > width ? breakAt(width) : text;
  }
  let [end, used] = [0, 0];
  for (const { segment } of graphemeClusters(start)) {
    used += characterWidth(segment);
    if (used > width && end > 0) return breakAt(end);
    end += segment.length;
  }
  return start;
}

/** Breaks fingerprints, paths and lists after a separator near the end, if there is one. */
function breakIn(head: string): number {
  const [, kept] = /^(.*[:,;/])[^:,;/]{1,8}$/su.exec(head) ?? [];
  return kept === undefined || kept.trim() === '' ? head.length : kept.length;
}
