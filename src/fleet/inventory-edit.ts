import { type Document, isMap, isSeq, type Node, parseDocument, YAMLMap, YAMLSeq } from 'yaml';
import { formatAddress, parseAddress } from '../device/address.ts';
import { SettingsError, UsageError } from '../errors.ts';
import { textOf } from '../output/sentences.ts';
import { suggest } from '../text/suggest.ts';
import { type ReadInventory, readInventory } from './inventory-text.ts';
import type { InventoryDevice } from './inventory.ts';
import { type WrittenDevice, writtenSettings } from './written-inventory.ts';
import type { ImportPlan } from './import/import-plan.ts';

function joinComments(first: string, second: string | null | undefined): string {
  return second ? `${first}\n${second}` : first;
}

/** An editable `devices.yaml`: comments, order and style stay. */
export class InventoryDocument {
  readonly #document: Document;
  readonly #original: string;
  readonly #file: string;
  /** The inventory as it was before. */
  readonly #before: ReadInventory;

  /** Throws a `SettingsError` for an invalid inventory. */
  constructor(text: string, file: string) {
    this.#before = readInventory(text, file);
    // In the failsafe schema scalars stay as written: `1.0` does not become 1.
    this.#document = parseDocument(text, { schema: 'failsafe' });
    this.#original = text;
    this.#file = file;
    if (this.#document.contents === null) {
      this.#document.contents = this.#document.createNode({});
    }
    if (text.trim() === '') this.#document.commentBefore = textOf({ code: 'inventory-head' });
  }

  /** Throws a `UsageError` if name or address is taken. */
  addDevice(device: InventoryDevice): void {
    const { inventory } = this.#before;
    const file = this.#file;
    const { name, groups } = device;
    if (inventory.find(name)) throw new UsageError({ code: 'device-exists', name, file });
    const address = formatAddress(parseAddress(device.address));
    const taken = inventory.findByAddress(address);
    if (taken) throw new UsageError({ code: 'address-exists', address, file, name: taken.name });
    this.#add({ name, address: device.address, groups, settings: writtenSettings(device) });
  }

  /** Sets the profile of one device; everything else stays. Throws UsageError if there is no such device. */
  setProfile(name: string, profile: string): void {
    this.#set(['devices', this.#indexOf(name)], 'profile', profile);
  }

  /** Adds a device to groups. It stays in its other groups. Throws a `UsageError` if there is no such device. */
  addToGroups(name: string, groups: readonly string[]): void {
    const index = this.#indexOf(name);
    // Only the groups that the device itself names, not those that contain them.
    const { groups: own = [] } = this.#before.written.devices[index] ?? {};
    this.#set(['devices', index], 'groups', [...new Set([...own, ...groups])]);
  }

  /** Removes one device. Keeps the comments above it, which may be about others. Throws as `addToGroups`. */
  removeDevice(name: string): void {
    const index = this.#indexOf(name);
    const devices = this.#devices;
    const [removed] = devices?.items.splice(index, 1) ?? [];
    const comment = removed?.commentBefore;
    if (!devices || !comment) return;
    const next = devices.items[index];
    if (next) next.commentBefore = joinComments(comment, next.commentBefore);
    else devices.comment = joinComments(comment, devices.comment);
  }

