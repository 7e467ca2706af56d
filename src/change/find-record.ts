import { idOf, type Profile } from '../device/profile.ts';
import type { DeviceRecord } from '../device/record.ts';
import { isSameValue } from './compare.ts';
import type { Step } from './plan.ts';

/**
 * The record that a step is about: by id where there is one, else by natural key. Of several with one
 * id it is the one with the natural key as well.
 */
export function find(
  profile: Profile,
  step: Step,
  records: readonly DeviceRecord[],
  image: DeviceRecord,
): DeviceRecord | undefined {
  const id = idOf(profile, image);
  const byKey = sameKey(step, records, image);
  if (id === undefined) return byKey[0];
  const byId = records.filter((record) => idOf(profile, record) === id);
  const byBoth = sameKey(step, byId, image)[0];
  if (byBoth !== undefined || byId.length > 1) return byBoth;
  return byId[0] ?? (step.action === 'delete' ? undefined : byKey[0]);
}

/** All records with the natural key that `image` has. */
export function sameKey(
  step: Step,
  records: readonly DeviceRecord[],
  image: DeviceRecord,
): DeviceRecord[] {
  const key = image[step.keyField] ?? null;
  return records.filter((record) => isSameValue(key, record[step.keyField]));
}
