import { addDevice, removeDevice, setProfile } from '../fleet/inventory-edit.ts';
import { parseInventory, type Inventory, type InventoryDevice } from '../fleet/inventory.ts';
import { readText, writeTextAtomically } from './files.ts';
import { withLock } from './lock.ts';

/** The inventory in `devices.yaml`, which belongs to the user: edits keep comments and order. */
export class InventoryFile {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** No file is an empty inventory. Throws SettingsError with file, line and column. */
  async load(): Promise<Inventory> {
    return parseInventory((await readText(this.path)) ?? '', this.path);
  }

  /** Throws UsageError when the name or the address is taken. */
  async add(device: InventoryDevice): Promise<void> {
    await this.#edit((text) => addDevice(text, device, this.path));
  }

  /** Throws UsageError when there is no such device. */
  async remove(name: string): Promise<void> {
    await this.#edit((text) => removeDevice(text, name, this.path));
  }

  /** Throws UsageError when there is no such device. */
  async setProfile(name: string, profile: string): Promise<void> {
    await this.#edit((text) => setProfile(text, name, profile, this.path));
  }

  async #edit(change: (text: string) => string): Promise<void> {
    await withLock(this.path, async () => {
      await writeTextAtomically(this.path, change((await readText(this.path)) ?? ''));
    });
  }
}
