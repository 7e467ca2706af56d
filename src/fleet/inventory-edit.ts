import { isMap, isSeq, parseDocument, YAMLSeq, type Document, type Node } from 'yaml';
import { formatAddress, parseAddress } from '../device/address.ts';
import { SettingsError, UsageError } from '../errors.ts';
import { suggest } from '../suggest.ts';
import { writtenRoute } from './inventory-route.ts';
import { parseInventory } from './inventory-text.ts';
import type { Inventory, InventoryDevice } from './inventory.ts';

const FILE = 'devices.yaml';
const HEADER = ` Devices that devsh knows by name. Edit this file as you like, or use "devsh device add" and
 "devsh device remove", which keep your comments.`;

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

  const document = open(text);
  if (document.contents === null) document.contents = document.createNode({});
  if (text.trim() === '') document.commentBefore = HEADER;
  const node = document.createNode(fields(device));
  const groups = isMap(node) ? node.get('groups', true) : undefined;
  if (isSeq(groups)) groups.flow = true;
  const devices = document.get('devices', true);
  if (isSeq(devices)) {
    // An empty list is written as [], which would go on in one line.
    if (devices.items.length === 0) devices.flow = false;
    devices.add(node);
  } else {
    const list = new YAMLSeq();
    list.add(node);
    document.set('devices', list);
  }
  const edited = print(document, text);
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
  const document = open(text);
  document.setIn(['devices', inventory.devices.indexOf(device), 'profile'], profile);
  return print(document, text);
}

/** The inventory without one device. The comments above it stay, for they may be about others. */
export function removeDevice(text: string, name: string, file = FILE): string {
  const { inventory, device } = findDevice(text, name, file);
  const document = open(text);
  const devices = document.get('devices', true);
  if (!isSeq<Node>(devices)) return text;
  const index = inventory.devices.indexOf(device);
  const [removed] = devices.items.splice(index, 1);
  keepComment(removed?.commentBefore, devices, index);
  return print(document, text);
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

function fields(device: InventoryDevice): Record<string, unknown> {
  return {
    name: device.name,
    address: device.address,
    ...(device.groups.length > 0 && { groups: [...device.groups] }),
    ...(device.user !== undefined && { user: device.user }),
    ...(device.ca !== undefined && { ca: device.ca }),
    ...(device.insecure !== undefined && { insecure: String(device.insecure) }),
    ...(device.readOnly !== undefined && { read_only: String(device.readOnly) }),
    ...(device.profile !== undefined && { profile: device.profile }),
    ...(device.route && writtenRoute(device.route)),
    ...(device.credentialCommand && { credential_command: [...device.credentialCommand] }),
    ...(device.gitCredential && { git_credential: [...device.gitCredential] }),
    ...(device.netrc !== undefined && { netrc: String(device.netrc) }),
  };
}

// In the failsafe schema scalars stay as they are written: `1.0` is not turned into 1.
function open(text: string): Document {
  return parseDocument(text, { schema: 'failsafe' });
}

function print(document: Document, original: string): string {
  const printed = document.toString({
    lineWidth: 0, // no folding of what the user wrote in one line
    indentSeq: !/^devices:[^\S\n]*(#.*)?\n(\s*#.*\n|\s*\n)*-/m.test(original),
    flowCollectionPadding: !/\[\S/.test(original) && /\[ /.test(original),
  });
  // Where the first device is taken away, yaml indents an empty line.
  const clean = printed.replace(/^[^\S\r\n]+$/gm, '');
  return original.includes('\r\n') ? clean.replace(/\r?\n/g, '\r\n') : clean;
}
