import type { Value } from './record.ts';

/**
 * A value as people read, compare, filter and sort it: scalars as they are, nothing for `null` and
 * for a missing field, lists as `a, b`, anything nested as JSON. Not yet safe to show.
 */
export function valueText(value: Value | undefined): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  if (typeof value !== 'object') return String(value);
  if (isValueList(value)) return value.map(itemText).join(', ');
  return jsonText(value);
}

function itemText(item: Value): string {
  return typeof item === 'object' && item !== null ? jsonText(item) : valueText(item);
}

/** `Array.isArray` does not narrow read-only arrays. */
export function isValueList(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

export function isValueObject(
  value: Value | undefined,
): value is { readonly [field: string]: Value } {
  return typeof value === 'object' && value !== null && !isValueList(value);
}

/** Whether a value is a point in time (`modified`, `last_login`): such fields change by themselves. */
export function isTimeStamp(value: Value | undefined): boolean {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(value);
}

/** How a value is spelled in a form: nothing for `null`, `true` and `false`, JSON for what nests. */
export function formText(value: Value): string {
  if (value === null) return '';
  return typeof value === 'object' ? jsonText(value) : String(value);
}

/** What can be written as JSON: values of devices, and documents of our own with optional parts. */
export type JsonValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | readonly JsonValue[]
  | { readonly [field: string]: JsonValue };

/**
 * JSON with exact numbers: a `bigint` is written as its digits, a field that is `undefined` is left
 * out. Recursive: what nests deeper than 64 levels was not read.
 *
 * @param indent spaces for each level; 0: everything on one line
 */
export function jsonText(value: JsonValue, { indent = 0 } = {}): string {
  return write(value, indent, '\n');
}

/** `newLine` with the blanks before what is around the value. */
function write(value: JsonValue, indent: number, newLine: string): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === undefined || (typeof value === 'number' && !Number.isFinite(value))) return 'null';
  if (typeof value !== 'object' || value === null) return String(value);
  const inner = indent === 0 ? newLine : newLine + ' '.repeat(indent);
  const isArray = isList(value);
  const parts: string[] = [];
  if (isArray) {
    for (const item of value) parts.push(write(item, indent, inner));
  } else {
    const colon = indent === 0 ? ':' : ': ';
    for (const [field, item] of Object.entries(value)) {
      if (item !== undefined)
        parts.push(JSON.stringify(field) + colon + write(item, indent, inner));
    }
  }
  const body =
    indent === 0 || parts.length === 0
      ? parts.join(',')
      : inner + parts.join(`,${inner}`) + newLine;
  return isArray ? `[${body}]` : `{${body}}`;
}

/** `Array.isArray` does not narrow read-only arrays. */
export function isList(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}
