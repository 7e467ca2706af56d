import { DevshError } from '../errors.ts';
import { visibleLines } from '../visible.ts';
import type { Services } from '../shell/session.ts';
import type { Store } from './store.ts';

/** The lines typed before, in the state and in their file. */
export class LineHistory {
  readonly #file: Services['history'];
  readonly #store: Store;
  #saved: Promise<unknown> = Promise.resolve();

  constructor(file: Services['history'], store: Store) {
    this.#file = file;
    this.#store = store;
  }

  async load(): Promise<void> {
    try {
      this.#set(await this.#file.load());
    } catch (error) {
      this.#warn(error);
    }
  }

  /** Adds a line; it goes again when it is one that must not be kept. */
  async add(line: string): Promise<void> {
    const saving = this.#add(line);
    this.#saved = Promise.all([this.#saved, saving]);
    await saving;
  }

  /** Resolves when every line that was added is in the file. */
  async saved(): Promise<void> {
    await this.#saved;
  }

  async #add(line: string): Promise<void> {
    const { history } = this.#store.state.prompt;
    if (history.at(-1) !== line) this.#set([...history, line]);
    try {
      const isKept = await this.#file.append(line);
      if (!isKept) this.#set(this.#store.state.prompt.history.filter((other) => other !== line));
    } catch (error) {
      this.#warn(error);
    }
  }

  #set(lines: readonly string[]): void {
    this.#store.dispatch({ kind: 'history', lines });
  }

  /** A history that cannot be kept is no reason to stop. */
  #warn(error: unknown): void {
    if (!(error instanceof DevshError)) throw error;
    const text = `warning: ${visibleLines(error.message)}`;
    this.#store.dispatch({ kind: 'log', lines: [{ tone: 'warning', text }] });
  }
}
