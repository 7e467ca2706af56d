import type { DeviceRecord, Value } from './record.ts';
import { isValueList } from './value-text.ts';

/** What stands in plans, the journal and the history instead of a secret. */
export const MASK = '***';

const SECRET_NAME =
  /(password|passwd|passphrase|pwd|secret|token|credentials?|apikey|privatekey|sharedkey|psk)s?(hash|confirm|confirmation|again|\d+)?$/;

/** Whether a field holds a secret, by its name: `password`, `new_passwd`, `api-key`, `authToken`. */
export function isSecretField(name: string): boolean {
  return SECRET_NAME.test(name.toLowerCase().replace(/[^a-z0-9]/g, ''));
}

const SECRET_WORD = /pass(?:word|wd|code|phrase)|secret|token|api[_-]?key|authorization/i;

/** The same, in case of doubt: for a line that is not kept a name too many does no harm. */
export function mayBeSecretField(name: string): boolean {
  return isSecretField(name) || SECRET_WORD.test(name);
}

/**
 * The value to show for a field: masked when it is a secret, unless there is nothing to hide; inside a
 * nested value field by field.
 */
export function maskedValue(field: string, value: Value): Value {
  if (isSecretField(field) && value !== '' && value !== null) return MASK;
  if (typeof value !== 'object' || value === null) return value;
  return isValueList(value) ? value.map((item) => maskedValue('', item)) : maskedRecord(value);
}

/** A record with its secrets masked. */
export function maskedRecord(record: DeviceRecord): DeviceRecord {
  return Object.fromEntries(
    Object.entries(record).map(([field, value]) => [field, maskedValue(field, value)]),
  );
}

/** The pairs of a form with their secrets masked. */
export function maskedForm(
  form: readonly (readonly [field: string, text: string])[],
): (readonly [field: string, text: string])[] {
  return form.map(([field, text]) => [field, isSecretField(field) && text !== '' ? MASK : text]);
}
