import { ownFields, type Profile } from '../device/profile.ts';
import {
  type DeviceRecord,
  isTimeStamp,
  isValueList,
  type Value,
  valueText,
} from '../device/record.ts';
import { isSecretField } from '../device/sensitive-fields.ts';

/** When something was last done with a record: `last_login`, `date_joined`, `modifiedAt`. */
const DEVICE_TIME =
  /^(?:last|latest)(?:login|logon|seen|used|active|activity|access|accessed|auth|sync|changed?|updated?|modified)(?:at|on|time|date)?$|^(?:date|time)?(?:created|creation|modified|updated|changed|added|joined)(?:at|on|time|date|timestamp)?$/;

/** A secret that the device hides itself. */
const DOTS = /^[*•●]{3,}$/;

/**
 * Whether devices can be compared in a field. Left out are `perDevice` (ids, counters) and secrets, which
 * each device has of its own; never the natural key.
 */
export function isCompared(
  field: string,
  keyField: string,
  perDevice: ReadonlySet<string>,
): boolean {
  return !perDevice.has(field) && (field === keyField || !isSecretField(field));
}

/**
 * What counts of a value between devices, as text. Values are equal when it is: `true` and `"true"`, an
 * empty and a missing field are no difference; points in time, and what is hidden or the device's own
 * within a nested value, never are.
 */
export function comparedText(
  field: string,
  value: Value | undefined,
  perDevice: ReadonlySet<string>,
): string {
  if (typeof value === 'object' && value !== null) return valueText(shared(value, perDevice));
  if (isDeviceTime(field, value)) return '';
  if (isTimeStamp(value)) return 'time';
  const text = valueText(value);
  return DOTS.test(text) ? '' : text;
}

/** A nested value without what each device has of its own. */
function shared(value: Value, perDevice: ReadonlySet<string>): Value {
  if (typeof value !== 'object' || value === null) return isTimeStamp(value) ? 'time' : value;
  if (isValueList(value)) return value.map((item) => shared(item, perDevice));
  const record: DeviceRecord = value;
  return Object.fromEntries(
    Object.keys(record).flatMap((field): [string, Value][] => {
      const part = record[field] ?? null;
      const isOwn = !isCompared(field, '', perDevice) || isDeviceTime(field, part);
      return isOwn ? [] : [[field, shared(part, perDevice)]];
    }),
  );
}

/** Whether a value is a point in time, of which each device has its own. */
export function isDated(field: string, value: Value | undefined): boolean {
  return isTimeStamp(value) || (valueText(value) !== '' && isDeviceTime(field, value));
}

const timeNames = new Map<string, boolean>();
const MOST_NAMES = 1_000;

/** Whether a device writes down there when something happened; nothing, where it has not yet. */
function isDeviceTime(field: string, value: Value | undefined): boolean {
  let isName = timeNames.get(field);
  if (isName === undefined) {
    isName = DEVICE_TIME.test(field.toLowerCase().replace(/[^a-z0-9]/g, ''));
    if (timeNames.size >= MOST_NAMES) timeNames.clear();
    timeNames.set(field, isName);
  }
  if (!isName) return false;
  const text = valueText(value);
  return /^[\d\s./:-]*$/.test(text) || (/\d/.test(text) && !Number.isNaN(Date.parse(text)));
}

/** Types of which a device counts or dates what nobody can write: ids, counters, points in time. */
const OWN_TYPES = /int|number|float|decimal|uuid|date|time|duration|counter/i;

/**
 * Fields in which the same record may differ from device to device: ids, counters, and points in time.
 * Secrets, which are not compared either, have their own rule (`isCompared`).
 */
export function perDeviceFields(profile: Profile, resource: string): readonly string[] {
  const { details = {}, keyField } = profile.resources[resource] ?? {};
  const counted = Object.entries(details).flatMap(([field, { readOnly, type }]) =>
    readOnly && field !== keyField && OWN_TYPES.test(type) ? [field] : [],
  );
  return [...new Set([...profile.idFields, ...ownFields(profile, resource), ...counted])];
}
