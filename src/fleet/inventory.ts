import { formatAddress, parseAddress, shortAddress } from '../device/address.ts';
import type { DeviceSettings } from './inventory-schema.ts';
import type { ConfiguredRoute } from '../device/route/route.ts';
import ipaddr from 'ipaddr.js';
import { oneLine } from '../text/one-line.ts';
import { attempt, UsageError } from '../errors.ts';
import { suggest } from '../text/suggest.ts';
import { matchesGlob } from '../text/glob.ts';

/** One device of the inventory, with the settings inherited from its groups. */
export interface InventoryDevice extends DeviceSettings {
  readonly name: string;
  /** As written: host or host:port. */
  readonly address: string;
  readonly groups: readonly string[];
  /** The SHA-256 of its certificate, as in `Pin`. A pin that devsh keeps wins over it. */
  readonly fingerprint?: string;
  /** How to reach it; if absent, the environment decides. */
  readonly route?: ConfiguredRoute;
}

/** The devices of the inventory, in file order. */
export class Inventory {
  readonly devices: readonly InventoryDevice[];
  /** The break-glass accounts of all devices, also of addresses that are not in the inventory. */
  readonly breakGlass: readonly string[];
  // Both maps are made on first use: most lines look only for names.
  #byName: ReadonlyMap<string, InventoryDevice> | undefined;
  #byAddress: ReadonlyMap<string, InventoryDevice> | undefined;

  constructor(devices: readonly InventoryDevice[], breakGlass: readonly string[] = []) {
    this.devices = devices;
    this.breakGlass = breakGlass;
  }

  /** The names of all groups that have a device, sorted; names are case-insensitive. */
  groups(): string[] {
    const all = this.devices.flatMap(({ groups }) => groups);
    const spellings = Map.groupBy(all, (group) => group.toLowerCase());
    return [...spellings.values()].flatMap(([first = '']) => first).sort();
  }

  find(name: string): InventoryDevice | undefined {
    this.#byName ??= new Map(this.devices.map((device) => [device.name.toLowerCase(), device]));
    return this.#byName.get(name.toLowerCase());
  }

