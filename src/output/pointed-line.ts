import { visible } from '../visible.ts';
import { cut, widthOf } from './width.ts';

const INDENT = '  ';

/** What was typed, secrets hidden, and how much room there is to show it. */
export interface TypedLine {
  readonly text: string;
  readonly columns: number;
  /** A mark below the line says nothing then: the column is said in words. */
  readonly isReadAloud: boolean;
}

/** The line, and below it a `^` at `column` (UTF-16 units from 0); of a long line what is around it. */
export function pointedLine(
  { text, columns }: Pick<TypedLine, 'text' | 'columns'>,
  column: number,
): [string, string] {
  const room = Math.max(20, columns - INDENT.length);
  const start = Math.max(0, column - Math.floor(room / 2));
  const isCut = start > 0 && text.length > room;
  const from = isCut ? start : 0;
  // As long as what is shown can be: the rest of a megabyte needs no look.
  const before = (isCut ? '…' : '') + visible(text.slice(from, column).padEnd(column - from));
  const shown = cut(before + visible(text.slice(column, column + room)), room);
  return [INDENT + shown.trimEnd(), `${INDENT}${' '.repeat(widthOf(before))}^`];
}
