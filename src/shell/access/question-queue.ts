/** A question is asked when no other device has joined it for this long … */
const QUIET_MS = 120;
/** … or when its first device has waited this long. */
const PATIENCE_MS = 1500;

/** Joins what many devices ask at about the same time into one question. Asks one at a time. */
export class QuestionQueue<Concern, Answer> {
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
    // Devices that arrive while another question is open still join this one.
    await this.#last.catch(() => undefined);
    this.#gathering = undefined;
    const answer = this.#decide(concerns);
    this.#last = answer;
    return answer;
  }
}
