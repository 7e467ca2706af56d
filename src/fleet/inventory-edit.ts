import type { Node, YAMLSeq } from 'yaml';
import { formatAddress, parseAddress } from '../device/address.ts';
import { SettingsError, UsageError } from '../errors.ts';
import { suggest } from '../text/suggest.ts';
import { InventoryDocument } from './inventory-document.ts';
import { parseInventory } from './inventory-text.ts';
import type { Inventory, InventoryDevice } from './inventory.ts';
import { writtenSettings } from './written-inventory.ts';

const FILE = 'devices.yaml';

/**
 * The inventory with one more device at the end. Everything else stays, comments too. Throws
 * SettingsError when the text is no inventory, UsageError when the name or the address is taken.
 */
export function addDevice(text: string, device: InventoryDevice, file = FILE): string {
  const inventory = parseInventory(text, file);
  if (inventory.find(device.name)) {
    throw new UsageError(`there is already a device "${device.name}" in ${file}`);
  }
  const address = formatAddress(parseAddress(device.address));
  const taken = inventory.findByAddress(address);
  if (taken) throw new UsageError(`${address} is already in ${file}, as "${taken.name}"`);

  const document = new InventoryDocument(text);
  const { name, groups } = device;
  document.add({ name, address: device.address, groups, settings: writtenSettings(device) });
  const edited = document.toString();
  try {
    parseInventory(edited, file);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    // The text was an inventory before: what is wrong is what was typed, and the place says nothing.
    throw new UsageError(error.message.replace(/^.*?:\d+:\d+: /, ''));
  }
  return edited;
}

/** The inventory with another profile for one device; all else stays. Throws UsageError when there is no such device. */
export function setProfile(text: string, name: string, profile: string, file = FILE): string {
  const { inventory, device } = findDevice(text, name, file);
  const document = new InventoryDocument(text);
  document.set(['devices', inventory.devices.indexOf(device)], 'profile', profile);
  return document.toString();
}

/** The inventory without one device. The comments above it stay, for they may be about others. */
export function removeDevice(text: string, name: string, file = FILE): string {
  const { inventory, device } = findDevice(text, name, file);
  const document = new InventoryDocument(text);
  const { devices } = document;
  if (devices === undefined) return text;
  const index = inventory.devices.indexOf(device);
  const [removed] = devices.items.splice(index, 1);
  keepComment(removed?.commentBefore, devices, index);
  return document.toString();
}

function findDevice(
  text: string,
  name: string,
  file: string,
): { inventory: Inventory; device: InventoryDevice } {
  const inventory = parseInventory(text, file);
  const device = inventory.find(name);
  if (device) return { inventory, device };
  const names = inventory.devices.map((other) => other.name);
  throw new UsageError(`no device "${name}" in ${file}`, { suggestions: suggest(name, names) });
}

function keepComment(
  comment: string | null | undefined,
  devices: YAMLSeq<Node>,
  index: number,
): void {
  if (!comment) return;
  const next = devices.items[index];
  if (next) next.commentBefore = joinComments(comment, next.commentBefore);
  else devices.comment = joinComments(comment, devices.comment);
}

function joinComments(first: string, second: string | null | undefined): string {
  return second ? `${first}\n${second}` : first;
}
