import { jsonText } from './json-text.ts';
import type { Value } from './record.ts';

/** How a value is spelled in a form: nothing for `null`, `true` and `false`, JSON for what nests. */
export function formText(value: Value): string {
  if (value === null) return '';
  return typeof value === 'object' ? jsonText(value) : String(value);
}
