import { ProtocolError } from './errors.ts';
import { keyFieldOf, type Profile } from './profile.ts';
import type { DeviceRecord, DeviceRef } from './record.ts';
import { valueText } from './value-text.ts';

/** More records are not read one by one. */
const MAX_DETAILS = 1000;
const DETAILS_AT_ONCE = 2;

/**
 * The records in full, each read by `readOne`, two at a time and no longer than `maxMs`. Throws
 * ProtocolError when they are too many or too slow, and never gives a part of them.
 */
export async function readDetails(
  device: DeviceRef,
  resource: string,
  records: readonly DeviceRecord[],
  readOne: (record: DeviceRecord) => Promise<DeviceRecord>,
  maxMs: number,
): Promise<readonly DeviceRecord[]> {
  if (records.length > MAX_DETAILS) {
    throw new ProtocolError(
      device,
      `its list of ${resource}s leaves fields out, and ${records.length} records are too many to be ` +
        'read one by one: name fewer',
    );
  }
  const full = [...records];
  const left = records.entries();
  const deadline = performance.now() + maxMs;
  const readOn = async (): Promise<void> => {
    for (const [index, record] of left) {
      if (performance.now() > deadline) throw tooSlow(device, resource, index, records.length);
      full[index] = await readOne(record);
    }
  };
  await Promise.all(Array.from({ length: DETAILS_AT_ONCE }, readOn));
  return full;
}

/** The record with what its own path shows of it. Throws ProtocolError when that is another record. */
export function completed(
  device: DeviceRef,
  profile: Profile,
  resource: string,
  { path, record, full }: { path: string; record: DeviceRecord; full: DeviceRecord },
): DeviceRecord {
  const names = [keyFieldOf(profile, resource, [record]), ...profile.idFields];
  const other = names.find(
    (field) =>
      Object.hasOwn(record, field) &&
      Object.hasOwn(full, field) &&
      valueText(record[field]) !== valueText(full[field]),
  );
  if (other !== undefined) {
    throw new ProtocolError(device, `${path} answers with another ${resource} (${other})`);
  }
  return { ...record, ...full };
}

function tooSlow(device: DeviceRef, resource: string, read: number, all: number): ProtocolError {
  const text = `only ${read} of ${all} ${resource}s could be read one by one in time. Give it longer with --timeout`;
  return new ProtocolError(device, text);
}
