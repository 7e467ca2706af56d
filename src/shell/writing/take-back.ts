import type { Change } from '../../change/change.ts';
import type { Run } from '../../change/journal.ts';
import { undoOf } from '../../change/undo.ts';
import { documentedProfile } from '../../device/built-in-profiles.ts';
import type { Profile } from '../../device/profile.ts';
import { DevshError, RefusedError } from '../../errors.ts';
import type { Call } from '../call.ts';
import { profileOf } from '../access/device-profile.ts';
import type { Output } from '../output.ts';
import type { Services } from '../session.ts';
import { loadRun } from './run-store.ts';
import { writeEach } from './write.ts';

/** Plans and carries out the way back from a run. */
export async function* takeBack(call: Call, run: Run): AsyncGenerator<Output> {
  const members = await call.membersAt(run.plan.devices.map(({ device }) => device));
  const profiles = new Map<string, Profile>();
  for (const { entry } of members) {
    profiles.set(entry.address, await profileOf(call.session.services, entry));
  }
  const undone = undoOf(run, ({ address }) => profiles.get(address) ?? documentedProfile);
  if (undone.length === 0) {
    throw await nothingToTakeBack(call, run);
  }
  const losses = undone.flatMap(({ device, losses: own }) =>
    own.map((loss) => `${device.name}: ${loss}`),
  );
  for (const loss of losses) yield { kind: 'message', level: 'warning', text: loss };
  const changes = new Map(
    undone.map((one) => [
      one.device.address,
      call.options.allow.has('drift') ? one.changes.map(withoutExpectation) : one.changes,
    ]),
  );
  const concerned = members.filter(({ entry }) => changes.has(entry.address));
  yield* writeEach(call, concerned, ({ ref }) => changes.get(ref.address) ?? [], losses);
}

/** What one wants back may be the run before: a line that found all as it should be is a run, too. */
async function nothingToTakeBack({ session }: Call, run: Run): Promise<RefusedError> {
  const { services } = session;
  const before = await runBefore(
    services,
    run.run,
    (one) => undoOf(one, () => documentedProfile).length > 0,
  );
  const hint =
    before === undefined
      ? ''
      : `; the last one before it that did: "undo ${before.run}" (${before.command})`;
  return new RefusedError(
    `run ${run.run} has changed nothing: there is nothing to take back${hint}`,
  );
}

/** `--allow drift`: also where somebody else has changed the record since. */
function withoutExpectation(change: Change): Change {
  const { action, resource } = change;
  switch (action) {
    case 'add':
      return change;
    case 'set':
      return {
        action,
        resource,
        target: change.target,
        fields: change.fields,
        ...(change.isExact && { isExact: true }),
      };
    case 'delete':
      return { action, resource, target: change.target };
  }
}

/** A hint is not worth reading more of them. */
const MOST_LOOKED_AT = 20;

/** The latest run before this one that is `wanted`, if it is not far back; damaged ones are passed over. */
async function runBefore(
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
