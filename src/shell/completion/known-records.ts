import { valueText } from '../../device/value-text.ts';
import type { Candidate, KnownDevice } from '../grammar/spec.ts';
import { valueAt } from '../../device/record.ts';

/** The fields that records of a resource were seen to have, in the order of the device. */
export function knownFields(
  devices: readonly Pick<KnownDevice, 'seen'>[],
  resource: string,
): string[] {
  const records = devices.flatMap((device) => device.seen(resource) ?? []);
  return [...new Set(records.flatMap((record) => Object.keys(record)))];
}

/** The same, with those seen in earlier sessions where a device was not asked in this one. */
export function everKnownFields(devices: readonly KnownDevice[], resource: string): string[] {
  const remembered = devices.flatMap((device) =>
    device.seen(resource) === undefined ? (device.remembered(resource)?.fields ?? []) : [],
  );
  return [...new Set([...knownFields(devices, resource), ...remembered])];
}

/** Natural keys of the records that were last seen, each with the devices that hold it. */
export function knownKeys(
  devices: readonly KnownDevice[],
  resource: string,
  keyField: string,
): Candidate[] {
  const where = new Map<string, string[]>();
  for (const device of devices) {
    const keys =
      device.seen(resource)?.map((record) => valueText(record[keyField])) ??
      device.remembered(resource)?.keys ??
      [];
    for (const key of keys) {
      if (key === '') continue;
      const names = where.get(key);
      if (names === undefined) where.set(key, [device.name]);
      else names.push(device.name);
    }
  }
  return [...where]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([text, names]) => ({ text, summary: names.join(', ') }));
}

/** The values that a field was seen to have, the most frequent first. */
export function knownValues(
  devices: readonly KnownDevice[],
  resource: string,
  field: string,
): string[] {
  const counts = new Map<string, number>();
  for (const device of devices) {
    for (const record of device.seen(resource) ?? []) {
      const value = valueAt(record, field);
      if (value === undefined || value === null || typeof value === 'object' || value === '')
        continue;
      counts.set(String(value), (counts.get(String(value)) ?? 0) + 1);
    }
  }
  return [...counts].sort(([, a], [, b]) => b - a).map(([value]) => value);
}
