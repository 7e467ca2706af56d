import type { PlanPart } from '../change/plan.ts';
import { resultText } from '../change/result-file.ts';
import { DevshError, SettingsError } from '../errors.ts';
import { loadRun } from './run-store.ts';
import type { Services } from './session.ts';

/** Writes down that a part of a plan is begun: whoever finds the file like this looks before it sends. */
export async function beginResult(services: Services, run: string, part: PlanPart): Promise<void> {
  await services.writeFile(part.result, resultText(await loadRun(services, run), part));
}

/** Writes down what became of a part of a plan, as its journal tells it. */
export async function endResult(services: Services, run: string, part: PlanPart): Promise<void> {
  const endedAt = services.now().toISOString();
  const text = resultText(await loadRun(services, run), part, endedAt);
  try {
    await services.writeFile(part.result, text);
  } catch (error) {
    if (!(error instanceof DevshError)) throw error;
    throw new SettingsError(
      `${error.message}; nothing is lost: "resume ${run}" writes the result again`,
      { cause: error },
    );
  }
}
