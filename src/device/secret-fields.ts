import type { DeviceRecord, Value } from './record.ts';

/** What stands in plans, the journal and the history instead of a secret. */
export const MASK = '***';

const SECRET_NAME =
  /(password|passwd|passphrase|pwd|secret|token|credentials?|apikey|privatekey|sharedkey|psk)s?(hash|confirm|confirmation|again|\d+)?$/;

/** Whether a field holds a secret, by its name: `password`, `new_passwd`, `api-key`, `authToken`. */
export function isSecretField(name: string): boolean {
  return SECRET_NAME.test(name.toLowerCase().replace(/[^a-z0-9]/g, ''));
}

/** The value to show for a field: masked when it is a secret, unless there is nothing to hide. */
export function maskedValue(field: string, value: Value): Value {
  return isSecretField(field) && value !== '' && value !== null ? MASK : value;
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
