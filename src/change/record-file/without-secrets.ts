import type { DeviceRecord, Value } from '../../device/record.ts';
import { isSecretField, MASK, maskedRecord, maskedValue } from '../../device/secret-fields.ts';
import { isValueList } from '../../device/value-text.ts';

/** A record without its secrets, also those inside nested values; itself where there are none. */
export function withoutSecrets(record: DeviceRecord): DeviceRecord {
  if (maskedRecord(record) === record) return record;
  return Object.fromEntries(
    Object.entries(record)
      .filter(([field, value]) => !isSecret(field, value))
      .map(([field, value]) => [field, openPart(value)]),
  );
}

/** The fields of the records that are secret, or hold secrets. */
export function secretFields(records: readonly DeviceRecord[]): string[] {
  const fields = new Set<string>();
  for (const record of records) {
    const open = withoutSecrets(record);
    if (open === record) continue;
    for (const field in record) if (record[field] !== open[field]) fields.add(field);
  }
  return [...fields];
}

/** By its name, or as JSON in a text. */
function isSecret(field: string, value: Value): boolean {
  return isSecretField(field) || (value !== MASK && maskedValue(field, value) === MASK);
}

function openPart(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (!isValueList(value)) return withoutSecrets(value);
  const open = value.filter((item) => !isSecret('', item)).map(openPart);
  return open.length === value.length && open.every((item, index) => item === value[index])
    ? value
    : open;
}
