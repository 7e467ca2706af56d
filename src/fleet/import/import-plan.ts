import { isIPv4 } from 'node:net';
import { formatAddress, parseAddress } from '../../device/address.ts';
import { parseRoute } from '../../device/route/route.ts';
import { UsageError } from '../../errors.ts';
import type { Note } from '../../output/sentences.ts';
import { hasUnsafe } from '../../text/visible.ts';
import { GroupTree, type Inventory, type InventoryDevice } from '../inventory.ts';
import { nameProblem, type SettingKey } from '../inventory-schema.ts';
import {
  breakGlassNames,
  normalizedSettings,
  writtenSettings,
  type Written,
  type WrittenDevice,
  type WrittenGroup,
  type WrittenInventory,
  type WrittenSettings,
} from '../written-inventory.ts';
import type { Findings, FoundDevice } from './source.ts';

/** One key of a device or group; `before` is absent for a new key, `after` for a removed one. */
export interface KeyChange {
  readonly key: 'address' | 'groups' | 'children' | SettingKey;
  readonly before?: Written | undefined;
  readonly after?: Written | undefined;
}

/** The differences between the source and the inventory for one device or group. */
export interface ImportStep {
  readonly action: 'add' | 'change';
  /** The name in the spelling of the inventory. */
  readonly name: string;
  readonly changes: readonly KeyChange[];
  /** The whole device, if it is added. */
  readonly device?: WrittenDevice;
}

interface ImportRefusal {
  readonly name: string;
  readonly place: string;
  readonly reason: 'name conflict' | 'address conflict' | 'invalid';
  readonly problem: Note | string;
}

export interface ImportPlan {
  readonly steps: readonly ImportStep[];
  readonly groups: readonly ImportStep[];
  readonly unchanged: readonly string[];
  readonly refused: readonly ImportRefusal[];
}

/** The current inventory, as written and as resolved. */
export interface CurrentInventory {
  readonly written: WrittenInventory;
  readonly inventory: Inventory;
  /** The base of relative paths in the inventory. */
  readonly folder: string;
}

/** Plans new devices, and new values of known ones. Removes no device. Throws a `UsageError` for groups in a circle. */
export function planImport(findings: Findings, current: CurrentInventory): ImportPlan {
  const refused: ImportRefusal[] = [];
  const valid: FoundDevice[] = [];
  const places = new Map<string, string>();
  for (const device of findings.devices) {
    const earlier = places.get(device.name.toLowerCase());
    const problem = problemOf(device);
    const { name, place } = device;
    if (problem !== undefined) refused.push({ name, place, reason: 'invalid', problem });
    else if (earlier !== undefined) {
      const twice: Note = { code: 'bad-import', is: 'twice', name, place: earlier };
      refused.push({ name, place, reason: 'name conflict', problem: twice });
    } else {
      places.set(name.toLowerCase(), place);
      // Sources have already made their paths absolute; this only unifies the spelling.
      valid.push({ ...device, settings: normalizedSettings(device.settings, current.folder) });
    }
  }
  const { taken, conflicts } = withoutAddressConflicts(valid, current.inventory);
  const groups = groupSteps(findings.groups, current);
  checkGroups(findings.groups, current.written);
  const writtenByName = new Map(
    current.written.devices.map((one) => [one.name.toLowerCase(), one]),
  );
  const steps = taken.map((device): ImportStep => {
    const known = current.inventory.find(device.name);
    const written = writtenByName.get(device.name.toLowerCase());
    if (known === undefined || written === undefined) {
      const { name, address, settings } = device;
      const own = unique(device.groups);
      return {
        action: 'add',
        name,
        device: { name, address, groups: own, settings },
        changes: [
          { key: 'address', after: address },
          ...addedNames('groups', [], own),
          ...settingChanges({}, {}, settings),
        ],
      };
    }
    return { action: 'change', name: known.name, changes: deviceChanges(device, written, known) };
  });
  return {
    steps: steps.filter(({ changes }) => changes.length > 0),
    groups: groups.filter(({ changes }) => changes.length > 0),
    unchanged: steps.flatMap((step) =>
      step.action === 'change' && step.changes.length === 0 ? [step.name] : [],
    ),
    refused: [...refused, ...conflicts],
  };
}

function problemOf({ name, address, groups, settings }: FoundDevice): Note | string | undefined {
  if (name === '') return { code: 'device-without', is: 'name' };
  const problem = nameProblem(name, 'device');
  if (problem !== undefined) return { code: 'bad-import', is: 'name', problem };
  if (address === '') return { code: 'device-without', is: 'address' };
  if (address.includes('{{')) return { code: 'bad-import', is: 'template' };
  try {
    const { host } = parseAddress(address);
    if (isIPv4(name) && host !== name) return { code: 'named-as-address', name };
    for (const key of ['proxy', 'jump'] as const) {
      const route = settings[key];
      if (route !== undefined) parseRoute(key, String(route));
    }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return error.note ?? error.message;
  }
  for (const group of groups) {
    const wrong = nameProblem(group, 'group');
    if (wrong !== undefined)
      return {
        code: 'bad-import',
        is: 'group',
        group: JSON.stringify(group.slice(0, 100)),
        problem: wrong,
      };
  }
  if (settings.proxy !== undefined && settings.jump !== undefined) {
    return { code: 'proxy-and-jump' };
  }
  for (const [key, value] of Object.entries(settings)) {
    if ([value].flat().some(hasUnsafe)) return { code: 'bad-import', is: 'invisible', key };
    const isFlag = key === 'read_only' || key === 'insecure';
    if (isFlag && value !== 'true' && value !== 'false')
      return { code: 'bad-import', is: 'flag', key };
  }
  return undefined;
}

