import { isMap, isSeq, parseDocument, YAMLMap, YAMLSeq, type Document, type Node } from 'yaml';
import type { WrittenDevice } from './written-inventory.ts';

const HEADER = ` Devices that devsh knows by name. Edit this file as you like, or use "devsh device add" and
 "devsh device remove", which keep your comments.`;

/** The text of `devices.yaml` to be edited: comments, order and manner stay as they are. */
export class InventoryDocument {
  readonly #document: Document;
  readonly #original: string;

  constructor(text: string) {
    // In the failsafe schema scalars stay as they are written: `1.0` is not turned into 1.
    this.#document = parseDocument(text, { schema: 'failsafe' });
    this.#original = text;
    if (this.#document.contents === null) {
      this.#document.contents = this.#document.createNode({});
    }
    if (text.trim() === '') this.#document.commentBefore = HEADER;
  }

  /** The list of devices, when there is one. */
  get devices(): YAMLSeq<Node> | undefined {
    const devices = this.#document.get('devices', true);
    return isSeq<Node>(devices) ? devices : undefined;
  }

  /** Adds a device at the end of the list. */
  add({ name, address, groups, settings }: WrittenDevice): void {
    const node = this.#document.createNode({
      name,
      address,
      ...(groups.length > 0 && { groups: [...groups] }),
      ...settings,
    });
    const list = isMap(node) ? node.get('groups', true) : undefined;
    if (isSeq(list)) list.flow = true;
    const { devices } = this;
    if (devices !== undefined) {
      // An empty list is written as [], which would go on in one line.
      if (devices.items.length === 0) devices.flow = false;
      devices.add(node);
    } else {
      const made = new YAMLSeq();
      made.add(node);
      this.#document.set('devices', made);
    }
  }

  /** Sets one key of what stands at `path`; undefined takes it out. */
  set(path: readonly unknown[], key: string, value: string | readonly string[] | undefined): void {
    const place = [...path, key];
    if (value === undefined) {
      this.#document.deleteIn(place);
    } else if (typeof value === 'string') {
      this.#document.setIn(place, value);
    } else {
      this.#setList(place, value);
    }
  }

  /** Makes sure that there is a group of this name to be filled. */
  addGroup(name: string): void {
    if (!isMap(this.#document.get('groups', true))) {
      this.#document.set('groups', new YAMLMap());
    }
    if (!isMap(this.#document.getIn(['groups', name], true))) {
      this.#document.setIn(['groups', name], new YAMLMap());
    }
  }

  toString(): string {
    const original = this.#original;
    const printed = this.#document.toString({
      lineWidth: 0, // no folding of what the user wrote in one line
      indentSeq: !/^devices:[^\S\n]*(#.*)?\n(\s*#.*\n|\s*\n)*-/m.test(original),
      flowCollectionPadding: !/\[\S/.test(original) && /\[ /.test(original),
    });
    // Where the first device is taken away, yaml indents an empty line.
    const clean = printed.replace(/^[^\S\r\n]+$/gm, '');
    return original.includes('\r\n') ? clean.replace(/\r?\n/g, '\r\n') : clean;
  }

  /** A list that begins as before keeps its items with their comments. */
  #setList(place: readonly unknown[], words: readonly string[]): void {
    const held = this.#document.getIn(place, true);
    const before = isSeq(held) ? (held.toJS(this.#document) as unknown[]) : [];
    if (isSeq(held) && before.every((word, index) => word === words[index])) {
      for (const word of words.slice(before.length)) held.add(this.#document.createNode(word));
      return;
    }
    const list = this.#document.createNode(words);
    if (isSeq(list)) list.flow = true;
    this.#document.setIn(place, list);
  }
}
