import { type Identity, identityOf, isPersonField, likenessOf, type Meant } from './identity.ts';
import type { Run } from './journal.ts';
import type { Plan } from './plan.ts';
import type { Profile } from '../device/profile.ts';
import { type DeviceRecord, type DeviceRef } from '../device/record.ts';
import type { Step } from './step.ts';

/** A record of one device, whose identity later runs may have changed. */
interface Followed {
  readonly device: DeviceRef;
  readonly resource: string;
  readonly profile: Profile;
  readonly goneAt: GoneAt;
  /** Why the device may be another one, whose ids mean other records. */
  readonly doubt?: Meant['doubt'];
}

/** The time (ms UTC) of the first complete list since `since` that did not have the id; undefined if all have it. */
export type GoneAt = (resource: string, id: string, since: number) => number | undefined;

/**
 * Whom an older intent means by now: the identity of its record after the newest confirmed step. It follows renames, and
 * a record that was deleted and that an undo has made again. Pure.
 *
 * @param later the runs since, the oldest first
 * @param since when the device showed `from`, in ms UTC
 */
export function meantBy(
  later: readonly Run[],
  { device, resource, profile, goneAt, doubt }: Followed,
  from: Identity,
  since: number,
): Meant {
  let identity = from;
  let shownAt = since;
  /** A step found another person under the id. What later steps wrote there is about that person. */
  let isTaken = false;
  const isGoneBy = (at: number): boolean =>
    identity.id !== undefined && (goneAt(resource, identity.id, shownAt) ?? Infinity) < at;
  for (const { plan, states } of later) {
    for (const one of plan.devices) {
      if (one.device.address !== device.address) continue;
      for (const [index, step] of one.steps.entries()) {
        const state = states.get(one.device.name)?.[index];
        if (step.resource !== resource || state?.kind !== 'ended') continue;
        const { verdict, record } = state.result;
        if (record === undefined || !['done', 'differs', 'unchanged'].includes(verdict)) continue;
        const held = identityLeft(profile, step, record);
        const at = Date.parse(state.at);
        const before = step.before && identityOf(profile, step.keyField, step.before);
        if (before === undefined) {
          if (!isMadeAgain(plan, step) || held.key !== identity.key) continue;
          // A run may have deleted and made again another person of the same name.
          if (isSomebodyElse(held, identity)) continue;
          isTaken = false;
        } else {
          if (!isUnderSameId(before, identity)) continue;
          isTaken ||= isSomebodyElse(before, identity);
          if (isTaken || isGoneBy(at)) continue;
        }
        identity = { ...held, person: { ...identity.person, ...held.person } };
        shownAt = at;
      }
    }
  }
  return {
    ...{ ...identity, age: 'older' },
    ...(isGoneBy(Infinity) && { isIdGone: true as const }),
    ...(isTaken && { isIdTaken: true as const }),
    ...(doubt !== undefined && { id: undefined, doubt }),
  };
}

/** Whether an undo or a restore made it; any other add makes a record of its own. */
function isMadeAgain({ undoes }: Plan, { purpose }: Step): boolean {
  return undoes !== undefined || purpose?.kind === 'restore';
}

function isUnderSameId(one: Identity, other: Identity): boolean {
  if (one.id === undefined || other.id === undefined) return one.key === other.key;
  return one.id === other.id;
}

/** A device may have given the id to somebody else. Names change; an e-mail belongs to one person. */
function isSomebodyElse(one: Identity, other: Identity): boolean {
  const { agreeing, contradicting } = likenessOf(one.person, other.person, []);
  return contradicting.length > 0 && !agreeing.includes('e-mail');
}

/**
 * The identity of the record after a step. A name or an e-mail that the step did not write is still the earlier one:
 * somebody else wrote what shows in its place.
 */
export function identityLeft(
  profile: Profile,
  { before = {}, asked, keyField }: Pick<Step, 'before' | 'asked' | 'keyField'>,
  record: DeviceRecord,
): Identity {
  const kept = Object.entries(before).filter(
    ([field]) => !Object.hasOwn(asked, field) && (field === keyField || isPersonField(field)),
  );
  return identityOf(profile, keyField, { ...record, ...Object.fromEntries(kept) });
}
