import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { RefusedError, SettingsError, unlessFailed } from '../errors.ts';
import type { InventoryDocument } from '../fleet/inventory-edit.ts';
import type { ReadInventory } from '../fleet/inventory-text.ts';
import { Inventory, type InventoryDevice } from '../fleet/inventory.ts';
import { fileStamp, readText, writeTextAtomically } from '../os/files.ts';
import { CachedFile, GoodCopy, keepAside } from './cache.ts';
import { withLock } from '../os/lock.ts';
import { counted, someOf } from '../text/one-line.ts';
import type { Paths } from '../os/environment.ts';
import type { Settings } from './settings.ts';

/** Partial, because an earlier state of this version may have cached another shape. */
type ParsedInventory = Partial<Pick<Inventory, 'devices' | 'breakGlass'>>;

/** The inventory in `devices.yaml`: edits keep comments and order, and the last valid text is kept in a copy. */
export class InventoryFile {
  readonly path: string;
  /** Its fingerprints count. A file that a variable names may lie in a checkout from anywhere. */
  readonly vouches: boolean;
  readonly #copy: GoodCopy;
  readonly #notify: (notice: string) => void;
  readonly #parsed: CachedFile<ParsedInventory> | undefined;
  #held: { readonly stamp: string; readonly inventory: Inventory } | undefined;

  /** @param notify gets a line for the user if the file has lost devices */
  constructor(
    path: string,
    copy: GoodCopy,
    notify: (notice: string) => void,
    parsed?: CachedFile<ParsedInventory>,
    vouches = true,
  ) {
    this.path = path;
    this.vouches = vouches;
    this.#copy = copy;
    this.#notify = notify;
    this.#parsed = parsed;
  }

  /** A missing file is an empty inventory. Throws SettingsError with file, line and column. */
  async load(): Promise<Inventory> {
    // Taken before reading, so that a change in between makes the next call read again.
    const own = await fileStamp(this.path);
    const stamp = await this.#stampWith(own);
    if (this.#held?.stamp === stamp) return this.#held.inventory;
    const { devices, breakGlass } =
      (own === '' ? undefined : await this.#parsed?.read(stamp)) ?? {};
    if (devices !== undefined) return this.#hold(stamp, new Inventory(devices, breakGlass));
    const good = await this.#copy.read();
    const { text, inventory } = await this.#read(good);
    if (good !== undefined && text !== good) await this.#notifyLost(inventory, good);
    if (text === '') return inventory;
    await this.#copy.keep(text);
    const kept = await this.#stampWith(own);
    await this.#parsed?.keep(
      { devices: inventory.devices, breakGlass: inventory.breakGlass },
      kept,
    );
    return this.#hold(kept, inventory);
  }

  /** Reads the file again, with what `load` does not keep. Throws as `load`. */
  async read(): Promise<ReadInventory> {
    const { readInventory } = await import('../fleet/inventory-text.ts');
    return readInventory((await readText(this.path)) ?? '', this.path);
  }

  /** Changes the file. Throws as `load`, and what `change` throws. */
  async edit(change: (inventory: InventoryDocument) => void): Promise<void> {
    const { InventoryDocument } = await import('../fleet/inventory-edit.ts');
    await withLock(this.path, async () => {
      // Reports lost devices before the file is overwritten.
      await this.load();
      const document = new InventoryDocument((await readText(this.path)) ?? '', this.path);
      change(document);
      const text = document.edited();
      await writeTextAtomically(this.path, text);
      await this.#copy.keep(text);
    });
  }

  /** Puts the good copy back, and keeps the damaged text aside. Throws SettingsError if there is none. */
  async restore(
    now: Date,
  ): Promise<{ readonly devices: number; readonly aside: string | undefined }> {
    return withLock(this.path, async () => {
      const good = await this.#copy.read();
      if (good === undefined) {
        throw new SettingsError(`there is no good copy of ${this.path} to restore`);
      }
      const { devices } = await parsed(good, this.#copy.path);
      const text = await readText(this.path);
      const current = text ? await unlessFailed(parsed(text, this.path)) : undefined;
      if (current !== undefined) {
        const lists = counted(current.devices.length, 'device');
        throw new RefusedError(
          `${this.path} is not damaged, it lists ${lists}: nothing to restore`,
        );
      }
      const aside = await keepAside(this.path, now);
      await writeTextAtomically(this.path, good);
      return { devices: devices.length, aside };
    });
  }

  #hold(stamp: string, inventory: Inventory): Inventory {
    this.#held = { stamp, inventory };
    return inventory;
  }

  /** The state of the file and of the copy that it is compared with. */
  async #stampWith(own: string): Promise<string> {
    return [this.path, own, await this.#copy.stamp()].join('|');
  }

  async #read(good: string | undefined): Promise<{ text: string; inventory: Inventory }> {
    try {
      const text = (await readText(this.path)) ?? '';
      return { text, inventory: await parsed(text, this.path) };
    } catch (error) {
      if (!(error instanceof SettingsError) || good === undefined) throw error;
      const advice = '"device restore" restores its last valid content';
      throw new SettingsError(`${error.message}; ${advice}`, { cause: error });
    }
  }

  /** A truncated file may still be a valid inventory, with fewer devices or other addresses. */
  async #notifyLost(inventory: Inventory, good: string): Promise<void> {
    // The copy may be damaged, or from another version of devsh.
    const before = (await unlessFailed(parsed(good, 'good copy')))?.devices ?? [];
    const gone = before.filter(({ name }) => inventory.find(name) === undefined);
    const moved = before.filter(({ name, address }) => {
      const now = inventory.find(name);
      return now !== undefined && now.address !== address;
    });
    if (gone.length + moved.length === 0) return;
    const kept = await this.#copy.keepOlder();
    const less = `lists ${counted(gone.length, 'device')} fewer (${someOf(namesOf(gone))})`;
    const other = `has another address for ${counted(moved.length, 'device')} (${someOf(namesOf(moved))})`;
    const what = [...(gone.length > 0 ? [less] : []), ...(moved.length > 0 ? [other] : [])];
    this.#notify(
      `${this.path} ${what.join(' and ')} than when devsh last read it; ${kept} has that text`,
    );
  }
}

function namesOf(devices: readonly InventoryDevice[]): readonly string[] {
  return devices.map(({ name }) => name);
}

/** Loads YAML and schema only for a text that is not cached. */
async function parsed(text: string, path: string): Promise<Inventory> {
  if (text === '') return new Inventory([]);
  const { parseInventory } = await import('../fleet/inventory-text.ts');
  return parseInventory(text, path);
}

/** Each file has its own good copy and cache; `notify` gets a line if the file has lost devices. */
export function openInventory(
  paths: Paths,
  settings: Settings,
  notify: (notice: string) => void,
): InventoryFile {
  const path = settings.get('inventory');
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
  const name = path === undefined ? 'devices' : `devices-${digest(resolve(path)).slice(0, 16)}`;
  return new InventoryFile(
    placeOf(path, paths, settings),
    new GoodCopy(join(paths.state, 'good-copies', `${name}.yaml`)),
    notify,
    new CachedFile(paths.cache, name),
    settings.origin('inventory').kind !== 'environment',
  );
}

/** Relative to the folder of the settings, or to the current folder if it comes from the environment. */
function placeOf(path: string | undefined, paths: Paths, settings: Settings): string {
  if (path === undefined) return join(paths.config, 'devices.yaml');
  return settings.origin('inventory').kind === 'user' ? resolve(paths.config, path) : resolve(path);
}
