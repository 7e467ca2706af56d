import stringWidth from 'string-width';
import { isPlainAscii } from '../../ascii.ts';
import { graphemeClusters } from '../../grapheme-clusters.ts';
import { isNarrow } from '../../output/width.ts';

/** A line made fit for the screen: only text and colours, no wider than asked. */
export interface ClippedLine {
  readonly text: string;
  /** Cells that it fills. */
  readonly width: number;
}

/** Select Graphic Rendition: the one control sequence that may reach the screen. */
const SGR = /(\x1b\[[\d;:]*m)/;
const CONTROLS = /[\x00-\x1f\x7f-\x9f]/g;

/**
 * Cuts a line to `columns` cells, never through a wide character, keeps its colours and drops every
 * other control character: whatever slipped through above, the terminal is not steered by data.
 */
export function clipLine(line: string, columns: number): ClippedLine {
  if (isPlainAscii(line)) {
    const text = line.length <= columns ? line : line.slice(0, columns);
    return { text, width: text.length };
  }
  let text = '';
  let width = 0;
  let isFull = false;
  for (const [index, part] of line.split(SGR).entries()) {
    if (index % 2 === 1) {
      text += part;
    } else if (!isFull) {
      const clipped = clipText(part.replace(CONTROLS, ''), columns - width);
      text += clipped.text;
      width += clipped.width;
      isFull = clipped.isCut;
    }
  }
  return { text: line.includes('\x1b') ? text + '\x1b[m' : text, width };
}

function clipText(text: string, columns: number): ClippedLine & { readonly isCut: boolean } {
  if (isNarrow(text)) {
    const kept = text.slice(0, columns);
    return { text: kept, width: kept.length, isCut: kept.length < text.length };
  }
  let width = 0;
  for (const { segment, index } of graphemeClusters(text)) {
    const next = width + stringWidth(segment);
    if (next > columns) return { text: text.slice(0, index), width, isCut: true };
    width = next;
  }
  return { text, width, isCut: false };
}
