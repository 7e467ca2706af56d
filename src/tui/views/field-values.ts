import type { DeviceRecord } from '../../device/record.ts';
import { majorityOf } from '../../fleet/drift.ts';

/** A record as one device has it. */
export interface Holder {
  readonly name: string;
  readonly record: DeviceRecord;
}

/** A value of a field, and the devices that have it. */
export interface ValueGroup {
  readonly text: string;
  readonly devices: readonly string[];
  /** More than half of the devices agree on another value. */
  readonly isOdd: boolean;
}

interface Reading {
  /** The harmless text of the value. */
  readonly textOf: (holder: Holder) => string;
  /** Equal values have equal texts here; by default those that are shown. */
  readonly sameAs?: ((holder: Holder) => string) | undefined;
  /** Whether a device was read: values of others are shown, but decide nothing. */
  readonly isRead: (device: string) => boolean;
  /** Number of devices that may have any value: they count as if they had another one. */
  readonly unknown?: number;
}

/** A field of one record grouped by value, the most common first. A tie has no odd value. */
export function groupByValue(
  holders: readonly Holder[],
  { textOf, sameAs = textOf, isRead, unknown = 0 }: Reading,
): ValueGroup[] {
  /** `devices`: those whose value counts. */
  const groups = new Map<string, { text: string; names: Set<string>; devices: string[] }>();
  for (const holder of holders) {
    const id = sameAs(holder);
    const group = groups.get(id) ?? { text: textOf(holder), names: new Set(), devices: [] };
    groups.set(id, group);
    // A device may have the key twice.
    if (group.names.has(holder.name)) continue;
    group.names.add(holder.name);
    if (isRead(holder.name)) group.devices.push(holder.name);
  }
  const sorted = [...groups.values()].sort((a, b) => b.devices.length - a.devices.length);
  const majority = majorityOf(sorted, unknown);
  return sorted.map((group) => ({
    text: group.text,
    devices: [...group.names],
    isOdd: majority !== undefined && group !== majority && group.devices.length > 0,
  }));
}