  /** The device at this `host:port`. A dot at the end of a complete host name does not count. */
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

/** A device to use: from the inventory, or given by its address. */
export interface DeviceEntry extends InventoryDevice {
  /** Canonical `host:port`. */
  readonly address: string;
}

/**
 * The devices that selectors name, each once: names (with `*`, `?`), `@group`, `@all`, addresses, `10.0.0.[5-9]`,
 * `10.0.0.0/29`. `!term` excludes, from all devices if there is no other term. Throws UsageError with the column.
 */
export function selectDevices(selectors: readonly string[], inventory: Inventory): DeviceEntry[] {
  const terms = selectors.flatMap(splitTerms);
  const selected = new Map<string, DeviceEntry>();
  const excluded = new Set<string>();
  const hasOnlyExclusions = terms.length > 0 && terms.every(({ excludes }) => excludes);
  if (hasOnlyExclusions) {
    for (const device of inventory.devices) addEntry(selected, fromInventory(device));
  }
  for (const term of terms) {
    for (const entry of entriesOf(term, inventory)) {
      if (term.excludes) excluded.add(entry.address);
      else addEntry(selected, entry);
    }
    // A large range is usually a typing error, but an inventory may be large.
    if (selected.size > MAX_DEVICES + inventory.devices.length) {
      throw tooMany(term, BigInt(selected.size));
    }
  }
  const entries = [...selected.values()].filter(({ address }) => !excluded.has(address));
  if (terms.length > 0 && entries.length === 0) {
    throw new UsageError({ code: 'all-excluded', selectors: selectors.join(' ') });
  }
  return entries;
}

/** Like `selectDevices`, but prefers connected devices, and gives the column of an error in the line. */
export function namedDevices(
  selectors: readonly string[],
  inventory: Inventory,
  connected: readonly DeviceEntry[],
  line: string,
): DeviceEntry[] {
  const all = withConnected(inventory, connected);
  try {
    return selectDevices(selectors, all);
  } catch (error) {
    if (!(error instanceof UsageError) || error.column === undefined) throw error;
    const isWrong = (one: string) => attempt(Error, () => selectDevices([one], all)) === undefined;
    const wrong = selectors.find(isWrong) ?? '';
    const start = line.lastIndexOf(wrong);
    const column = start < 0 ? undefined : start + error.column;
    const { note, message, suggestions } = error;
    throw new UsageError(note ?? message, { column, suggestions });
  }
}

/** Puts the connected devices first. A large inventory is not read again if there are none. */
export function withConnected(inventory: Inventory, connected: readonly DeviceEntry[]): Inventory {
  if (connected.length === 0) return inventory;
  const addresses = new Set(connected.map(({ address }) => address));
  const others = inventory.devices.filter(
    ({ address }) => !addresses.has(formatAddress(parseAddress(address))),
  );
  return new Inventory([...connected, ...others], inventory.breakGlass);
}

interface Term {
  readonly text: string;
  /** Start of `text` in its selector, in UTF-16 units from 0. */
  readonly column: number;
  readonly excludes: boolean;
}

function splitTerms(selector: string): Term[] {
  // A comma inside brackets belongs to the range.
  return Array.from(selector.matchAll(/(?:\[[^\]\s]*\]?|[^\s,[])+/g), (match) => {
    const excludes = match[0].startsWith('!');
    return {
      text: excludes ? match[0].slice(1) : match[0],
      column: match.index + (excludes ? 1 : 0),
      excludes,
    };
  });
}

function addEntry(entries: Map<string, DeviceEntry>, entry: DeviceEntry): void {
  if (!entries.has(entry.address)) entries.set(entry.address, entry);
}

/** Resolves a term; reports errors at its column. */
function entriesOf(term: Term, inventory: Inventory): DeviceEntry[] {
  try {
    return resolveTerm(term, inventory);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const { note, message, suggestions } = error;
    throw new UsageError(note ?? message, { column: term.column, suggestions });
  }
}

function resolveTerm(term: Term, inventory: Inventory): DeviceEntry[] {
  const { text } = term;
  if (text === '') throw new UsageError({ code: 'nothing-excluded' });
  if (text.startsWith('@')) return resolveGroup(text.slice(1), inventory);
  const expansion = expandNet(text) ?? expandBrackets(text);
  if (expansion === undefined) return resolveWord(text, inventory);
  if (expansion.count > BigInt(MAX_DEVICES)) throw tooMany(term, expansion.count);
  return Array.from(expansion.words()).flatMap((word) => resolveWord(word, inventory));
}

function resolveGroup(group: string, inventory: Inventory): DeviceEntry[] {
  const isAll = group.toLowerCase() === 'all';
  const matches = matcher(group);
  const matched = inventory.devices.filter(({ groups }) => isAll || groups.some(matches));
  if (matched.length > 0) return matched.map(fromInventory);
  if (isAll) throw new UsageError({ code: 'empty-inventory' });
  const all = inventory.groups();
  const near = suggest(group, ['all', ...all]);
  const groups = near.length > 0 ? undefined : all;
  const suggestions = near.map((name) => `@${name}`);
  throw new UsageError({ code: 'no-such-group', group, groups }, { suggestions });
}

function resolveWord(word: string, inventory: Inventory): DeviceEntry[] {
  const named = inventory.find(word);
  if (named) return [fromInventory(named)];
  if (/[*?]/.test(word)) {
    const matches = matcher(word);
    const devices = inventory.devices.filter(({ name }) => matches(name));
    if (devices.length > 0) return devices.map(fromInventory);
    throw new UsageError({ code: 'no-match', word: oneLine(word) });
  }
  if (!/[.:[\]]/.test(word) && word.toLowerCase() !== 'localhost') {
    const names = inventory.devices.map(({ name }) => name);
    const groups = inventory.groups().map((group) => `@${group}`);
    const group = ['@all', ...groups].find((one) => one === `@${word}`);
    const suggestions = group ? [group] : suggest(word, [...names, ...groups]);
    throw new UsageError({ code: group ? 'name-of-group' : 'no-such-name', word }, { suggestions });
  }
  const parsed = parseAddress(word);
  const address = formatAddress(parsed);
  const device = inventory.findByAddress(address);
  if (device) return [fromInventory(device)];
  const { breakGlass } = inventory;
  const guarded = breakGlass.length > 0 && { breakGlass };
  return [{ name: shortAddress(parsed), address, groups: [], ...guarded }];
}

function fromInventory(device: InventoryDevice): DeviceEntry {
  return { ...device, address: formatAddress(parseAddress(device.address)) };
}

/** `*` and `?` as in a shell, ignoring case. */
function matcher(pattern: string): (name: string) => boolean {
  const glob = pattern.toLowerCase();
  return (name) => matchesGlob(name.toLowerCase(), glob);
}

function tooMany(term: Term, count: bigint): UsageError {
  const { text, column } = term;
  const counts = { count: String(count), most: MAX_DEVICES };
  return new UsageError({ code: 'too-many-devices', term: text, ...counts }, { column });
}

/** The most devices of one selector; more are usually a typing error. */
export const MAX_DEVICES = 4_096;

/** The words of a range or network; `count` may be too large to expand. */
interface Expansion {
  readonly count: bigint;
  readonly words: () => Iterable<string>;
}

const BRACKET = /\[([^\]]*)\]/;
const LIST = /^\d{1,15}(?:-\d{1,15})?(?:,\d{1,15}(?:-\d{1,15})?)*$/;

