/** So long an answer counts as being of now. */
const RECENT_MS = 10_000;

/**
 * Asks once for what all devices of a fleet want to know at about the same time: an answer, or a
 * failure, does for ten seconds.
 */
export class Recent<Answer> {
  readonly #answers = new Map<
    string,
    { readonly answer: Promise<Answer>; readonly until: number }
  >();

  get(key: string, ask: () => Promise<Answer>): Promise<Answer> {
    const known = this.#answers.get(key);
    if (known !== undefined && performance.now() < known.until) return known.answer;
    const answer = ask();
    this.#answers.set(key, { answer, until: performance.now() + RECENT_MS });
    return answer;
  }

  /** What is asked next is asked anew. */
  clear(): void {
    this.#answers.clear();
  }
}
