/** A question is asked when nobody has joined it for this long … */
const QUIET_MS = 120;
/** … or when its first one has waited so long. */
const PATIENCE_MS = 1500;

/**
 * Gathers what many devices want to ask at about the same time, so that the user gets one question
 * that names them all instead of the same question again and again. One question at a time.
 */
export class Desk<Concern, Answer> {
  readonly #decide: (concerns: readonly Concern[]) => Promise<Answer>;
  #gathering: { concerns: Concern[]; answer: Promise<Answer> } | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(decide: (concerns: readonly Concern[]) => Promise<Answer>) {
    this.#decide = decide;
  }

  bring(concern: Concern): Promise<Answer> {
    if (this.#gathering !== undefined) {
      this.#gathering.concerns.push(concern);
      return this.#gathering.answer;
    }
    const concerns = [concern];
    const answer = this.#answerLater(concerns);
    this.#gathering = { concerns, answer };
    return answer;
  }

  async #answerLater(concerns: readonly Concern[]): Promise<Answer> {
    const until = performance.now() + PATIENCE_MS;
    let count = 0;
    while (count < concerns.length && performance.now() < until) {
      count = concerns.length;
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    }
    // Whoever comes while another question is open still joins this one.
    await this.#last.catch(() => undefined);
    this.#gathering = undefined;
    const answer = this.#decide(concerns);
    this.#last = answer;
    return answer;
  }
}
