import { isIPv4 } from 'node:net';
import { dirname } from 'node:path';
import { formatAddress, parseAddress } from '../device/address.ts';
import type { ConfiguredRoute } from '../device/route/route.ts';
import { SettingsError, UsageError } from '../errors.ts';
import { inCode } from '../text/yaml-names.ts';
import { YamlSource, type Path } from '../text/yaml-source.ts';
import { GroupTree, Inventory, type InventoryDevice } from './inventory.ts';
import {
  fromFolder,
  routeAt,
  writtenInventory,
  type WrittenInventory,
} from './written-inventory.ts';
import {
  inventorySchema,
  SETTING_KEYS,
  unknownKey,
  type DeviceContent,
  type DeviceSettings,
  type InventoryContent,
  type SettingsContent,
} from './inventory-schema.ts';

/** The settings of a device or group, with `proxy` and `jump` combined into `route`. */
type Settings = Omit<SettingsContent, 'proxy' | 'jump'> & {
  readonly route?: ConfiguredRoute | undefined;
};
const SETTINGS = [
  ...new Set(SETTING_KEYS.map((key) => (key === 'proxy' || key === 'jump' ? 'route' : key))),
];
type GroupSettings = Settings & { readonly name: string; readonly children: readonly string[] };

/** Two equally near groups of a device have different values. The value of the first one counts. */
export interface GroupConflict {
  readonly device: string;
  readonly setting: string;
  readonly groups: readonly [string, string];
}

export interface ReadInventory {
  readonly inventory: Inventory;
  readonly written: WrittenInventory;
  readonly conflicts: readonly GroupConflict[];
  readonly lines: readonly number[];
}

export function parseInventory(text: string, file: string): Inventory {
  return readInventory(text, file).inventory;
}

/** Reads `devices.yaml`. The nearest group of a device wins, or the first of equally near ones. Throws SettingsError. */
export function readInventory(text: string, file: string): ReadInventory {
  const source = new YamlSource(text, file, SettingsError);
  const content = contentOf(source);
  const { break_glass: breakGlass = [] } = content;
  const groups = Object.entries(content.groups ?? {}).map(([name, settings]) => {
    const { children = [], ...own } = settings ?? {};
    return { ...own, name, children, route: routeAt(own, ['groups', name], source) };
  });
  const places = new Map<string, number>();
  const claim = (kind: 'group' | 'device' | 'address', name: string, path: Path): void => {
    const key = `${kind} ${name.toLowerCase()}`;
    const line = places.get(key);
    if (line !== undefined)
      throw source.error(path, { code: 'written-twice', is: kind, name, line });
    places.set(key, source.line(path));
  };
  const tree = new GroupTree(groups);
  for (const { name } of groups) {
    const path = ['groups', name];
    claim('group', name, path);
    if (tree.isInItself(name)) {
      throw source.error([...path, 'children'], { code: 'group-in-itself', name });
    }
  }
  const conflicts: GroupConflict[] = [];
  const byName = new Map(groups.map((group) => [group.name.toLowerCase(), group]));
  const devices = (content.devices ?? []).map((device, index) => {
    const path = ['devices', index];
    claim('device', device.name, [...path, 'name']);
    const address = addressOf(device, path, source);
    claim('address', address, [...path, 'address']);
    const own = { ...device, route: routeAt(device, path, source) };
    const levels = tree.levels(device.groups ?? []);
    const inherited = levels.map((level) =>
      level.flatMap((name) => byName.get(name.toLowerCase()) ?? []),
    );
    conflicts.push(...conflictsOf(own, inherited));
    const all = { break_glass: breakGlass };
    return deviceOf(device, levels.flat(), [own, ...inherited.flat(), all], dirname(file));
  });
  const written = writtenInventory(source.data());
  const lines = devices.map((_device, index) => source.line(['devices', index]));
  return { inventory: new Inventory(devices, breakGlass), written, conflicts, lines };
}

/** Finds settings of which two groups on the nearest level have different values. */
function conflictsOf(
  own: Settings & { readonly name: string },
  inherited: readonly (readonly GroupSettings[])[],
): GroupConflict[] {
  return SETTINGS.flatMap((setting): GroupConflict[] => {
    if (own[setting] !== undefined || setting === 'break_glass') return [];
    const nearest = inherited
      .map((level) => level.filter((group) => group[setting] !== undefined))
      .find((level) => level.length > 0);
    const [first, ...others] = nearest ?? [];
    const other = others.find(
      (group) => JSON.stringify(group[setting]) !== JSON.stringify(first?.[setting]),
    );
    if (first === undefined || other === undefined) return [];
    return [{ device: own.name, setting, groups: [first.name, other.name] }];
  });
}

function contentOf(source: YamlSource): InventoryContent {
  const result = inventorySchema.safeParse(source.data() ?? {});
  if (result.success) return result.data;
  const { issues } = result.error;
  // If a key is misspelt, the right one is missing, too. Report the misspelt one.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  if (issue?.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    throw source.error([...issue.path, key], unknownKey(key, issue.path), 'key');
  }
  if (issue?.code === 'invalid_key') {
    const problem = issue.issues[0]?.message ?? '';
    throw source.error(issue.path, { code: 'bad-group-name', problem }, 'key');
  }
  const path = issue?.path ?? [];
  if (path.length === 0) throw source.error(path, { code: 'no-inventory' });
  const key = path.at(-1);
  if ((key === 'name' || key === 'address') && !source.has(path)) {
    throw source.error(path, { code: 'device-without', is: key });
  }
  throw source.error(path, `${placeName(path)} ${issue?.message ?? ''}`);
}

/** The canonical address of a device. Rejects invalid and misleading ones. */
function addressOf(device: DeviceContent, path: Path, source: YamlSource): string {
  try {
    const address = parseAddress(device.address);
    if (isIPv4(device.name) && address.host !== device.name) {
      throw new UsageError({ code: 'named-as-address', name: device.name });
    }
    return formatAddress(address);
  } catch (error) {
    if (error instanceof UsageError)
      throw source.error([...path, 'address'], error.note ?? error.message);
    throw error;
  }
}

/** The last word of a path: `devices` › 3 › `groups` › 0 -> `groups`. */
function placeName(path: Path): string {
  return path.findLast((part) => typeof part === 'string') ?? 'the file';
}

function deviceOf(
  { name, address, fingerprint }: DeviceContent,
  groups: readonly string[],
  sources: readonly Settings[],
  folder: string,
): InventoryDevice {
  const settings = SETTINGS.flatMap((key): [string, unknown][] => {
    const value =
      key === 'break_glass'
        ? breakGlassOf(sources)
        : sources.find((source) => source[key] !== undefined)?.[key];
    if (value === undefined) return [];
    return [[inCode(key), key === 'route' ? value : fromFolder(key, value, folder)]];
  });
  const own = { name, address, groups, ...(fingerprint && { fingerprint }) };
  return { ...own, ...(Object.fromEntries(settings) as DeviceSettings) };
}

/** Joins the lists of the device, of its groups and of all devices: a nearer list never removes protection. */
function breakGlassOf(sources: readonly Settings[]): readonly string[] | undefined {
  const all = new Set(sources.flatMap((source) => source.break_glass ?? []));
  return all.size === 0 ? undefined : [...all];
}
