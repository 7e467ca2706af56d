import { SettingsError } from '../errors.ts';
import { addDevice, removeDevice, setProfile } from '../fleet/inventory-edit.ts';
import { parseInventory, type Inventory, type InventoryDevice } from '../fleet/inventory.ts';
import { readText, writeTextAtomically } from './files.ts';
import { keepAside, type GoodCopy } from './good-copy.ts';
import { withLock } from './lock.ts';

/**
 * The inventory in `devices.yaml`, which belongs to the user: edits keep comments and order. What it
 * held when it was last understood is kept in a good copy.
 */
export class InventoryFile {
  readonly path: string;
  readonly #copy: GoodCopy;
  readonly #tell: (notice: string) => void;

  /** @param tell gets a line for the user when the file has lost devices */
  constructor(path: string, copy: GoodCopy, tell: (notice: string) => void) {
    this.path = path;
    this.#copy = copy;
    this.#tell = tell;
  }

  /** No file is an empty inventory. Throws SettingsError with file, line and column. */
  async load(): Promise<Inventory> {
    const good = await this.#copy.read();
    const { text, inventory } = await this.#read(good);
    if (good !== undefined && text !== good) await this.#tellLost(inventory, good);
    if (text !== '') await this.#copy.keep(text);
    return inventory;
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

  /**
   * Brings the good copy back; what the file held is kept aside, in the file that is named. Throws
   * SettingsError when there is no copy.
   */
  async restore(
    now: Date,
  ): Promise<{ readonly devices: number; readonly aside: string | undefined }> {
    return withLock(this.path, async () => {
      const good = await this.#copy.read();
      if (good === undefined) {
        throw new SettingsError(`there is no good copy of ${this.path} to restore`);
      }
      const { devices } = parseInventory(good, this.#copy.path);
      const aside = await keepAside(this.path, now);
      await writeTextAtomically(this.path, good);
      return { devices: devices.length, aside };
    });
  }

  async #edit(change: (text: string) => string): Promise<void> {
    await withLock(this.path, async () => {
      // What the file has lost is told before it is written over.
      await this.load();
      const text = change((await readText(this.path)) ?? '');
      await writeTextAtomically(this.path, text);
      await this.#copy.keep(text);
    });
  }

  async #read(good: string | undefined): Promise<{ text: string; inventory: Inventory }> {
    try {
      const text = (await readText(this.path)) ?? '';
      return { text, inventory: parseInventory(text, this.path) };
    } catch (error) {
      if (!(error instanceof SettingsError) || good === undefined) throw error;
      const advice = '"device restore" brings back what it held when it was last understood';
      throw new SettingsError(`${error.message}; ${advice}`, { cause: error });
    }
  }

  /** A file that was cut off may still be an inventory: one with fewer devices, or other addresses. */
  async #tellLost(inventory: Inventory, good: string): Promise<void> {
    const before = devicesIn(good);
    const gone = before.filter(({ name }) => inventory.find(name) === undefined);
    const moved = before.filter(({ name, address }) => {
      const now = inventory.find(name);
      return now !== undefined && now.address !== address;
    });
    if (gone.length + moved.length === 0) return;
    const kept = await this.#copy.keepOlder();
    const what = [
      ...(gone.length > 0 ? [`lists ${countOf(gone)} less (${someOf(gone)})`] : []),
      ...(moved.length > 0 ? [`has another address for ${countOf(moved)} (${someOf(moved)})`] : []),
    ];
    this.#tell(
      `${this.path} ${what.join(' and ')} than when devsh last read it; that text is kept in ${kept}`,
    );
  }
}

function countOf({ length }: readonly InventoryDevice[]): string {
  return `${length} ${length === 1 ? 'device' : 'devices'}`;
}

function someOf(devices: readonly InventoryDevice[]): string {
  const names = devices.map(({ name }) => name);
  return names.length > 4 ? `${names.slice(0, 3).join(', ')} …` : names.join(', ');
}

function devicesIn(text: string): readonly InventoryDevice[] {
  try {
    return parseInventory(text, 'good copy').devices;
  } catch (error) {
    // It was understood by another version of devsh, or is damaged itself.
    if (error instanceof SettingsError) return [];
    throw error;
  }
}
