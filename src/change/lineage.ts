import { type Identity, identityOf } from './identity.ts';
import type { Run } from './journal.ts';
import type { Plan } from './plan.ts';
import type { Profile } from '../device/profile.ts';
import type { DeviceRef } from '../device/record.ts';
import type { Step } from './step.ts';

/** A record of one device, whose identity later runs may have changed. */
interface Followed {
  readonly device: DeviceRef;
  readonly resource: string;
  readonly profile: Profile;
}

/**
 * The identity that the newest confirmed step left of a record: it follows renames, and a record that was deleted
 * and made again by undoing that. Pure.
 *
 * @param later the runs since, the oldest first
 */
export function identityAfter(
  later: readonly Run[],
  { device, resource, profile }: Followed,
  from: Identity,
): Identity {
  let identity = from;
  for (const { plan, states } of later) {
    for (const one of plan.devices) {
      if (one.device.address !== device.address) continue;
      for (const [index, step] of one.steps.entries()) {
        const state = states.get(one.device.name)?.[index];
        if (step.resource !== resource || state?.kind !== 'ended') continue;
        const { verdict, record } = state.result;
        if (record === undefined || !['done', 'differs', 'unchanged'].includes(verdict)) continue;
        const held = identityOf(profile, step.keyField, record);
        const before = step.before && identityOf(profile, step.keyField, step.before);
        const isOwn =
          before === undefined
            ? isMadeAgain(plan, step) && held.key === identity.key
            : isSame(before, identity);
        if (isOwn) identity = { ...held, person: { ...identity.person, ...held.person } };
      }
    }
  }
  return identity;
}

/** By an undo or a restore; any other add makes a record of its own. */
function isMadeAgain({ undoes }: Plan, { isExact }: Step): boolean {
  return undoes !== undefined || isExact === true;
}

function isSame(one: Identity, other: Identity): boolean {
  if (one.id === undefined || other.id === undefined) return one.key === other.key;
  return one.id === other.id;
}
