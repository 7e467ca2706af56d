import { quotedKey } from '../change/plan.ts';
import type { Value } from '../device/record.ts';
import { isSecretField, maskedValue } from '../device/secret-fields.ts';
import { valueText } from '../device/value-text.ts';
import { visible } from '../visible.ts';
import { cut } from './width.ts';

/**
 * A value as one harmless line for a table or a message. This is the one place where values become
 * safe to show: what comes from here is not made visible again.
 */
export function cellText(value: Value | undefined): string {
  return visible(valueText(value));
}

/** The same for a named field: secrets are not shown on a screen. */
export function fieldText(field: string, value: Value | undefined): string {
  if (isSecretField(field)) return valueText(value) === '' ? '' : '•••';
  return visible(valueText(value === undefined ? value : maskedValue(field, value)));
}

/** The same for the field that names the record: those that are drawn the same are told apart. */
export function nameText(field: string, value: Value | undefined): string {
  const isText = typeof value === 'string' && !isSecretField(field);
  return isText ? visible(quotedKey(value)) : fieldText(field, value);
}

/** In a sentence more of a value helps nobody; it stands in full in `--json` and in `user show`. */
const MOST_IN_SENTENCE = 200;

/**
 * For `field=value` in a sentence: an empty text can be seen, one with blanks has quotes, and a very long
 * one is cut where everybody sees it.
 */
export function quotedText(field: string, value: Value | undefined): string {
  const text = fieldText(field, value);
  if (text === '') return "''";
  const isLong = text.length > MOST_IN_SENTENCE;
  const shown = isLong ? cut(text.slice(0, MOST_IN_SENTENCE), MOST_IN_SENTENCE >> 1) : text;
  const quoted = /\s/.test(shown) ? `'${shown}'` : shown;
  return isLong ? `${quoted} (${text.length} characters)` : quoted;
}
