import { writtenRoute } from './inventory-route.ts';
import { SETTING_KEYS } from './inventory-schema.ts';
import type { InventoryDevice } from './inventory.ts';

export type SettingKey = (typeof SETTING_KEYS)[number];

/** What a device or a group says, spelt as in `devices.yaml`; lists are programs with arguments. */
export type WrittenSettings = Readonly<Partial<Record<SettingKey, string | readonly string[]>>>;

/** A device as it is written, without what its groups hand down. */
export interface WrittenDevice {
  readonly name: string;
  readonly address: string;
  readonly groups: readonly string[];
  readonly settings: WrittenSettings;
}

export interface WrittenGroup {
  readonly name: string;
  readonly children: readonly string[];
  readonly settings: WrittenSettings;
}

export interface WrittenInventory {
  readonly devices: readonly WrittenDevice[];
  readonly groups: readonly WrittenGroup[];
}

interface Entry {
  readonly name: string;
  readonly address: string;
  readonly groups?: readonly string[] | '';
  readonly children?: readonly string[] | '';
}

/** @param data the content of `devices.yaml` as it stands there, found good by the schema */
export function writtenInventory(data: unknown): WrittenInventory {
  const { devices, groups } = (data ?? {}) as {
    devices?: readonly Entry[] | '';
    groups?: Readonly<Record<string, Entry | ''>> | '';
  };
  return {
    devices: (devices || []).map((entry) => ({
      name: entry.name,
      address: entry.address,
      groups: entry.groups || [],
      settings: settingsIn(entry),
    })),
    groups: Object.entries(groups || {}).map(([name, entry]) => ({
      name,
      children: (entry || undefined)?.children || [],
      settings: settingsIn(entry || {}),
    })),
  };
}

function settingsIn(entry: object): WrittenSettings {
  return Object.fromEntries(
    Object.entries(entry).filter(([key]) => SETTING_KEYS.some((known) => known === key)),
  );
}

/** What a device has, its own and what its groups hand down, as it would be written. */
export function writtenSettings(device: InventoryDevice): WrittenSettings {
  const { user, ca, insecure, readOnly, label, color, profile, route } = device;
  const { credentialCommand, gitCredential, netrc } = device;
  return {
    ...(user !== undefined && { user }),
    ...(ca !== undefined && { ca }),
    ...(insecure !== undefined && { insecure: String(insecure) }),
    ...(readOnly !== undefined && { read_only: String(readOnly) }),
    ...(label !== undefined && { label }),
    ...(color !== undefined && { color }),
    ...(profile !== undefined && { profile }),
    ...(route && writtenRoute(route)),
    ...(credentialCommand && { credential_command: [...credentialCommand] }),
    ...(gitCredential && { git_credential: [...gitCredential] }),
    ...(netrc !== undefined && { netrc: String(netrc) }),
  };
}
