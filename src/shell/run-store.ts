import { parseJournal, type Run } from '../change/journal.ts';
import { DevshError, NotFoundError } from '../errors.ts';
import { suggest } from '../suggest.ts';
import type { Services } from './session.ts';

/** A run by its id. Throws a `NotFoundError`. */
export async function loadRun({ runs }: Services, id: string): Promise<Run> {
  const text = await runs.read(id);
  if (text !== undefined) return parseJournal(text, runs.path(id));
  const [meant] = suggest(id, await runs.ids());
  const hint = meant === undefined ? '"runs" lists them' : `did you mean ${meant}?`;
  throw new NotFoundError(`there is no run "${id}"; ${hint}`);
}

export async function latestRun(services: Services): Promise<Run> {
  const [id] = await services.runs.ids();
  if (id === undefined) throw new NotFoundError('there is no run yet');
  return loadRun(services, id);
}

/** A hint is not worth reading more of them. */
const MOST_LOOKED_AT = 20;

/** The latest run before this one that is `wanted`, if it is not far back; damaged ones are passed over. */
export async function runBefore(
  services: Services,
  id: string,
  isWanted: (run: Run) => boolean,
): Promise<Run | undefined> {
  const ids = await services.runs.ids();
  const earlier = ids.slice(ids.indexOf(id) + 1);
  for (const one of earlier.slice(0, MOST_LOOKED_AT)) {
    try {
      const run = await loadRun(services, one);
      if (isWanted(run)) return run;
    } catch (error) {
      if (!(error instanceof DevshError)) throw error;
    }
  }
  return undefined;
}
