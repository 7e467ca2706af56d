import type { Candidate } from '../../grammar/spec.ts';

/** The shells that can be taught to complete the words of devsh. */
export const SHELL_NAMES = ['bash', 'zsh', 'fish', 'powershell'] as const;

/** A shell that completes the words of devsh: what it asks, and how it wants the answer. */
export interface CompletionShell {
  readonly name: (typeof SHELL_NAMES)[number];
  /** Set up for this user, for good; lines to be read by a person. */
  readonly install: readonly string[];
  /** What the shell is to load. It calls `devsh __complete NAME …`, and runs nothing that comes back. */
  readonly script: string;
  /** Understands the arguments behind `devsh __complete NAME`. */
  read(args: readonly string[]): Asked;
}

/** One word to be completed. */
export interface Asked {
  /** The words before it, behind the name of the program, without their quotes. */
  readonly before: readonly string[];
  /** As far as it is typed, quotes taken off. */
  readonly typed: string;
  /** The candidates as the script of this shell reads them. */
  write(answer: Answer): string;
}

export interface Answer {
  readonly candidates: readonly Candidate[];
  /** The name of a file may stand here: the shell knows these better. */
  readonly takesFile: boolean;
}

/** Lines for a script: first what is to be done, then a candidate each. */
export function linesOf(words: readonly string[], lines: readonly string[]): string {
  return [words.join(' '), ...lines].map((line) => `${line}\n`).join('');
}
