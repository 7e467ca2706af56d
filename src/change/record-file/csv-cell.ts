import { formText } from '../../device/value-text.ts';
import type { Value } from '../../device/record.ts';
import { hasUnsafe, replaceUnsafe } from '../../visible.ts';

/**
 * How a value is written in a cell of CSV, so that it comes back the very same and harms nobody between:
 *
 * - What a spreadsheet would run as a formula (`=1+1`, `+49…`, `@x`, `-x`), and text that this file would
 *   take for something else (`[…`, `{…`, `"…`), has one apostrophe in front. Text that begins with
 *   apostrophes before one of these gets one more; any other (`'s-Gravenhage`) stays as it is.
 * - Text with invisible characters, line breaks too, is a JSON string: `"a\u001b[31m"`.
 * - Lists and nested values are JSON. `null`, no value and the empty text are an empty cell.
 */
export function encodeCell(value: Value | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return encodeText(value);
  return replaceUnsafe(formText(value), escaped);
}

/** Formulas also behind blanks, and with the wide signs of Asian keyboards. */
const NEEDS_MARK = /^'*(?:\s*[=+\-@＝＋－＠]|[[{"])/;
const HAS_MARK = /^'+(?:\s*[=+\-@＝＋－＠]|[[{"])/;

function encodeText(text: string): string {
  if (hasUnsafe(text)) {
    return `"${replaceUnsafe(text.replace(/["\\]/g, '\\$&'), escaped)}"`;
  }
  return NEEDS_MARK.test(text) ? `'${text}` : text;
}

export interface Cell {
  readonly text: string;
  /** It says of itself that it is text, whatever it looks like. */
  readonly isText: boolean;
}

/** What stands in a cell, as `encodeCell` wrote it or somebody typed it. */
export function decodeCell(cell: string): Cell {
  if (HAS_MARK.test(cell)) return { text: cell.slice(1), isText: true };
  const isString = cell.startsWith('"') && cell.endsWith('"') && cell.includes('\\u');
  const text = isString ? stringIn(cell) : undefined;
  return text === undefined ? { text: cell, isText: false } : { text, isText: true };
}

function stringIn(json: string): string | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value : undefined;
  } catch {
    // Typed by hand: it is what it looks like.
    return undefined;
  }
}

function escaped(character: string): string {
  let result = '';
  for (let index = 0; index < character.length; index += 1) {
    result += '\\u' + character.charCodeAt(index).toString(16).padStart(4, '0');
  }
  return result;
}
