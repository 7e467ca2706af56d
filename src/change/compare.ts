import { isEqual, isStored } from '../device/equality.ts';
import { nullWord } from '../device/form-values.ts';
import type { Profile, WriteFacts } from '../device/profile.ts';
import {
  type DeviceRecord,
  isTimeStamp,
  isValueList,
  isValueObject,
  type Value,
  valueAt,
  valueText,
} from '../device/record.ts';
import {
  isComparable,
  isMask,
  journaled,
  holdsMask,
  maskedValue,
} from '../device/sensitive-fields.ts';
import { normalized } from '../text/visible.ts';
import type { Difference } from './verdict.ts';

/** `undefined`: the record does not have the field. */
export interface Compared {
  readonly field: string;
  readonly sent: Value | undefined;
  readonly held: Value | undefined;
}

/**
 * The fields that are not as expected.
 *
 * @param isSame `isStored` where `expected` was sent or typed: the device may spell it otherwise
 */
export function differencesOf(
  expected: DeviceRecord,
  held: DeviceRecord,
  isSame: typeof isEqual = isEqual,
): Compared[] {
  return Object.entries(expected)
    .map(([field, sent]) => ({ field, sent, held: valueAt(held, field) }))
    .filter((one) => !isSame(one.sent, maskedAs(one.sent, one.held)));
}

/**
 * How the fields of a write are compared with those of the device: exactly if they were read from it, else in any
 * spelling. If the form says null by an empty text, null is a spelling of it.
 */
export function comparisonFor(
  profile: Profile,
  resource: string,
  facts: WriteFacts,
  isExact: boolean,
): typeof isEqual {
  if (isExact) return isEqual;
  const isEmptyNull = facts.encoding === 'form' && nullWord(profile, resource, facts) === 'empty';
  const isEmpty = (value: Value | undefined): boolean => value === null || value === '';
  return isEmptyNull
    ? (sent, held) => isStored(sent, held) || (isEmpty(sent) && isEmpty(held))
    : isStored;
}

/** Compares only the requested parts of a nested value: the device fills in the others. */
export function differencesOfNew(
  expected: DeviceRecord,
  held: DeviceRecord,
  isSame: typeof isEqual = isStored,
): Compared[] {
  return differencesOf(expected, partsOf(expected, held), isSame);
}

function partsOf(sent: DeviceRecord, held: DeviceRecord): DeviceRecord {
  const parts = Object.entries(sent).flatMap(([name, part]): [string, Value][] => {
    const own = valueAt(held, name);
    if (own === undefined) return [];
    return [[name, isValueObject(part) && isValueObject(own) ? partsOf(part, own) : own]];
  });
  return Object.fromEntries(parts);
}

/** The other value, with its secrets as the first one has them: as digests where it has digests, else masked. */
function maskedAs(one: Value | undefined, other: Value | undefined, name?: string): typeof one {
  if (one === undefined || other === undefined || !holdsMask(one)) return other;
  if (isComparable(one)) return journaled(other);
  if (isMask(one)) return name !== undefined && isMask(maskedValue(name, other)) ? one : other;
  if (isValueList(one) && isValueList(other)) {
    return other.map((part, at) => maskedAs(one[at], part, name ?? '') ?? null);
  }
  if (!isValueObject(one) || !isValueObject(other)) return other;
  const parts = Object.entries(other).map(([part, value]) => {
    return [part, maskedAs(valueAt(one, part), value, part) ?? null] as const;
  });
  return Object.fromEntries(parts);
}

/** The changes since an earlier reading (`sent`), without timestamps, `ignored` fields and secrets that nobody can compare. */
export function changesSince(
  earlier: DeviceRecord,
  held: DeviceRecord,
  ignored: readonly string[] = [],
): Compared[] {
  const fields = [...new Set([...Object.keys(earlier), ...Object.keys(held)])];
  return fields
    .filter((field) => !ignored.includes(field))
    .filter((field) => !isUnknown(earlier, field) && !isTimeStamp(valueAt(held, field)))
    .map((field) => ({ field, sent: valueAt(earlier, field), held: valueAt(held, field) }))
    .filter(({ sent, held: now }) => !isAsBefore(sent, now));
}

/** Whether a value is as an earlier reading, which may come from a journal, had it. */
export function isAsBefore(before: Value | undefined, now: Value | undefined): boolean {
  return isEqual(before, maskedAs(before, now));
}

/** Text in the form that devices may store: trimmed, in one case, composed. */
export function foldedText(value: Value | undefined): string {
  return normalized(valueText(value)).trim().toLowerCase();
}

/** Whether the differences are only in spelling: the device normalized what was sent. */
export function isRespelled(differences: readonly Compared[]): boolean {
  return (
    differences.length > 0 &&
    differences.every(({ sent, held }) => foldedText(sent) === foldedText(held))
  );
}

/** At the deepest level: `address.city`. */
export interface ChangedPart {
  readonly field: string;
  readonly before: Value | undefined;
  readonly after: Value | undefined;
}

/** Returns only the parts of nested values that differ; a list is one part. */
export function changedParts(
  field: string,
  before: Value | undefined,
  after: Value | undefined,
): ChangedPart[] {
  if (!isValueObject(before) || !isValueObject(after)) return [{ field, before, after }];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((part) => {
    const [old, next] = [valueAt(before, part), valueAt(after, part)];
    return isEqual(old, next) ? [] : changedParts(`${field}.${part}`, old, next);
  });
}

export function isMasked(record: DeviceRecord, field: string): boolean {
  return isMask(record[field]);
}

/** Whether a stored field was masked without a digest of this machine, so that it cannot even be compared. */
export function isUnknown(record: DeviceRecord, field: string): boolean {
  return isMasked(record, field) && !isComparable(record[field]);
}

export function maskedDifference({ field, ...values }: Difference): Difference & DeviceRecord {
  const masked = Object.entries(values).map(([name, value]: [string, Value | undefined]) => [
    name,
    maskedValue(field, value),
  ]);
  const present = masked.filter(([, value]) => value !== undefined);
  return { field, ...(Object.fromEntries(present) as DeviceRecord) };
}
