import { dirname, resolve } from 'node:path';
import { SettingsError, UsageError } from '../../errors.ts';
import { readInventory } from '../inventory-text.ts';
import type { Findings } from './findings.ts';
import { normalizedSettings } from '../written-inventory.ts';

/** Reads another `devices.yaml`, whose relative paths count from its own folder. Throws a UsageError. */
export function parseDevicesYaml(text: string, file: string): Findings {
  try {
    const { written, lines } = readInventory(text, file);
    const folder = dirname(resolve(file));
    return {
      devices: written.devices.map((device, index) => ({
        ...device,
        settings: normalizedSettings(device.settings, folder),
        place: `${file}:${lines[index] ?? 1}`,
      })),
      groups: written.groups.map((group) => ({
        ...group,
        settings: normalizedSettings(group.settings, folder),
      })),
      remarks: [],
    };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
}