  /** Writes the plan into the text. Throws a `SettingsError` if the text has changed since, or cannot be edited. */
  applyImport(plan: ImportPlan): void {
    const { written } = this.#before;
    const indexes = new Map(written.devices.map(({ name }, index) => [name.toLowerCase(), index]));
    for (const { name, changes } of plan.groups) {
      const known = written.groups.find((group) => group.name.toLowerCase() === name.toLowerCase());
      const own = known?.name ?? name;
      this.#addGroup(own);
      for (const { key, after } of changes) this.#set(['groups', own], key, after);
    }
    for (const { name, device, changes } of plan.steps) {
      if (device !== undefined) {
        this.#add(device);
        continue;
      }
      const index = indexes.get(name.toLowerCase());
      if (index === undefined) {
        throw new SettingsError({ code: 'not-listed', file: this.#file, name });
      }
      for (const { key, after } of changes) this.#set(['devices', index], key, after);
    }
  }

  #indexOf(name: string): number {
    const { inventory } = this.#before;
    const device = inventory.find(name);
    if (device) return inventory.devices.indexOf(device);
    const suggestions = suggest(
      name,
      inventory.devices.map((other) => other.name),
    );
    throw new UsageError({ code: 'no-such-device', name, file: this.#file }, { suggestions });
  }

  get #devices(): YAMLSeq<Node> | undefined {
    const devices = this.#document.get('devices', true);
    return isSeq<Node>(devices) ? devices : undefined;
  }

  #add({ name, address, groups, settings }: WrittenDevice): void {
    const node = this.#document.createNode({
      name,
      address,
      ...(groups.length > 0 && { groups: [...groups] }),
      ...settings,
    });
    const list = isMap(node) ? node.get('groups', true) : undefined;
    if (isSeq(list)) list.flow = true;
    const devices = this.#devices;
    if (devices !== undefined) {
      // An empty list is written as [], and its flow style would continue.
      if (devices.items.length === 0) devices.flow = false;
      devices.add(node);
    } else {
      const list = new YAMLSeq();
      list.add(node);
      this.#document.set('devices', list);
    }
  }

  /** Sets one key of the node at `path`; undefined deletes it. Throws a `SettingsError` for a shared (`*`) value. */
  #set(path: readonly unknown[], key: string, value: string | readonly string[] | undefined): void {
    const place = [...path, key];
    const current: unknown = this.#document.getIn(place, true);
    const anchor = current instanceof Object && 'anchor' in current ? current.anchor : undefined;
    if (typeof anchor === 'string' && this.#original.includes(`*${anchor}`)) {
      throw new SettingsError({ code: 'shared-anchor', key, name: anchor });
    }
    if (value === undefined) {
      this.#document.deleteIn(place);
    } else if (typeof value === 'string') {
      this.#document.setIn(place, value);
    } else {
      this.#setList(place, value);
    }
  }

  #addGroup(name: string): void {
    if (!isMap(this.#document.get('groups', true))) {
      this.#document.set('groups', new YAMLMap());
    }
    if (!isMap(this.#document.getIn(['groups', name], true))) {
      this.#document.setIn(['groups', name], new YAMLMap());
    }
  }

  /** The text to write. Throws a `UsageError` if it is no valid inventory. */
  edited(): string {
    const edited = this.#text();
    try {
      readInventory(edited, this.#file);
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      // The inventory was valid before, so the new values are wrong and the position means nothing.
      throw new UsageError(error.message.replace(/^.*?:\d+:\d+: /, ''));
    }
    return edited;
  }

  #text(): string {
    const original = this.#original;
    const printed = this.#document.toString({
      lineWidth: 0, // do not fold long lines of the user
      indentSeq: !/^devices:[^\S\n]*(#.*)?\n(\s*#.*\n|\s*\n)*-/m.test(original),
      flowCollectionPadding: !/\[\S/.test(original) && /\[ /.test(original),
    });
    // After the first device is removed, yaml indents an empty line.
    const clean = printed.replace(/^[^\S\r\n]+$/gm, '');
    return original.includes('\r\n') ? clean.replace(/\r?\n/g, '\r\n') : clean;
  }

  /** Sets a list. If it only gets further items, the others keep their comments. */
  #setList(place: readonly unknown[], words: readonly string[]): void {
    const existing = this.#document.getIn(place, true);
    const before = isSeq(existing) ? (existing.toJS(this.#document) as unknown[]) : [];
    if (isSeq(existing) && before.every((word, index) => word === words[index])) {
      for (const word of words.slice(before.length)) existing.add(this.#document.createNode(word));
      return;
    }
    const list = this.#document.createNode(words);
    if (isSeq(list)) list.flow = true;
    this.#document.setIn(place, list);
  }
}
