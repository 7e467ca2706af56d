import { fieldsIn, parseFilter } from '../fleet/filter.ts';
import { idOf, keyFieldOf, type Profile } from '../device/profile.ts';
import type { DeviceRecord } from '../device/record.ts';
import { pickWhere, type Change } from './change.ts';
import { RecordIndex } from './record-index.ts';
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
    return RecordIndex.of(records).holding(keyField, change.fields[keyField] ?? null);
  }
  const { target } = change;
  if (target.kind === 'where') {
    const isListed = fieldsIn(parseFilter(target.filter, { isFuzzy: false })).every((field) =>
      records.some((record) => Object.hasOwn(record, field)),
    );
    return isListed ? pickWhere(target.filter, records, deviceName) : records;
  }
  const index = RecordIndex.of(records);
  const concerned = new Set([
    ...index.holding(keyField, target.key),
    ...index.withId(profile, target.key),
  ]);
  return [...concerned];
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
  const index = RecordIndex.of(records);
  const concerned = new Set(
    images.flatMap(({ image, keyField }) => [
      ...index.withId(profile, idOf(profile, image) ?? ''),
      ...index.holding(keyField, image[keyField] ?? null),
    ]),
  );
  return records.filter((record) => concerned.has(record));
}
