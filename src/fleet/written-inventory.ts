import { resolve } from 'node:path';
import { type ConfiguredRoute, parseRoute } from '../device/route/route.ts';
import { UsageError } from '../errors.ts';
import type { Path, YamlSource } from '../text/yaml-source.ts';
import { namedInYaml } from '../text/yaml-names.ts';
import { SETTING_KEYS, type SettingKey, splitNames } from './inventory-schema.ts';
import type { InventoryDevice } from './inventory.ts';

/** A route as the inventory spells it: one of the two keys, or none. */
interface WrittenRoute {
  readonly proxy?: string | undefined;
  readonly jump?: string | undefined;
}

/** The route of a device or group. Throws SettingsError with its position in the file. */
export function routeAt(
  { proxy, jump }: WrittenRoute,
  path: Path,
  source: YamlSource,
): ConfiguredRoute | undefined {
  if (proxy !== undefined && jump !== undefined) {
    throw source.error([...path, 'jump'], { code: 'proxy-and-jump' });
  }
  const key = proxy === undefined ? 'jump' : 'proxy';
  const text = proxy ?? jump;
  if (text === undefined) return undefined;
  try {
    return parseRoute(key, text);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw source.error([...path, key], `${key}: ${error.message}`);
  }
}

function writtenRoute(route: ConfiguredRoute): { proxy: string } | { jump: string } {
  if (route.kind === 'jump') return { jump: route.jump };
  return { proxy: route.kind === 'direct' ? 'none' : route.proxy };
}

/** A list is a program with its arguments. */
export type Written = string | readonly string[];

/** The settings of a device or group, spelt as in `devices.yaml`. */
export type WrittenSettings = Readonly<Partial<Record<SettingKey, Written>>>;

/** A device as written, without inherited settings. */
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

/** @param data the validated content of `devices.yaml` */
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

/** The settings of a device, own and inherited, as `devices.yaml` would spell them. */
export function writtenSettings(device: InventoryDevice): WrittenSettings {
  const settings = {
    ...namedInYaml(device),
    ...(device.route && writtenRoute(device.route)),
  } as Readonly<Partial<Record<SettingKey, Written | boolean>>>;
  return Object.fromEntries(
    SETTING_KEYS.flatMap((key): [string, Written][] => {
      const value = settings[key];
      if (value === undefined) return [];
      return [[key, typeof value === 'boolean' ? String(value) : value]];
    }),
  );
}

/** The break-glass accounts as a list, also if they are written as one text. */
export function breakGlassNames({ break_glass: names = [] }: WrittenSettings): readonly string[] {
  return typeof names === 'string' ? splitNames(names) : names;
}

/** The settings with absolute paths, and a proxy with its port, to compare them. Throws a `UsageError` for a bad route. */
export function normalizedSettings(settings: WrittenSettings, folder: string): WrittenSettings {
  return Object.fromEntries(
    SETTING_KEYS.flatMap((key): [string, Written][] => {
      const value = settings[key];
      if (value === undefined) return [];
      return key === 'proxy' || key === 'jump'
        ? Object.entries(writtenRoute(parseRoute(key, String(value))))
        : [[key, fromFolder(key, value, folder)]];
    }),
  );
}

const PROGRAMS: readonly SettingKey[] = ['credential_command', 'credential_store_command'];

/** Resolves a path against a folder; a program without a path is searched in PATH. */
export function fromFolder<Value>(key: SettingKey, value: Value, folder: string): Value | Written {
  if (key === 'ca') return resolve(folder, String(value));
  if (!PROGRAMS.includes(key)) return value;
  const [program = '', ...args] = [value].flat().map(String);
  return [program.includes('/') ? resolve(folder, program) : program, ...args];
}
