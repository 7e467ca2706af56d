import type { DeviceRecord } from '../device/record.ts';
import { MASK } from '../device/secret-fields.ts';

/** Whether a field of a kept image was masked, and so can be neither compared nor sent. */
export function isMasked(record: DeviceRecord, field: string): boolean {
  return record[field] === MASK;
}
