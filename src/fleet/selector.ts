import { formatAddress, parseAddress, shortAddress } from '../device/address.ts';
import { oneLine } from '../device/text.ts';
import { UsageError } from '../errors.ts';
import { suggest } from '../suggest.ts';
import { expandBrackets, expandNet, MOST_DEVICES } from './address-range.ts';
import type { Inventory, InventoryDevice } from './inventory.ts';

/** A message names no more of them. */
const MOST_NAMED = 8;

/** A device to be used: from the inventory, or given directly by its address. */
export interface DeviceEntry extends InventoryDevice {
  /** Canonical `host:port`. */
  readonly address: string;
}

/**
 * The devices that selectors name, in the order in which they are first named, each once. A selector
 * is terms with spaces or commas between them: a name (`*` and `?` match), `@group`, `@all`, an address,
 * `10.0.0.[5-9]`, `10.0.0.0/29`; `!term` leaves out. With nothing but `!term`, the rest of the
 * inventory is meant. Throws UsageError, its column counted in the selector at fault.
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
    for (const entry of resolveTerm(term, inventory)) {
      if (term.excludes) excluded.add(entry.address);
      else addEntry(selected, entry);
    }
    // An inventory is as large as it was written; a range grows large by a slip.
    if (selected.size > MOST_DEVICES + inventory.devices.length) {
      throw tooMany(term, BigInt(selected.size));
    }
  }
  const entries = [...selected.values()].filter(({ address }) => !excluded.has(address));
  if (terms.length > 0 && entries.length === 0) {
    throw new UsageError(
      `"${selectors.join(' ')}" leaves no device: each that it names is taken out again by "!"`,
    );
  }
  return entries;
}

interface Term {
  readonly text: string;
  /** Where `text` starts in its selector, in UTF-16 units from 0. */
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

function* resolveTerm(term: Term, inventory: Inventory): Iterable<DeviceEntry> {
  if (term.text === '')
    throw new UsageError('"!" needs a device to leave out, as in !fw3', { column: term.column });
  if (term.text.startsWith('@')) {
    yield* resolveGroup(term, inventory);
    return;
  }
  const expansion = expand(term);
  if (expansion === undefined) {
    yield* resolveWord(term.text, term, inventory);
    return;
  }
  if (expansion.count > BigInt(MOST_DEVICES)) throw tooMany(term, expansion.count);
  for (const word of expansion.words()) yield* resolveWord(word, term, inventory);
}

function resolveGroup(term: Term, inventory: Inventory): DeviceEntry[] {
  const group = term.text.slice(1);
  const isAll = group.toLowerCase() === 'all';
  const matches = matcher(group);
  const members = inventory.devices.filter(({ groups }) => isAll || groups.some(matches));
  if (members.length > 0) return members.map(fromInventory);
  if (isAll) {
    throw new UsageError('the inventory has no devices; "devsh device add" adds one', {
      column: term.column,
    });
  }
  const groups = inventory.groups();
  const near = suggest(group, ['all', ...groups]);
  throw new UsageError(`no group "${oneLine(group)}" in the inventory${groupsIn(groups, near)}`, {
    column: term.column,
    suggestions: near.map((name) => `@${name}`),
  });
}

/** What there is instead, unless one is nearly what was typed. */
function groupsIn(groups: readonly string[], near: readonly string[]): string {
  if (near.length > 0) return '';
  if (groups.length === 0)
    return '; no device has one: "devsh device add NAME ADDRESS --group GROUP"';
  const more = groups.length > MOST_NAMED ? ', …' : '';
  return `; it has ${groups.slice(0, MOST_NAMED).join(', ')}${more}`;
}

function expand(term: Term): ReturnType<typeof expandNet> {
  try {
    return expandNet(term.text) ?? expandBrackets(term.text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UsageError(error.message, { column: term.column });
  }
}

function resolveWord(word: string, term: Term, inventory: Inventory): DeviceEntry[] {
  const named = inventory.find(word);
  if (named) return [fromInventory(named)];
  if (/[*?]/.test(word)) {
    const matches = matcher(word);
    const devices = inventory.devices.filter(({ name }) => matches(name));
    if (devices.length > 0) return devices.map(fromInventory);
    throw new UsageError(`no device matches "${oneLine(word)}"; "device list" shows all names`, {
      column: term.column,
    });
  }
  if (!/[.:[\]]/.test(word) && word.toLowerCase() !== 'localhost') {
    const names = inventory.devices.map(({ name }) => name);
    const groups = inventory.groups().map((group) => `@${group}`);
    throw new UsageError(
      `no device or group "${word}"; "devsh device add ${word} ADDRESS" adds it to the inventory`,
      { column: term.column, suggestions: suggest(word, [...names, ...groups]) },
    );
  }
  return [fromAddress(word, term, inventory)];
}

function fromAddress(word: string, term: Term, inventory: Inventory): DeviceEntry {
  const parsed = parse(word, term);
  const address = formatAddress(parsed);
  const device = inventory.findByAddress(address);
  return device ? fromInventory(device) : { name: shortAddress(parsed), address, groups: [] };
}

function parse(word: string, term: Term): ReturnType<typeof parseAddress> {
  try {
    return parseAddress(word);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(error.message, { column: term.column, suggestions: error.suggestions });
  }
}

function fromInventory(device: InventoryDevice): DeviceEntry {
  return { ...device, address: formatAddress(parseAddress(device.address)) };
}

/** `*` and `?` as in a shell; case does not count. */
function matcher(pattern: string): (name: string) => boolean {
  const source = pattern
    .replace(/[\\^$+.()|{}[\]]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replaceAll('?', '.');
  const expression = new RegExp(`^${source}$`, 'iu');
  return (name) => expression.test(name);
}

function tooMany(term: Term, count: bigint): UsageError {
  return new UsageError(
    `"${term.text}" stands for ${count.toString()} devices; at most ${MOST_DEVICES} can be selected: write a smaller range`,
    { column: term.column },
  );
}
