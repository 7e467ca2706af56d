import { UsageError } from '../../errors.ts';
import { parseLine, type ValueOf, type Word } from '../grammar/parse.ts';

/** A place in a file, both counted from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** One line of a script, with the lines that a backslash at the end has joined to it. */
export interface ScriptLine {
  readonly text: string;
  /** Where each of its lines begins in `text`, in UTF-16 units from 0. */
  readonly parts: readonly { readonly line: number; readonly start: number }[];
}

/** The lines of a script; those that are empty or only a comment are left out by `wordsOf`. */
export function scriptLines(text: string): readonly ScriptLine[] {
  const lines: ScriptLine[] = [];
  let open: ScriptLine | undefined;
  for (const [index, source] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    const before = open?.text ?? '';
    const parts = [...(open?.parts ?? []), { line: index + 1, start: before.length }];
    const joined = before + source;
    // The last character escapes nothing, as the line ends there: the next one belongs to it.
    const isOpen = parseLine(joined).open?.column === joined.length - 1 && joined.endsWith('\\');
    if (isOpen) {
      open = { text: joined.slice(0, -1), parts };
    } else {
      lines.push({ text: joined, parts });
      open = undefined;
    }
  }
  if (open !== undefined) lines.push({ ...open, text: `${open.text}\\` });
  return lines;
}

/** Where a column of the joined text, from 0, stands in the file. */
export function placeOf({ parts }: ScriptLine, column = 0): Place {
  const part = parts.findLast(({ start }) => start <= column) ?? parts[0];
  return { line: part?.line ?? 1, column: column - (part?.start ?? 0) + 1 };
}

/** The words of a line, the values of variables in their places. Throws a `UsageError`. */
export function wordsOf({ text }: ScriptLine, valueOf: ValueOf): readonly Word[] {
  const { words, open } = parseLine(text, valueOf);
  if (open === undefined) return words;
  const what =
    open.mark === '\\' ? 'a backslash escapes nothing' : `the quote ${open.mark} is not closed`;
  throw new UsageError(what, { column: open.column });
}
