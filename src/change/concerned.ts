import { fieldsIn, parseFilter } from '../fleet/filter.ts';
import { idOf, keyFieldOf, type Profile } from '../device/profile.ts';
import type { DeviceRecord } from '../device/record.ts';
import { pickWhere, type Change } from './change.ts';
import { isSameValue } from './compare.ts';
import type { Step } from './plan.ts';

/**
 * The records that a change may be about, as far as a list tells that leaves fields out: all of them
 * where a filter asks for such a field.
 */
export function concernedBy(
  profile: Profile,
  change: Change,
  records: readonly DeviceRecord[],
  deviceName: string,
): readonly DeviceRecord[] {
  const keyField = keyFieldOf(profile, change.resource, records);
  if (change.action === 'add') {
    const key = change.fields[keyField] ?? null;
    return records.filter((record) => isSameValue(key, record[keyField]));
  }
  const { target } = change;
  if (target.kind === 'where') {
    const isListed = fieldsIn(parseFilter(target.filter, { isFuzzy: false })).every((field) =>
      records.some((record) => Object.hasOwn(record, field)),
    );
    return isListed ? pickWhere(target.filter, records, deviceName) : records;
  }
  return records.filter(
    (record) => isSameValue(target.key, record[keyField]) || idOf(profile, record) === target.key,
  );
}

/** The records that the steps of a plan are about: before them, or after. */
export function concernedSteps(
  profile: Profile,
  steps: readonly Step[],
  records: readonly DeviceRecord[],
): readonly DeviceRecord[] {
  const images = steps.flatMap(({ before, after, keyField }) =>
    [before, after].flatMap((image) => (image === undefined ? [] : [{ image, keyField }])),
  );
  const ids = new Set(images.flatMap(({ image }) => idOf(profile, image) ?? []));
  return records.filter(
    (record) =>
      ids.has(idOf(profile, record) ?? '') ||
      images.some(({ image, keyField }) => isSameValue(image[keyField] ?? null, record[keyField])),
  );
}