/** Two devices cannot share an address; a device that moves frees its old one. */
function withoutAddressConflicts(
  found: readonly FoundDevice[],
  inventory: Inventory,
): { taken: readonly FoundDevice[]; conflicts: readonly ImportRefusal[] } {
  const conflicts = new Map<FoundDevice, ImportRefusal>();
  for (;;) {
    const before = conflicts.size;
    const taken = found.filter((device) => !conflicts.has(device));
    const moving = new Set(taken.map(({ name }) => name.toLowerCase()));
    const owners = new Map<string, Pick<FoundDevice, 'name'> & Partial<FoundDevice>>();
    for (const { name, address } of inventory.devices) {
      if (!moving.has(name.toLowerCase())) owners.set(canonical(address), { name });
    }
    for (const device of taken) {
      const { name, place } = device;
      const address = canonical(device.address);
      const owner = owners.get(address);
      if (owner === undefined) owners.set(address, device);
      else {
        const problem: Note =
          owner.place === undefined
            ? { code: 'bad-import', is: 'known', address, name: owner.name }
            : { code: 'bad-import', is: 'shared', address, name: owner.name, place: owner.place };
        conflicts.set(device, { name, place, reason: 'address conflict', problem });
      }
    }
    if (conflicts.size === before) return { taken, conflicts: [...conflicts.values()] };
  }
}

function deviceChanges(
  found: FoundDevice,
  written: WrittenDevice,
  known: InventoryDevice,
): KeyChange[] {
  const changes: KeyChange[] = [];
  if (canonical(found.address) !== canonical(written.address)) {
    changes.push({ key: 'address', before: written.address, after: found.address });
  }
  changes.push(...addedNames('groups', written.groups, missing(found.groups, known.groups)));
  // Values that its groups already provide need no change.
  const effective = writtenSettings(known);
  return [...changes, ...settingChanges(written.settings, effective, found.settings)];
}

function addedNames(
  key: 'groups' | 'children',
  own: readonly string[],
  added: readonly string[],
): KeyChange[] {
  if (added.length === 0) return [];
  return [{ key, before: own.length > 0 ? own : undefined, after: [...own, ...added] }];
}

function settingChanges(
  own: WrittenSettings,
  effective: WrittenSettings,
  found: WrittenSettings,
): KeyChange[] {
  const keys = Object.keys(found) as SettingKey[];
  const changes = keys.flatMap((key): KeyChange[] => {
    const before = own[key];
    if (key !== 'break_glass') {
      const isSame = JSON.stringify(effective[key]) === JSON.stringify(found[key]);
      return isSame ? [] : [{ key, before, after: found[key] }];
    }
    // An import never removes an account from the list.
    const added = missing(breakGlassNames(found), breakGlassNames(effective));
    return added.length === 0 ? [] : [{ key, before, after: [...breakGlassNames(own), ...added] }];
  });
  // A device has a proxy or a jump host, so one replaces the other.
  for (const [key, other] of [
    ['proxy', 'jump'],
    ['jump', 'proxy'],
  ] as const) {
    const isSet = changes.some((change) => change.key === key);
    if (isSet && own[other] !== undefined) changes.push({ key: other, before: own[other] });
  }
  return changes;
}

function groupSteps(
  found: readonly WrittenGroup[],
  { written, folder }: Pick<CurrentInventory, 'written' | 'folder'>,
): ImportStep[] {
  const byName = new Map(written.groups.map((group) => [group.name.toLowerCase(), group]));
  return found.map(({ name, children, settings }) => {
    const known = byName.get(name.toLowerCase());
    const { children: own = [], settings: current = {} } = known ?? {};
    const effective = normalizedSettings(current, folder);
    return {
      action: known === undefined ? 'add' : 'change',
      name: known?.name ?? name,
      changes: [
        ...addedNames('children', own, missing(children, own)),
        ...settingChanges(current, effective, settings),
      ],
    };
  });
}

function checkGroups(found: readonly WrittenGroup[], { groups }: WrittenInventory): void {
  for (const name of found.flatMap((group) => [group.name, ...group.children])) {
    const problem = nameProblem(name, 'group');
    if (problem === undefined) continue;
    const group = JSON.stringify(name.slice(0, 100));
    throw new UsageError({ code: 'bad-import', is: 'source-group', group, problem });
  }
  const tree = new GroupTree([...groups, ...found]);
  const circle = found.find(({ name }) => tree.isInItself(name));
  if (circle !== undefined)
    throw new UsageError({ code: 'bad-import', is: 'circle', name: circle.name });
}

/** Names in `found` but not in `current`, each once, ignoring case. */
function missing(found: readonly string[], current: readonly string[]): string[] {
  const known = new Set(current.map((name) => name.toLowerCase()));
  return unique(found).filter((name) => !known.has(name.toLowerCase()));
}

function unique(names: readonly string[]): string[] {
  return [...new Map(names.map((name) => [name.toLowerCase(), name] as const)).values()];
}

function canonical(address: string): string {
  return formatAddress(parseAddress(address));
}
