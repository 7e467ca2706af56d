import { foldedLook } from '../../change/account-harm.ts';
import { isLockout, type Run } from '../../change/journal.ts';
import { parseHead, parseJournal } from '../../change/read-journal.ts';
import { DevshError } from '../../errors.ts';
import type { Services } from '../services.ts';

/** The accounts that a `lockout` has disabled or deleted, on any device: its journal knows. */
export interface LockedOut {
  /** The run that locked this account out, in any spelling that a device may fold. */
  readonly runOf: (key: string) => string | undefined;
  /** Ids of journals that cannot be read. */
  readonly unreadable: readonly string[];
}

/** @param since ms UTC; a run that began earlier counts if it did something after that */
export async function lockedOutSince(
  { runs }: Services,
  resource: string,
  since: number,
): Promise<LockedOut> {
  const found = new Map<string, string>();
  const unreadable: string[] = [];
  for (const id of await runs.ids()) {
    const text = (await runs.read(id)) ?? '';
    try {
      if (!isLockout(parseHead(text, runs.path(id)))) continue;
      const run = parseJournal(text, runs.path(id));
      if (lastTime(run) < since) continue;
      const wanted = run.plan.devices.flatMap((one) => [...one.steps, ...(one.wanted ?? [])]);
      for (const step of wanted) {
        if (step.resource === resource) found.set(foldedLook(step.key), run.run);
      }
    } catch (error) {
      if (!(error instanceof DevshError)) throw error;
      unreadable.push(id);
    }
  }
  return { runOf: (key) => found.get(foldedLook(key)), unreadable };
}

function lastTime({ at, states }: Run): number {
  const times = [...states.values()].flat().flatMap((state) => ('at' in state ? [state.at] : []));
  return Math.max(...[at, ...times].map((text) => Date.parse(text)));
}
