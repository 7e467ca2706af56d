import { type DeviceRecord, grouped, isTimeStamp, valueAt, valueText } from '../device/record.ts';

/** The change of one record between two readings. */
export type RecordChange =
  | { readonly kind: 'added' | 'removed'; readonly key: string; readonly record: DeviceRecord }
  | {
      readonly kind: 'changed';
      readonly key: string;
      readonly record: DeviceRecord;
      readonly before: DeviceRecord;
      /** Fields whose value differs. */
      readonly fields: readonly string[];
    };

/**
 * Compares two readings of one device by the natural key; removed records come last. Timestamps change by
 * themselves and do not count; nor do fields outside `compared`, if given.
 */
export function recordChanges(
  before: readonly DeviceRecord[],
  after: readonly DeviceRecord[],
  keyField: string,
  compared?: readonly string[],
): RecordChange[] {
  if (before === after) return [];
  // Records with the same key are compared in order.
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
