import { nextWait } from '../../shell/watch.ts';
import type { Store } from '../store.ts';
import type { TableReader } from './reader.ts';
import { shownDevices } from './rows.ts';

/** So long what changed stands out. */
const SHOWN_MS = 4_000;
/** While somebody is asked, or a line runs, it is looked again after so long. */
const BUSY_MS = 250;

/** Reads a watched table again and again, and lets what changed stand out for a moment. */
export class TableWatch {
  readonly #store: Store;
  readonly #reader: TableReader;
  readonly #unsubscribe: () => void;
  #everyMs: number | undefined;
  #waitMs = 0;
  #round: NodeJS.Timeout | undefined;
  #changes: unknown;
  #fading: NodeJS.Timeout | undefined;

  /** `isStill`: what changed stands out until the next change, and does not fade by itself. */
  constructor(store: Store, reader: TableReader, isStill: boolean) {
    this.#store = store;
    this.#reader = reader;
    this.#unsubscribe = store.subscribe(() => {
      this.#follow();
      if (!isStill) this.#fade();
    });
  }

  stop(): void {
    this.#unsubscribe();
    clearTimeout(this.#round);
    clearTimeout(this.#fading);
  }

  #follow(): void {
    const { watchMs } = this.#store.state.table;
    if (watchMs === this.#everyMs) return;
    this.#everyMs = watchMs;
    this.#waitMs = watchMs ?? 0;
    this.#plan(this.#waitMs);
  }

  #plan(afterMs: number): void {
    clearTimeout(this.#round);
    if (this.#everyMs === undefined) return;
    this.#round = setTimeout(() => void this.#read(), afterMs);
  }

  async #read(): Promise<void> {
    const { state } = this.#store;
    // What a question is about must not change while it is read.
    if (state.questions.length > 0 || state.work !== undefined || this.#reader.isReading) {
      this.#plan(BUSY_MS);
      return;
    }
    await this.#reader.read();
    if (this.#everyMs === undefined) return;
    const { table, fleet } = this.#store.state;
    const hasAnswer = shownDevices({ table, fleet }).some(
      (name) => table.reads.get(name)?.outcome.ok === true,
    );
    this.#waitMs = nextWait(this.#everyMs, this.#waitMs, hasAnswer);
    this.#plan(this.#waitMs);
  }

  #fade(): void {
    const { changes } = this.#store.state.table;
    if (changes === this.#changes) return;
    this.#changes = changes;
    clearTimeout(this.#fading);
    if (changes === undefined) return;
    this.#fading = setTimeout(() => {
      this.#store.dispatch({ kind: 'changes-seen' });
    }, SHOWN_MS);
  }
}
