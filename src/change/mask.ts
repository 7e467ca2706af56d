import type { DeviceRecord, Value } from '../device/record.ts';
import { MASK, maskedValue } from '../device/secret-fields.ts';
import type { Difference } from './verdict.ts';

/** Whether a field of a kept image was masked, and so can be neither compared nor sent. */
export function isMasked(record: DeviceRecord, field: string): boolean {
  return record[field] === MASK;
}

/** A difference as it may be kept and shown. */
export function maskedDifference({
  field,
  ...values
}: Difference): Readonly<Record<string, Value>> {
  const masked = Object.entries(values).map(([name, value]: [string, Value]) => [
    name,
    maskedValue(field, value),
  ]);
  return { field, ...(Object.fromEntries(masked) as DeviceRecord) };
}
