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

/** `a, b, c and 4 more`. */
export function someOf(names: readonly string[], most = 5): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}
