import { jsonText } from './json-text.ts';
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

/** Whether a value is a point in time (`modified`, `last_login`): such fields change by themselves. */
export function isTimeStamp(value: Value | undefined): boolean {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(value);
}
