/** Lets so many pieces of work run at the same time; the others wait for their turn. */
export class Turns {
  readonly #width: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(width: number) {
    this.#width = width;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#width) {
      // Whoever has finished hands its place on.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#running += 1;
    }
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
