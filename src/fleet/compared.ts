import { managedFields, type Profile } from '../device/profile.ts';
import {
  type DeviceRecord,
  exactText,
  grouped,
  isDeviceTime,
  isNested,
  isTimeStamp,
  isValueList,
  type Value,
  valueAt,
  valueText,
} from '../device/record.ts';
import { isStored } from '../device/equality.ts';
import { isSecretField } from '../device/sensitive-fields.ts';

/** A secret that the device hides itself. */
const DOTS = /^[*•●]{3,}$/;

/** Whether a field is compared. The natural key always is, secrets and fields that differ per device are not. */
export function isCompared(
  field: string,
  keyField: string,
  perDevice: ReadonlySet<string>,
): boolean {
  return !perDevice.has(field) && (field === keyField || !isSecretField(field));
}

/** Equal for equal values: `true` equals `"true"`, null differs from empty, and times and nested secrets never differ. */
export function comparedText(
  field: string,
  value: Value | undefined,
  perDevice: ReadonlySet<string>,
): string {
  if (isNested(value)) return exactText(withoutOwnParts(value, perDevice));
  if (isDeviceTime(field, value)) return '';
  if (isTimeStamp(value)) return 'time';
  return DOTS.test(valueText(value)) ? '' : exactText(value);
}

export interface Comparison {
  readonly counts: (field: string) => boolean;
  /** A text that is the same for equal values. */
  readonly text: (record: DeviceRecord, field: string) => string;
  /** A text that is the same for records with equal compared fields. Lengths separate the parts. */
  readonly content: (record: DeviceRecord) => string;
}

/** @param wanted the fields to compare; undefined for all */
export function comparisonBy(
  keyField: string,
  perDevice: ReadonlySet<string>,
  wanted?: ReadonlySet<string>,
): Comparison {
  const counts = (field: string): boolean =>
    isCompared(field, keyField, perDevice) && wanted?.has(field) !== false;
  const text = (record: DeviceRecord, field: string): string =>
    comparedText(field, valueAt(record, field), perDevice);
  let shape: readonly string[] = [];
  let compared: readonly string[] = [];
  const content = (record: DeviceRecord): string => {
    const fields = Object.keys(record);
    // Most records of a device have the same fields in the same order, so the order is computed once.
    if (fields.length !== shape.length || fields.some((field, index) => field !== shape[index])) {
      shape = fields;
      // The key comes first: a map compares long texts of the same length up to their first difference.
      const rank = (field: string): string => (field === keyField ? '' : field);
      compared = fields.filter(counts).sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
    }
    let all = '';
    for (const field of compared) {
      const part = text(record, field);
      if (part !== '') all += `${field}=${part.length}:${part};`;
    }
    return all;
  };
  return { counts, text, content };
}

export function withoutOwnParts(value: Value, perDevice: ReadonlySet<string>): Value {
  if (!isNested(value)) return isTimeStamp(value) ? 'time' : value;
  if (isValueList(value)) return value.map((item) => withoutOwnParts(item, perDevice));
  const record: DeviceRecord = value;
  return Object.fromEntries(
    Object.keys(record).flatMap((field): [string, Value][] => {
      const part = record[field] ?? null;
      const isOwn = !isCompared(field, '', perDevice) || isDeviceTime(field, part);
      return isOwn ? [] : [[field, withoutOwnParts(part, perDevice)]];
    }),
  );
}

/** Whether a value is a timestamp, which differs per device. */
export function isDated(field: string, value: Value | undefined): boolean {
  return isTimeStamp(value) || (valueText(value) !== '' && isDeviceTime(field, value));
}

/** Types of read-only fields that differ per device: ids, counters, timestamps. */
const OWN_TYPES = /int|number|float|decimal|uuid|date|time|duration|counter/i;

/** Fields in which one record may differ per device: ids, counters, timestamps. For secrets see `isCompared`. */
export function perDeviceFields(profile: Profile, resource: string): readonly string[] {
  const { fields = {}, keyField } = profile.resources[resource] ?? {};
  const counted = Object.entries(fields).flatMap(([field, { readOnly, type = '' }]) =>
    readOnly === true && field !== keyField && OWN_TYPES.test(type) ? [field] : [],
  );
  return [...new Set([...profile.idFields, ...managedFields(profile, resource), ...counted])];
}

export type RecordChange =
  | { readonly kind: 'added' | 'removed'; readonly key: string; readonly record: DeviceRecord }
  | {
      readonly kind: 'changed';
      readonly key: string;
      readonly record: DeviceRecord;
      readonly before: DeviceRecord;
      readonly fields: readonly string[];
    };

/** Compares two readings of a device by the natural key, without timestamps, removed records last. */
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
    if (!isStored(old, now)) fields.push(name);
  }
  for (const name in before) {
    if (!Object.hasOwn(after, name)) fields.push(name);
  }
  return fields;
}
