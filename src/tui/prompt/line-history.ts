import { DevshError } from '../../errors.ts';
import { visibleLines } from '../../text/visible.ts';
import type { Services } from '../../shell/session.ts';
import type { Store } from '../store.ts';

/** The lines typed before, in the state and in their file. */
export class LineHistory {
  readonly #file: Services['history'];
  readonly #store: Store;
  /** Lines that were added and are not in the file yet, oldest first. */
  readonly #unsaved: string[] = [];
  /** What is done with the file, one after the other. */
  #work: Promise<void> = Promise.resolve();

  constructor(file: Services['history'], store: Store) {
    this.#file = file;
    this.#store = store;
  }

  /** Takes over what is in the file; what was typed while it was read comes after that. */
  async load(): Promise<void> {
    await this.#next(async () => {
      const lines = await this.#file.load();
      this.#set([...lines, ...this.#unsaved]);
    });
  }

  /** Adds a line; it goes again when it is one that must not be kept. */
  async add(line: string): Promise<void> {
    const { history } = this.#store.state.prompt;
    if (history.at(-1) !== line) this.#set([...history, line]);
    this.#unsaved.push(line);
    await this.#next(async () => {
      try {
        const isKept = await this.#file.append(line);
        if (!isKept) this.#set(this.#store.state.prompt.history.filter((other) => other !== line));
      } finally {
        this.#unsaved.shift();
      }
    });
  }

  /** Resolves when every line that was added is in the file. */
  saved(): Promise<void> {
    return this.#work;
  }

  #next(work: () => Promise<void>): Promise<void> {
    const done = this.#work.then(work).catch((error: unknown) => {
      this.#warn(error);
    });
    // A bug in one must not keep the others from being done.
    this.#work = done.catch(() => undefined);
    return done;
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
