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
import { holdsMask, maskedValue } from '../device/sensitive-fields.ts';
import { MASK } from '../text/one-line.ts';
import type { Difference } from './verdict.ts';

/** Whether a stored value equals the sent one: `5` and `"5"`, null and `""` do; other text must be exact. */
export function isSameValue(sent: Value, held: Value | undefined): boolean {
  if (typeof held === 'boolean' || typeof sent === 'boolean') {
    const [a, b] = [asBoolean(sent), asBoolean(held ?? null)];
    if (a !== undefined && b !== undefined) return a === b;
  }
  const hidesSecrets = typeof sent === 'object' && sent !== null && holdsMask(sent);
  return canonical(sent, hidesSecrets) === canonical(held ?? null, hidesSecrets);
}

/** Two values give the same text if they are equal; booleans and nested values excepted. */
export function comparable(value: Value): string {
  return canonical(value, false);
}

export interface Compared {
  readonly field: string;
  readonly sent: Value;
  readonly held: Value;
}

export function differencesOf(expected: DeviceRecord, held: DeviceRecord): Compared[] {
  return Object.entries(expected)
    .filter(([field, sent]) => !isSameValue(sent, valueAt(held, field)))
    .map(([field, sent]) => ({ field, sent, held: valueAt(held, field) ?? null }));
}

/** Of a nested value only the requested parts count, as the device fills in the others. */
export function differencesOfNew(expected: DeviceRecord, held: DeviceRecord): Compared[] {
  const asked = Object.entries(expected).map(([field, sent]) => [
    field,
    partsOf(sent, valueAt(held, field)),
  ]);
  return differencesOf(expected, Object.fromEntries(asked) as DeviceRecord);
}

function partsOf(sent: Value, held: Value | undefined): Value {
  if (!isValueObject(sent) || !isValueObject(held)) return held ?? null;
  const parts = Object.keys(sent).filter((part) => Object.hasOwn(held, part));
  return Object.fromEntries(parts.map((part) => [part, partsOf(sent[part] ?? null, held[part])]));
}

/** The changes since an earlier reading (`sent`), without timestamps, masked and `ignored` fields. */
export function changesSince(
  earlier: DeviceRecord,
  held: DeviceRecord,
  ignored: readonly string[] = [],
): Compared[] {
  const fields = [...new Set([...Object.keys(earlier), ...Object.keys(held)])];
  return fields
    .filter((field) => !ignored.includes(field))
    .filter((field) => !isMasked(earlier, field) && !isTimeStamp(valueAt(held, field)))
    .filter((field) => !isSameValue(valueAt(earlier, field) ?? null, valueAt(held, field)))
    .map((field) => ({
      field,
      sent: valueAt(earlier, field) ?? null,
      held: valueAt(held, field) ?? null,
    }));
}

/** Text in the form that devices may store: trimmed, in one case, composed. */
export function foldedText(value: Value | undefined): string {
  return valueText(value).normalize('NFC').trim().toLowerCase();
}

/** Whether the differences are only in spelling: the device normalized what was sent. */
export function isRespelled(differences: readonly Compared[]): boolean {
  return (
    differences.length > 0 &&
    differences.every(({ sent, held }) => foldedText(sent) === foldedText(held))
  );
}

/** One text for equal values: names sorted, empty parts left out, secrets masked if `hidesSecrets`. */
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

/** The boolean that a value stands for: `true`, `"True"`, `1`, `off`. */
export function asBoolean(value: Value): boolean | undefined {
  return typeof value === 'object' ? undefined : BOOLEANS[String(value).toLowerCase()];
}

/** At the deepest level: `address.city`. */
export interface ChangedPart {
  readonly field: string;
  readonly before: Value | undefined;
  readonly after: Value | undefined;
}

/** Of nested values only the parts that differ; a list is one part. */
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

/** Whether a stored field was masked, so that it can be neither compared nor sent. */
export function isMasked(record: DeviceRecord, field: string): boolean {
  return record[field] === MASK;
}

export function maskedDifference({ field, ...values }: Difference): Difference & DeviceRecord {
  const masked = Object.entries(values).map(([name, value]: [string, Value]) => [
    name,
    maskedValue(field, value),
  ]);
  return { field, ...(Object.fromEntries(masked) as Omit<Difference, 'field'>) };
}
