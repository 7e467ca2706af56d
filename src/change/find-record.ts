import { idOf, type Profile } from '../device/profile.ts';
import { hasPositionalIds, uncomparedFields } from '../device/observation.ts';
import type { DeviceRecord } from '../device/record.ts';
import { changesSince } from './compare.ts';
import type { Step } from './plan.ts';
import { RecordIndex } from './record-index.ts';

/**
 * The record that a step is about: by id where there is one, else by natural key. Of several with one
 * id it is the one with the natural key as well. Where an id is only a place in the list, it is the one
 * with the natural key, of several the one with the same content.
 */
export function find(
  profile: Profile,
  step: Step,
  records: readonly DeviceRecord[],
  image: DeviceRecord,
): DeviceRecord | undefined {
  if (hasPositionalIds(profile)) return findByContent(profile, step, records, image);
  const id = idOf(profile, image);
  const byKey = sameKey(step, records, image);
  if (id === undefined) return byKey[0];
  const byId = RecordIndex.of(records).withId(profile, id);
  const byBoth = sameKey(step, byId, image)[0];
  if (byBoth !== undefined || byId.length > 1) return byBoth;
  return byId[0] ?? (step.action === 'delete' ? undefined : byKey[0]);
}

function findByContent(
  profile: Profile,
  step: Step,
  records: readonly DeviceRecord[],
  image: DeviceRecord,
): DeviceRecord | undefined {
  const isKeyless = profile.idFields.includes(step.keyField);
  const named = isKeyless ? records : sameKey(step, records, image);
  const ignored = uncomparedFields(profile, step.resource);
  const same = named.filter((record) => changesSince(image, record, ignored).length === 0);
  // Where several are the same in all, the one that still has its place is the one that is meant.
  const id = idOf(profile, image);
  const own = same.find((record) => idOf(profile, record) === id) ?? same[0];
  return own ?? (isKeyless ? undefined : named[0]);
}

/** All records with the natural key that `image` has. */
export function sameKey(
  step: Step,
  records: readonly DeviceRecord[],
  image: DeviceRecord,
): readonly DeviceRecord[] {
  return RecordIndex.of(records).holding(step.keyField, image[step.keyField] ?? null);
}
