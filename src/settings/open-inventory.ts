import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { GoodCopy } from './good-copy.ts';
import { InventoryFile } from './inventory-file.ts';
import { ParsedCopy } from './parsed-copy.ts';
import type { Paths } from './paths.ts';
import type { Settings } from './settings.ts';

/**
 * The inventory that the settings name, with its good copy and what was made of it: each file has its own.
 *
 * @param tell gets a line for the user when the file has lost devices
 */
export function openInventory(
  paths: Paths,
  settings: Settings,
  tell: (notice: string) => void,
): InventoryFile {
  const path = settings.get('inventory');
  const name = path === undefined ? 'devices' : `devices-${digest(resolve(path))}`;
  return new InventoryFile(
    placeOf(path, paths, settings),
    new GoodCopy(join(paths.state, 'good-copies', `${name}.yaml`)),
    tell,
    new ParsedCopy(paths.cache, name),
  );
}

/** A path in the settings counts from their folder, one in the environment from where one is. */
function placeOf(path: string | undefined, paths: Paths, settings: Settings): string {
  if (path === undefined) return join(paths.config, 'devices.yaml');
  return settings.origin('inventory').kind === 'user' ? resolve(paths.config, path) : resolve(path);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
