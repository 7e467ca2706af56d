import type { OptionKey } from './options.ts';
import type { Word } from '../../text/words.ts';

/** The words of a line by the argument names of the verb. */
export class Arguments {
  /** The column for an error about a missing word: one behind the last. */
  readonly end: number;
  readonly #words: ReadonlyMap<string, readonly Word[]>;

  readonly #columns: ReadonlyMap<OptionKey, number>;

  /** @param columns of the values of options */
  constructor(
    words: ReadonlyMap<string, readonly Word[]>,
    end: number,
    columns: ReadonlyMap<OptionKey, number> = new Map(),
  ) {
    this.#words = words;
    this.end = end;
    this.#columns = columns;
  }

  /** The column of the value of an option, for an error about it; undefined if the line does not give it. */
  columnOf(option: OptionKey): number | undefined {
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
