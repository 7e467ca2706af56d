import { UsageError } from '../errors.ts';

/** One word of a line without its quotes, and its position. */
export interface Word {
  readonly text: string;
  /** UTF-16 units from 0; `end` is after the last character, quotes included. */
  readonly start: number;
  readonly end: number;
  /** Begins with the value of a variable, so it is never an option. */
  readonly isValue?: true;
  /** From the line of an alias: options behind the alias override it. */
  readonly isSaved?: true;
}

/** The value for the text inside `${…}`, which begins at `column`. Throws a `UsageError`. */
export type ValueOf = (inner: string, column: number) => string;

interface ParsedLine {
  readonly words: readonly Word[];
  /** The quote or backslash that is still open at the end, and its position. */
  readonly open: { readonly mark: '"' | "'" | '\\'; readonly column: number } | undefined;
}

/**
 * Splits a line into words: '…' is literal, in "…" a backslash escapes `"` and `\`, outside any character; `#` begins a
 * comment. Never throws without `valueOf`, which replaces `${…}` outside of '…' without splitting the word.
 */
export function parseLine(line: string, valueOf?: ValueOf): ParsedLine {
  const words: Word[] = [];
  let text = '';
  let start: number | undefined;
  let isValue = false;
  let open: ParsedLine['open'];
  let at = 0;

  const endWord = (): void => {
    if (start !== undefined) words.push({ text, start, end: at, ...(isValue && { isValue }) });
    text = '';
    start = undefined;
    isValue = false;
  };

  for (; at < line.length; at += 1) {
    const mark = line.charAt(at);
    if (/\s/.test(mark)) {
      endWord();
    } else if (mark === '#' && start === undefined) {
      return { words, open: undefined };
    } else if (mark === "'") {
      start ??= at;
      const close = line.indexOf("'", at + 1);
      if (close === -1) open = { mark, column: at };
      text += line.slice(at + 1, close === -1 ? undefined : close);
      at = close === -1 ? line.length : close;
    } else if (mark === '"') {
      start ??= at;
      const quoted = readDoubleQuoted(line, at + 1, valueOf);
      isValue ||= text === '' && quoted.isValue;
      if (!quoted.isClosed) open = { mark, column: at };
      text += quoted.text;
      at = quoted.end;
    } else if (mark === '\\') {
      start ??= at;
      if (at + 1 === line.length) open = { mark, column: at };
      at += 1;
      text += line.charAt(at);
    } else {
      start ??= at;
      const variable = readVariable(line, at, valueOf);
      isValue ||= text === '' && variable !== undefined;
      const plain = variable?.value ?? plainAt(line, at);
      text += plain;
      at = variable?.end ?? at + plain.length - 1;
    }
  }
  at = Math.min(at, line.length);
  endWord();
  return { words, open };
}

/** Same as `parseLine`, for a line to run: an open quote is an error. */
export function parseCompleteLine(line: string, valueOf?: ValueOf): readonly Word[] {
  const { words, open } = parseLine(line, valueOf);
  if (open !== undefined) {
    const what =
      open.mark === '\\'
        ? 'a backslash with nothing after it'
        : `the quote ${open.mark} is not closed`;
    throw new UsageError(what, { column: open.column });
  }
  return words;
}

/** The words of argv, at their positions in the line that `quoteLine` makes of them. */
export function wordsOfArgv(argv: readonly string[]): readonly Word[] {
  let start = 0;
  return argv.map((text) => {
    const word = { text, start, end: start + quoteWord(text).length };
    start = word.end + 1;
    return word;
  });
}

export function quoteLine(words: readonly string[]): string {
  return words.map(quoteWord).join(' ');
}

/** The word as it must be typed to be read back as `text`. */
export function quoteWord(text: string): string {
  if (text !== '' && !/[\s'"\\#]/.test(text)) return text;
  if (!text.includes("'")) return `'${text}'`;
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** A line of quoted words. If one begins with a dash, it comes last: after `--` it is no option. */
export function lineOf(
  command: string,
  words: readonly string[],
  options: readonly string[] = [],
): string {
  const hasDash = words.some((word) => /^['"]?-/.test(word));
  const parts = hasDash ? [...options, '--', ...words] : [...words, ...options];
  return [command, ...parts].filter((part) => part !== '').join(' ');
}

/** `field=value` with quotes around the value only, as a person would type it, unless the field needs them. */
export function quoteAssignment(field: string, value: string): string {
  if (field !== '' && quoteWord(field) !== field) return quoteWord(`${field}=${value}`);
  return `${field}=${value === '' ? '' : quoteWord(value)}`;
}

/** Whether `field=value` sets this field: it is no option, no `field:=JSON`, and its name ends at the first `=`. */
export function isAssignable(field: string): boolean {
  return !/^-|=|:$/.test(field);
}

/** The character at a position, and all after it that mean nothing but themselves. */
function plainAt(line: string, at: number): string {
  PLAIN.lastIndex = at;
  return PLAIN.exec(line)?.[0] ?? '';
}

const PLAIN = /.[^\s'"\\$]*/sy;

function readDoubleQuoted(
  line: string,
  from: number,
  valueOf: ValueOf | undefined,
): { text: string; end: number; isClosed: boolean; isValue: boolean } {
  const escapable = valueOf === undefined ? ['"', '\\'] : ['"', '\\', '$'];
  let text = '';
  let isValue = false;
  let at = from;
  for (; at < line.length; at += 1) {
    const mark = line.charAt(at);
    if (mark === '"') return { text, end: at, isClosed: true, isValue };
    const next = line.charAt(at + 1);
    if (mark === '\\' && escapable.includes(next)) {
      text += next;
      at += 1;
    } else {
      const variable = readVariable(line, at, valueOf);
      isValue ||= text === '' && variable !== undefined;
      text += variable?.value ?? mark;
      at = variable?.end ?? at;
    }
  }
  return { text, end: line.length, isClosed: false, isValue };
}

/** The variable at a position of a line, and the position of its last character. */
function readVariable(
  line: string,
  at: number,
  valueOf: ValueOf | undefined,
): { value: string; end: number } | undefined {
  if (valueOf === undefined || !line.startsWith('${', at)) return undefined;
  const end = line.indexOf('}', at);
  if (end === -1) throw new UsageError('the variable is not closed with a }', { column: at });
  return { value: valueOf(line.slice(at + 2, end), at), end };
}

/** The words of a line by the argument names of the verb. */
export class Arguments<Option extends string = never> {
  /** The column for an error about a missing word: one behind the last. */
  readonly end: number;
  readonly #words: ReadonlyMap<string, readonly Word[]>;
  readonly #columns: ReadonlyMap<Option, number>;

  /** @param columns of the values of options */
  constructor(
    words: ReadonlyMap<string, readonly Word[]>,
    end: number,
    columns: ReadonlyMap<Option, number> = new Map(),
  ) {
    this.#words = words;
    this.end = end;
    this.#columns = columns;
  }

  /** The column of the value of an option, for an error about it; undefined if the line does not give it. */
  columnOf(option: Option): number | undefined {
    return this.#columns.get(option);
  }

  words(name: string): readonly Word[] {
    return this.#words.get(name) ?? [];
  }

  all(name: string): readonly string[] {
    return this.words(name).map(({ text }) => text);
  }

  optional(name: string): string | undefined {
    return this.words(name)[0]?.text;
  }

  /** A required argument; `bind` has checked that it is present. */
  required(name: string): string {
    const text = this.optional(name);
    if (text === undefined) throw new Error(`the spec has no required argument ${name}`);
    return text;
  }
}
