import type { WrittenDevice, WrittenGroup } from '../written-inventory.ts';

/** A device as a source tells of it; nothing of it is checked yet. A `ca` is an absolute path. */
export interface FoundDevice extends WrittenDevice {
  /** `hosts.csv:3`: where the source says so. */
  readonly place: string;
}

/** All that one source has. */
export interface Findings {
  readonly devices: readonly FoundDevice[];
  readonly groups: readonly WrittenGroup[];
  /** What was left out on purpose, in words. */
  readonly remarks: readonly string[];
}
