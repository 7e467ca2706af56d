import { parseAddress } from '../device/address.ts';
import type { JsonValue } from '../device/value-text.ts';
import { GroupTree } from './group-tree.ts';
import { SHARED_SETTINGS } from './inventory-schema.ts';
import type { Inventory, InventoryDevice } from './inventory.ts';
import { writtenSettings, type WrittenInventory } from './written-inventory.ts';

type JsonObject = Record<string, JsonValue>;

/** What a dynamic inventory of Ansible prints for `--list`: groups, and all variables under `_meta`. */
export function ansibleInventory(inventory: Inventory, written: WrittenInventory): JsonObject {
  const groups = new Map<string, { name: string; hosts: string[]; children: string[] }>();
  const groupOf = (name: string): { hosts: string[]; children: string[] } => {
    const known = groups.get(name.toLowerCase()) ?? { name, hosts: [], children: [] };
    groups.set(name.toLowerCase(), known);
    return known;
  };
  for (const { name, children } of written.groups) {
    for (const child of children) {
      groupOf(name).children.push(child);
      groupOf(child);
    }
  }
  const ungrouped: string[] = [];
  for (const { name, groups: own } of written.devices) {
    if (own.length === 0) ungrouped.push(name);
    for (const group of own) groupOf(group).hosts.push(name);
  }
  const tree = new GroupTree(written.groups);
  const listed = [...groups.values()].filter(({ name }) => !isAnsiblesOwn(name));
  const tops = listed.filter(({ name }) => tree.levels([name]).length === 1);
  return {
    _meta: {
      hostvars: Object.fromEntries(
        inventory.devices.map((device) => [device.name, ansibleVariables(device)]),
      ),
    },
    all: { children: ['ungrouped', ...tops.map(({ name }) => name)] },
    ungrouped: { hosts: ungrouped },
    ...Object.fromEntries(
      listed.map(({ name, hosts, children }) => [
        name,
        {
          ...(hosts.length > 0 && { hosts }),
          ...(children.length > 0 && {
            children: children.map((child) => groups.get(child.toLowerCase())?.name ?? child),
          }),
        },
      ]),
    ),
  };
}

/** What it prints for `--host NAME`. No secret, and nothing that would run a program. */
export function ansibleVariables(device: InventoryDevice): JsonObject {
  const settings = writtenSettings(device);
  const shared = SHARED_SETTINGS.flatMap((key): [string, JsonValue][] => {
    const value = settings[key];
    return value === undefined ? [] : [[`devsh_${key}`, String(value)]];
  });
  return {
    ansible_host: parseAddress(device.address).host,
    devsh_address: device.address,
    ...(device.user !== undefined && { ansible_user: device.user }),
    ...Object.fromEntries(shared),
  };
}

/** Names that mean something of their own in such a document. */
function isAnsiblesOwn(name: string): boolean {
  return ['_meta', 'all', 'ungrouped'].includes(name.toLowerCase());
}
