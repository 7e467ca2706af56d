import { formatAddress, parseAddress } from '../device/address.ts';
import type { LabelColor } from './inventory-schema.ts';
import type { ConfiguredRoute } from '../device/route/choose-route.ts';

/** One device of the inventory, with what its groups hand down to it. */
export interface InventoryDevice {
  readonly name: string;
  /** As written: host or host:port. */
  readonly address: string;
  readonly groups: readonly string[];
  readonly user?: string;
  /** A file with CA certificates. */
  readonly ca?: string;
  readonly insecure?: boolean;
  readonly readOnly?: boolean;
  /** What the prompt and the question of a write say of it: `PROD`. */
  readonly label?: string;
  readonly color?: LabelColor;
  /** The name of a built-in profile, or of one in the folder `profiles`. */
  readonly profile?: string;
  /** How to reach it; absent when the environment decides. */
  readonly route?: ConfiguredRoute;
  /** Program and arguments that print the login; `{host}`, `{port}` and `{device}` are put in. */
  readonly credentialCommand?: readonly string[];
  /** `default` for what git has configured, or one helper of git with its arguments. */
  readonly gitCredential?: readonly string[];
  /** A .netrc file that may have the login; `true` for the usual one. */
  readonly netrc?: string | boolean;
}

/** The devices that the user has written down, in the order of the file. */
export class Inventory {
  readonly devices: readonly InventoryDevice[];
  readonly #byName: ReadonlyMap<string, InventoryDevice>;
  readonly #byAddress: ReadonlyMap<string, InventoryDevice>;

  constructor(devices: readonly InventoryDevice[]) {
    this.devices = devices;
    this.#byName = new Map(devices.map((device) => [device.name.toLowerCase(), device]));
    this.#byAddress = new Map(
      devices.map((device) => [formatAddress(parseAddress(device.address)), device]),
    );
  }

  /** The names of all groups that have a device, sorted; case makes no difference between two. */
  groups(): string[] {
    const groups = new Map<string, string>();
    for (const group of this.devices.flatMap((device) => device.groups)) {
      const key = group.toLowerCase();
      if (!groups.has(key)) groups.set(key, group);
    }
    return [...groups.values()].sort();
  }

  /** By name, whatever its case. */
  find(name: string): InventoryDevice | undefined {
    return this.#byName.get(name.toLowerCase());
  }

  /** By canonical `host:port`. */
  findByAddress(address: string): InventoryDevice | undefined {
    return this.#byAddress.get(address);
  }
}
