import type { Fleet } from '../fleet/fleet.ts';
import type { InventoryDevice } from '../fleet/inventory.ts';
import type { LabelColor } from '../fleet/inventory-schema.ts';
import { someOf } from '../text/one-line.ts';

/** Longer lists of names say how many they are. */
const MOST_NAMED = 3;

/**
 * `devsh sim2> `, `devsh PROD · all 12 · 2 absent> `: what the next command without `--on` is about.
 *
 * @param usual the selector that stands for it while nothing is connected
 */
export function promptText(fleet: Fleet, usual?: string): string {
  const scope = fleet.connected.length === 0 ? usual : scopeText(fleet);
  return scope === undefined ? 'devsh> ' : `devsh ${scope}> `;
}

/** `PROD · all 12 · 2 absent`: which of the connected devices, and how many of them do not answer. */
export function scopeText({ selection, connected, isNarrowed }: Fleet): string {
  const names = selection.map(({ ref }) => ref.name);
  const count = names.length;
  const which =
    !isNarrowed && count > 1
      ? `all ${count}`
      : count > 0 && count <= MOST_NAMED
        ? names.join(',')
        : `${count === 0 ? 'none' : count} of ${connected.length}`;
  const absent = selection.filter(({ state }) => state.kind === 'failed').length;
  const gone = absent === 0 ? [] : [count === 1 ? 'absent' : `${absent} absent`];
  return [...labelsOf(selection.map(({ entry }) => entry)).texts, which, ...gone].join(' · ');
}

export interface Labels {
  /** `PROD`, or `3 PROD, 9 LAB` where not all devices have the same one; empty without any. */
  readonly texts: readonly string[];
  /** Undefined where the labels do not agree. */
  readonly color: LabelColor | undefined;
}

/** What the inventory calls these devices. */
export function labelsOf(devices: readonly Pick<InventoryDevice, 'label' | 'color'>[]): Labels {
  const counts = new Map<string, number>();
  for (const { label } of devices) {
    if (label !== undefined) counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  if (counts.size === 0) return { texts: [], color: undefined };
  const labelled = devices.filter(({ label }) => label !== undefined);
  const colors = new Set(labelled.map(({ color }) => color));
  const said = [...counts].map(([label, count]) =>
    count === devices.length ? label : `${count} ${label}`,
  );
  return { texts: [someOf(said, 2)], color: colors.size === 1 ? labelled[0]?.color : undefined };
}
