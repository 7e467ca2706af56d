import { formatAddress, parseAddress } from '../device/address.ts';
import type { DeviceSettings } from './inventory-schema.ts';
import type { ConfiguredRoute } from '../device/route/route.ts';

/** One device of the inventory, with the settings inherited from its groups. */
export interface InventoryDevice extends DeviceSettings {
  readonly name: string;
  /** As written: host or host:port. */
  readonly address: string;
  readonly groups: readonly string[];
  /** How to reach it; if absent, the environment decides. */
  readonly route?: ConfiguredRoute;
}

/** The devices of the inventory, in file order. */
export class Inventory {
  readonly devices: readonly InventoryDevice[];
  /** The break-glass accounts of all devices, also of addresses that are not in the inventory. */
  readonly breakGlass: readonly string[];
  // Made on first use: most lines look for names alone.
  #byName: ReadonlyMap<string, InventoryDevice> | undefined;
  #byAddress: ReadonlyMap<string, InventoryDevice> | undefined;

  constructor(devices: readonly InventoryDevice[], breakGlass: readonly string[] = []) {
    this.devices = devices;
    this.breakGlass = breakGlass;
  }

  /** The names of all groups that have a device, sorted; names are case-insensitive. */
  groups(): string[] {
    const groups = new Map<string, string>();
    for (const group of this.devices.flatMap((device) => device.groups)) {
      const key = group.toLowerCase();
      if (!groups.has(key)) groups.set(key, group);
    }
    return [...groups.values()].sort();
  }

  /** By name, ignoring case. */
  find(name: string): InventoryDevice | undefined {
    this.#byName ??= new Map(this.devices.map((device) => [device.name.toLowerCase(), device]));
    return this.#byName.get(name.toLowerCase());
  }

  /** By canonical `host:port`. */
  /** The device at this `host:port`; the dot that ends a complete name makes no other one. */
  findByAddress(address: string): InventoryDevice | undefined {
    const withoutDot = (text: string): string => text.replace(/\.(?=:\d+$)/, '');
    this.#byAddress ??= new Map(
      this.devices.map((device) => [
        withoutDot(formatAddress(parseAddress(device.address))),
        device,
      ]),
    );
    return this.#byAddress.get(withoutDot(address));
  }
}

/** Nested groups, for inheritance. Names are case-insensitive. */
export class GroupTree {
  readonly #parents = new Map<string, string[]>();

  constructor(groups: readonly { readonly name: string; readonly children: readonly string[] }[]) {
    for (const { name, children } of groups) {
      for (const child of children) {
        const parents = this.#parents.get(child.toLowerCase()) ?? [];
        this.#parents.set(child.toLowerCase(), [...parents, name]);
      }
    }
  }

  /** These groups and their ancestors, nearest level first. */
  levels(own: readonly string[]): string[][] {
    const seen = new Set<string>();
    const levels: string[][] = [];
    let level = own;
    while (level.length > 0) {
      const fresh = level.filter((name) => {
        const isNew = !seen.has(name.toLowerCase());
        seen.add(name.toLowerCase());
        return isNew;
      });
      if (fresh.length > 0) levels.push(fresh);
      level = fresh.flatMap((name) => this.#parents.get(name.toLowerCase()) ?? []);
    }
    return levels;
  }

  isInItself(name: string): boolean {
    const parents = this.#parents.get(name.toLowerCase()) ?? [];
    return this.levels(parents).some((level) =>
      level.some((other) => other.toLowerCase() === name.toLowerCase()),
    );
  }
}
