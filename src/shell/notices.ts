/** What a session says once, however often it is met: a keychain that is locked, a file that was changed. */
export class Notices {
  readonly #told = new Set<string>();
  readonly #waiting = new Set<string>();

  /** Will be said when the line ends, unless it was said before. */
  add(text: string): void {
    if (!this.#told.has(text)) this.#waiting.add(text);
  }

  isTold(text: string): boolean {
    return this.#told.has(text);
  }

  /** It was said in another way: as the error that ended a line. */
  markTold(text: string): void {
    this.#told.add(text);
    this.#waiting.delete(text);
  }

  /** What is to be said now. */
  take(): string[] {
    const texts = [...this.#waiting];
    for (const text of texts) this.markTold(text);
    return texts;
  }
}
