import { passwordSpan } from '../text/one-line.ts';
import { isSecretName, NAME_OF_VALUE, secretAsWord } from '../device/sensitive-fields.ts';
import { appendText, readBytes, writeTextAtomically } from '../os/files.ts';
import { withLock } from '../os/lock.ts';

const DEFAULT_SIZE = 1_000;

/** The lines typed at the prompt, oldest first, in a text file that only the user can read. */
export class HistoryFile {
  readonly path: string;
  readonly #size: number;

  /** @param size how many lines are kept */
  constructor(path: string, size: number = DEFAULT_SIZE) {
    this.path = path;
    this.#size = size;
  }

  async load(): Promise<string[]> {
    const lines = splitLines(await readBytes(this.path));
    return this.#size === 0 ? [] : lines.slice(-this.#size);
  }

  /** Excludes empty lines, lines with a secret, and lines that start with a space (as in bash). */
  keeps(line: string): boolean {
    const isPlain = !/^\s|^$/.test(line) && !hasControlCharacter(line);
    return this.#size > 0 && isPlain && !isSecretLine(line);
  }

  async append(line: string): Promise<void> {
    if (!this.keeps(line)) return;
    await withLock(this.path, async () => {
      await appendText(this.path, `${line}\n`);
      const lines = splitLines(await readBytes(this.path));
      // Cuts in larger steps: a full history would otherwise be rewritten for each line.
      if (lines.length < this.#size + Math.ceil(this.#size / 10) + 1) return;
      await writeTextAtomically(this.path, `${lines.slice(-this.#size).join('\n')}\n`);
    });
  }
}

/** Words as typed: a quoted part may contain spaces. */
const WORD = /(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"?|'[^']*'?|\\$)+/g;

/** Whether a line sets or compares a secret field (`password=…`), has a secret as a word (`--token …`), or contains an address with a password. */
export function isSecretLine(line: string): boolean {
  const words = line.match(WORD) ?? [];
  if (words.some((word) => passwordSpan(word.replace(/["'\\]/g, '')) !== undefined)) return true;
  // Quotes and backslashes are removed before a field is sent, so that they must not hide it here.
  const plain = line.replace(/["'\\]/g, '');
  if (secretAsWord(plain) !== undefined) return true;
  return Array.from(plain.matchAll(NAME_OF_VALUE), ([, name = '']) => name).some(isSecretName);
}

/** Skips damaged lines: a history is not worth an error. */
function splitLines(bytes: Buffer | undefined): string[] {
  const lines = (bytes?.toString('utf8') ?? '').split('\n');
  return lines.filter(
    (line) => line !== '' && !hasControlCharacter(line) && !line.includes('\ufffd'),
  );
}

function hasControlCharacter(line: string): boolean {
  return /\p{Cc}/u.test(line);
}
