import type { DeviceRecord } from '../../device/record.ts';

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
  const groups = new Map<string, { text: string; devices: Set<string>; votes: number }>();
  const voters = new Set<string>();
  for (const holder of holders) {
    const id = sameAs(holder);
    const group = groups.get(id) ?? { text: textOf(holder), devices: new Set(), votes: 0 };
    groups.set(id, group);
    // A device may have the key twice.
    if (group.devices.has(holder.name)) continue;
    group.devices.add(holder.name);
    if (!isRead(holder.name)) continue;
    group.votes += 1;
    voters.add(holder.name);
  }
  const sorted = [...groups.values()].sort((a, b) => b.votes - a.votes);
  const hasMajority = (sorted[0]?.votes ?? 0) * 2 > voters.size + unknown;
  return sorted.map(({ text, devices, votes }, index) => ({
    text,
    devices: [...devices],
    isOdd: hasMajority && index > 0 && votes > 0,
  }));
}
