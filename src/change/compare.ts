import {
  type DeviceRecord,
  formText,
  isTimeStamp,
  isValueList,
  isValueObject,
  jsonText,
  type Value,
  valueAt,
  valueText,
} from '../device/record.ts';
import { MASK, maskedValue } from '../device/sensitive-fields.ts';
import type { Difference } from './verdict.ts';

/**
 * Whether a device holds what was sent. A form carries text only, so `5` and `"5"`, `true` and
 * `"True"`, nothing and `""` are the same; text is compared to the letter.
 */
export function isSameValue(sent: Value, held: Value | undefined): boolean {
  if (typeof held === 'boolean' || typeof sent === 'boolean') {
    const [a, b] = [asBoolean(sent), asBoolean(held ?? null)];
    if (a !== undefined && b !== undefined) return a === b;
  }
  const hidesSecrets = typeof sent === 'object' && sent !== null && holdsMask(sent);
  return canonical(sent, hidesSecrets) === canonical(held ?? null, hidesSecrets);
}

/** A text that is the same for two values, booleans and nested ones apart, when they are the same. */
export function comparable(value: Value): string {
  return canonical(value, false);
}

/** A field in which a device holds something else than was sent, or than it was. */
export interface Compared {
  readonly field: string;
  readonly sent: Value;
  readonly held: Value;
}

/** The fields of `wanted` in which `held` is different, in the order of `wanted`. */
export function differencesOf(wanted: DeviceRecord, held: DeviceRecord): Compared[] {
  return Object.entries(wanted)
    .filter(([field, sent]) => !isSameValue(sent, valueAt(held, field)))
    .map(([field, sent]) => ({ field, sent, held: valueAt(held, field) ?? null }));
}

/**
 * The same of a new record: of a nested value only the parts that were asked for are looked at, as the
 * device fills in the others.
 */
export function differencesOfNew(wanted: DeviceRecord, held: DeviceRecord): Compared[] {
  const asked = Object.entries(wanted).map(([field, sent]) => [
    field,
    partsOf(sent, valueAt(held, field)),
  ]);
  return differencesOf(wanted, Object.fromEntries(asked) as DeviceRecord);
}

/** What `held` has of the parts of `sent`. */
function partsOf(sent: Value, held: Value | undefined): Value {
  if (!isValueObject(sent) || !isValueObject(held)) return held ?? null;
  const parts = Object.keys(sent).filter((part) => Object.hasOwn(held, part));
  return Object.fromEntries(parts.map((part) => [part, partsOf(sent[part] ?? null, held[part])]));
}

/**
 * What is different in a record since it was last seen (`sent`: as it was). Points in time change by
 * themselves, and what was masked when it was kept cannot be compared.
 *
 * @param ignored fields that do not count
 */
export function changesSince(
  seen: DeviceRecord,
  held: DeviceRecord,
  ignored: readonly string[] = [],
): Compared[] {
  const fields = [...new Set([...Object.keys(seen), ...Object.keys(held)])];
  return fields
    .filter((field) => !ignored.includes(field))
    .filter((field) => !isMasked(seen, field) && !isTimeStamp(valueAt(held, field)))
    .filter((field) => !isSameValue(valueAt(seen, field) ?? null, valueAt(held, field)))
    .map((field) => ({
      field,
      sent: valueAt(seen, field) ?? null,
      held: valueAt(held, field) ?? null,
    }));
}

/** A text as devices may store it: trimmed, in one case, composed. */
export function foldedText(value: Value | undefined): string {
  return valueText(value).normalize('NFC').trim().toLowerCase();
}

/** Whether all that differs is spelling: the device took what was sent, and wrote it its own way. */
export function isRespelled(differences: readonly Compared[]): boolean {
  return (
    differences.length > 0 &&
    differences.every(({ sent, held }) => foldedText(sent) === foldedText(held))
  );
}

/** As one text, whatever the order of the names in it and whether it names what it has not; secrets in it masked where it is to hide them. */
function canonical(value: Value, hidesSecrets: boolean): string {
  if (typeof value !== 'object' || value === null) return formText(value);
  const sorted = (part: Value): Value => {
    if (typeof part !== 'object' || part === null) return part;
    if (isValueList(part)) return part.map(sorted);
    const entries = Object.entries(part)
      .filter(([, inner]) => inner !== null && inner !== '')
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(entries.map(([field, inner]) => [field, sorted(inner)]));
  };
  return jsonText(sorted(hidesSecrets ? maskedValue('', value) : value));
}

/** Whether a nested value was kept with its secrets masked. */
function holdsMask(value: Value): boolean {
  if (typeof value !== 'object' || value === null) return value === MASK;
  return Object.values(value).some(holdsMask);
}

const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true,
  false: false,
  '1': true,
  '0': false,
  yes: true,
  no: false,
  on: true,
  off: false,
};

/** The boolean that a value spells: `true`, `"True"`, `1`, `off`. */
export function asBoolean(value: Value): boolean | undefined {
  return typeof value === 'object' ? undefined : BOOLEANS[String(value).toLowerCase()];
}

/** One thing that is different, as small as it can be named: `address.city`. */
export interface ChangedPart {
  readonly field: string;
  readonly before: Value | undefined;
  readonly after: Value | undefined;
}

/** What is different between two values of a field: of nested ones only the parts that are; a list is one. */
export function changedParts(
  field: string,
  before: Value | undefined,
  after: Value | undefined,
): ChangedPart[] {
  if (!isValueObject(before) || !isValueObject(after)) return [{ field, before, after }];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((part) => {
    const [old, next] = [valueAt(before, part), valueAt(after, part)];
    const isSame = jsonText(old ?? null) === jsonText(next ?? null);
    return isSame ? [] : changedParts(`${field}.${part}`, old, next);
  });
}

/** Whether a field of a kept image was masked, and so can be neither compared nor sent. */
export function isMasked(record: DeviceRecord, field: string): boolean {
  return record[field] === MASK;
}

/** A difference as it may be kept and shown. */
export function maskedDifference({ field, ...values }: Difference): Difference & DeviceRecord {
  const masked = Object.entries(values).map(([name, value]: [string, Value]) => [
    name,
    maskedValue(field, value),
  ]);
  return { field, ...(Object.fromEntries(masked) as Omit<Difference, 'field'>) };
}
