import { join } from 'node:path';
import { SettingsError } from '../errors.ts';
import { VERSION } from '../version.ts';
import { readText, writeTextAtomically } from './files.ts';

/**
 * What was made of a file, kept in the cache as JSON: to parse and check a large one takes longer than
 * all the rest of a start. It counts only for the same file in the same state and the same devsh. Reading
 * and writing fail in silence: the file itself is there.
 */
export class ParsedCopy<Content> {
  readonly #path: string;

  /** @param folder in the cache, for the user only */
  constructor(folder: string, name: string) {
    this.#path = join(folder, `${name}.json`);
  }

  /** Undefined when nothing is kept of this state of the file (`fileStamp`). */
  async read(stamp: string): Promise<Content | undefined> {
    try {
      const text = await readText(this.#path);
      if (text === undefined) return undefined;
      const kept = JSON.parse(text) as { version?: string; stamp?: string; content: Content };
      return kept.version === VERSION && kept.stamp === stamp ? kept.content : undefined;
    } catch (error) {
      if (error instanceof SettingsError || error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  async keep(stamp: string, content: Content): Promise<void> {
    try {
      const kept = { version: VERSION, stamp, content };
      await writeTextAtomically(this.#path, `${JSON.stringify(kept)}\n`);
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
    }
  }
}
