/** The words of a line up to the cursor, as a shell of Unix reads them; nothing is expanded. */
export interface SplitLine {
  readonly before: readonly string[];
  /** The word at the cursor, quotes taken off. */
  readonly typed: string;
  /** Its characters, with where each stands in `typed` and whether it is quoted. */
  readonly marks: readonly Mark[];
  /** The quote that is still open at the cursor. */
  readonly open: Quote | undefined;
}

export type Quote = '"' | "'";

interface Mark {
  readonly character: string;
  /** How much of `typed` stands before it. */
  readonly at: number;
  readonly isQuoted: boolean;
}

/** Which characters a backslash escapes inside quotes. */
export interface Quoting {
  readonly inSingle: string;
  readonly inDouble: string;
}

export function splitLine(line: string, quoting: Quoting): SplitLine {
  const before: string[] = [];
  let typed = '';
  let marks: Mark[] = [];
  let open: Quote | undefined;
  let hasWord = false;
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    const next = line.charAt(at + 1);
    const escapable = open === "'" ? quoting.inSingle : quoting.inDouble;
    const isEscape = character === '\\' && (open === undefined || escapable.includes(next));
    if (open === undefined && /\s/.test(character)) {
      if (hasWord) before.push(typed);
      typed = '';
      marks = [];
      hasWord = false;
      continue;
    }
    hasWord = true;
    if (isEscape && next !== '') {
      at += 1;
      marks.push({ character: next, at: typed.length, isQuoted: true });
      typed += next;
    } else if (character === open) {
      open = undefined;
    } else if (open === undefined && (character === '"' || character === "'")) {
      open = character;
      marks.push({ character, at: typed.length, isQuoted: false });
    } else if (!isEscape) {
      marks.push({ character, at: typed.length, isQuoted: open !== undefined });
      typed += character;
    }
  }
  return { before, typed, marks, open };
}

/** Without what stands before the arguments: variables for this call, and the program. */
export function argumentsOf(words: readonly string[]): readonly string[] {
  const program = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  return program === -1 ? [] : words.slice(program + 1);
}
