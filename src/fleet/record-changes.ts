import { type DeviceRecord, grouped, isTimeStamp, valueAt, valueText } from '../device/record.ts';

/** What became of one record of a device from one reading to the next. */
export type RecordChange =
  | { readonly kind: 'added' | 'removed'; readonly key: string; readonly record: DeviceRecord }
  | {
      readonly kind: 'changed';
      readonly key: string;
      readonly record: DeviceRecord;
      readonly before: DeviceRecord;
      /** With another value than before. */
      readonly fields: readonly string[];
    };

/**
 * Compares two readings of one device by the natural key; what is gone comes last. Points in time change
 * by themselves and are no change; nor is anything but `compared`, where that is given.
 */
export function recordChanges(
  before: readonly DeviceRecord[],
  after: readonly DeviceRecord[],
  keyField: string,
  compared?: readonly string[],
): RecordChange[] {
  if (before === after) return [];
  // Two records of one name are compared in their order.
  const known: ReadonlyMap<string, DeviceRecord[]> = grouped(before, (record) =>
    valueText(record[keyField]),
  );
  const changes = after.flatMap((record): RecordChange[] => {
    const key = valueText(record[keyField]);
    const old = known.get(key)?.shift();
    if (old === undefined) return [{ kind: 'added', key, record }];
    const fields = changedFields(old, record).filter(
      (field) => compared?.includes(field) !== false,
    );
    return fields.length === 0 ? [] : [{ kind: 'changed', key, record, before: old, fields }];
  });
  for (const [key, left] of known) {
    for (const record of left) changes.push({ kind: 'removed', key, record });
  }
  return changes;
}

function changedFields(before: DeviceRecord, after: DeviceRecord): string[] {
  if (before === after) return [];
  const fields: string[] = [];
  for (const name in after) {
    const [old, now] = [valueAt(before, name), valueAt(after, name)];
    if (isTimeStamp(old) && isTimeStamp(now)) continue;
    if (valueText(old) !== valueText(now)) fields.push(name);
  }
  for (const name in before) {
    if (!Object.hasOwn(after, name) && valueText(before[name]) !== '') fields.push(name);
  }
  return fields;
}
