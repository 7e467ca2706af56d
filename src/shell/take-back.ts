import type { Change } from '../change/change.ts';
import type { Run } from '../change/journal.ts';
import { undoOf } from '../change/undo.ts';
import { documentedProfile } from '../device/built-in-profiles.ts';
import type { Profile } from '../device/profile.ts';
import { RefusedError } from '../errors.ts';
import type { Call } from './call.ts';
import { profileOf } from './device-profile.ts';
import type { Output } from './output.ts';
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
    throw new RefusedError(`run ${run.run} has changed nothing: there is nothing to take back`);
  }
  const losses = undone.flatMap(({ device, losses: own }) =>
    own.map((loss) => `${device.name}: ${loss}`),
  );
  for (const loss of losses) yield { kind: 'message', level: 'warning', text: loss };
  const changes = new Map(
    undone.map((one) => [
      one.device.address,
      call.options.force ? one.changes.map(withoutExpectation) : one.changes,
    ]),
  );
  const concerned = members.filter(({ entry }) => changes.has(entry.address));
  yield* writeEach(call, concerned, ({ ref }) => changes.get(ref.address) ?? [], losses);
}

/** `--force`: also where somebody else has changed the record since. */
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
