import type { Word } from '../../text/words.ts';

/** The words of a line by the argument names of the verb. */
export class Arguments {
  /** The column for an error about a missing word: one behind the last. */
  readonly end: number;
  readonly #words: ReadonlyMap<string, readonly Word[]>;

  constructor(words: ReadonlyMap<string, readonly Word[]>, end: number) {
    this.#words = words;
    this.end = end;
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
