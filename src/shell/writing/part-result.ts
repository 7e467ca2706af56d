import type { PlanPart } from '../../change/plan.ts';
import { resultText } from '../../change/result-file.ts';
import { DevshError, SettingsError } from '../../errors.ts';
import { loadRun } from './run-store.ts';
import type { Services } from '../services.ts';

/** What becomes of a part of a plan, in the file that `--result` names. */
export class PartResult {
  readonly #services: Services;
  readonly #run: string;
  readonly #part: PlanPart;

  constructor(services: Services, run: string, part: PlanPart) {
    this.#services = services;
    this.#run = run;
    this.#part = part;
  }

  /** Writes down that it is begun: whoever finds the file like this looks before it sends. */
  async begin(): Promise<void> {
    await this.#services.writeFile(this.#part.result, await this.#text());
  }

  /** Writes down what became of it, as its journal tells it. */
  async end(): Promise<void> {
    const text = await this.#text(this.#services.now().toISOString());
    try {
      await this.#services.writeFile(this.#part.result, text);
    } catch (error) {
      if (!(error instanceof DevshError)) throw error;
      throw new SettingsError(
        `${error.message}; nothing is lost: "resume ${this.#run}" writes the result again`,
        { cause: error },
      );
    }
  }

  async #text(endedAt?: string): Promise<string> {
    return resultText(await loadRun(this.#services, this.#run), this.#part, endedAt);
  }
}