/** Expands `10.0.0.[5-9]` and `r[01-12]c[1,3]`, the last one fastest; undefined without brackets, or for IPv6. */
function expandBrackets(term: string): Expansion | undefined {
  const match = BRACKET.exec(term);
  if (!match) {
    if (/[[\]]/.test(term)) throw new UsageError({ code: 'bad-range', is: 'bracket', term });
    return undefined;
  }
  const [bracket, list = ''] = match;
  if (list.includes(':')) return undefined;
  if (!LIST.test(list)) throw new UsageError({ code: 'bad-range', is: 'list', range: bracket });
  const before = term.slice(0, match.index);
  const rest = term.slice(match.index + bracket.length);
  const after = /[[\]]/.test(rest) ? expandBrackets(rest) : undefined;
  const runs = list.split(',').map(parseRun);
  const own = runs.reduce((count, { first, last }) => count + BigInt(last - first + 1), 0n);
  return {
    count: own * (after?.count ?? 1n),
    *words() {
      for (const { first, last, width } of runs) {
        for (let number = first; number <= last; number += 1) {
          const start = before + String(number).padStart(width, '0');
          for (const end of after?.words() ?? [rest]) yield start + end;
        }
      }
    },
  };
}

function parseRun(text: string): { first: number; last: number; width: number } {
  const [from = '', to = from] = text.split('-');
  const first = Number(from);
  const last = Number(to);
  if (last < first) throw new UsageError({ code: 'bad-range', is: 'reversed', range: text });
  // Only a leading zero means padding: [8-12] is 8, 9, 10; [08-12] is 08, 09, 10.
  return { first, last, width: from.startsWith('0') ? from.length : 0 };
}

/** The hosts of `10.0.0.0/29` or `[2001:db8::/120]:8443`, without the first and last of IPv4; undefined otherwise. */
function expandNet(term: string): Expansion | undefined {
  const match =
    /^\[(?<six>[^\]/]*)\/(?<sixBits>\d+)\](?<sixPort>:\d+)?$/.exec(term) ??
    /^\[(?<six>[^\]/]*)\]\/(?<sixBits>\d+)$/.exec(term) ??
    /^(?<net>[^/]*)\/(?<bits>\d+)(?<port>:\d+)?$/.exec(term);
  if (!match?.groups) return undefined;
  const { six, sixBits, sixPort, net, bits, port } = match.groups;
  const address = six ?? net ?? '';
  const prefix = Number(sixBits ?? bits);
  const isVersion4 = ipaddr.IPv4.isValidFourPartDecimal(address);
  if (!isVersion4 && !ipaddr.IPv6.isValid(address)) {
    throw new UsageError({ code: 'bad-range', is: 'net', address, term });
  }
  const width = isVersion4 ? 32 : 128;
  if (prefix > width)
    throw new UsageError({ code: 'bad-range', is: 'prefix', prefix, term, width });
  const size = 1n << BigInt(width - prefix);
  const skipsEnds = isVersion4 && size >= 4n;
  const bytes = ipaddr.parse(address).toByteArray();
  const number = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  const first = (number / size) * size + (skipsEnds ? 1n : 0n);
  const count = skipsEnds ? size - 2n : size;
  return {
    count,
    *words() {
      for (let offset = 0n; offset < count; offset += 1n) {
        const host = toAddress(first + offset, bytes.length);
        yield (isVersion4 ? host : `[${host}]`) + (port ?? sixPort ?? '');
      }
    },
  };
}

function toAddress(number: bigint, length: number): string {
  const bytes = Array.from({ length }, (_, index) =>
    Number((number >> BigInt(8 * (length - 1 - index))) & 0xffn),
  );
  return ipaddr.fromByteArray(bytes).toString();
}
