import { formatAddress, parseAddress } from '../device/address.ts';
import { type DeviceRecord, frequencies, grouped, valueAt, valueText } from '../device/record.ts';
import { DevshError } from '../errors.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { type DeviceEntry, selectDevices, withConnected } from '../fleet/inventory.ts';
import type { SeenRecords } from '../settings/seen-keys.ts';
import type { Candidate } from './grammar/option.ts';
import type { Services } from './services.ts';

/** Number of files that one completion reads; the keys of more devices are much the same. */
const MOST_FILES = 64;

/** A device of the line, as far as it is known without a request. */
export interface SeenDevice {
  readonly name: string;
  cached(resource: string): readonly DeviceRecord[] | undefined;
  /** The keys kept from an earlier session. */
  cachedKeys(resource: string): Pick<SeenRecords, 'keys' | 'fields'> | undefined;
}

/** The sources of completion; a `ShellSession` is one. */
export interface CompletionSources {
  readonly fleet: Fleet;
  readonly services: Pick<Services, 'inventory' | 'runs' | 'seenKeys' | 'settings'>;
  /** The files that a word may name; absent if another shell completes them. */
  readonly files?: (typed: string) => Promise<readonly Candidate[]>;
}

/** Returns the devices of the line, else of the selection, else of the inventory. Sends nothing. */
export async function seenDevices(
  session: CompletionSources,
  selectors: readonly string[],
): Promise<readonly SeenDevice[]> {
  const { fleet, services } = session;
  const entries = await entriesOf(session, selectors);
  const sessions = new Map(fleet.known.map((session) => [session.ref.name, session]));
  return Promise.all(
    entries.map(async ({ name, address }, index) => {
      const session = sessions.get(name);
      const kept =
        index < MOST_FILES ? await services.seenKeys.of(formatAddress(parseAddress(address))) : {};
      return {
        name,
        cached: (resource: string) => session?.cached(resource),
        cachedKeys: (resource: string) =>
          Object.hasOwn(kept, resource) ? kept[resource] : undefined,
      };
    }),
  );
}

async function entriesOf(
  { fleet, services }: CompletionSources,
  selectors: readonly string[],
): Promise<readonly DeviceEntry[]> {
  const selected = fleet.selection.map(({ entry }) => entry);
  if (selectors.length === 0 && selected.length > 0) return selected;
  try {
    const connected = fleet.connected.map(({ entry }) => entry);
    const inventory = withConnected(await services.inventory.load(), connected);
    return selectors.length === 0 ? inventory.devices : selectDevices(selectors, inventory);
  } catch (error) {
    // Half a selector, or an invalid inventory: reported when the line runs.
    if (error instanceof DevshError) return selected;
    throw error;
  }
}

/** The observed fields of a resource, in the order of the device. */
export function seenFields(
  devices: readonly Pick<SeenDevice, 'cached'>[],
  resource: string,
): string[] {
  const records = devices.flatMap((device) => device.cached(resource) ?? []);
  return [...new Set(records.flatMap((record) => Object.keys(record)))];
}

/** Like `seenFields`, but uses the fields of earlier sessions for devices without records in this session. */
export function everSeenFields(devices: readonly SeenDevice[], resource: string): string[] {
  const kept = devices.flatMap((device) =>
    device.cached(resource) === undefined ? (device.cachedKeys(resource)?.fields ?? []) : [],
  );
  return [...new Set([...seenFields(devices, resource), ...kept])];
}

/** The cached natural keys, each with the devices that have the record. */
export function seenKeys(
  devices: readonly SeenDevice[],
  resource: string,
  keyField: string,
): Candidate[] {
  const found = devices.flatMap((device) => {
    const keys =
      device.cached(resource)?.map((record) => valueText(record[keyField])) ??
      device.cachedKeys(resource)?.keys ??
      [];
    return keys.map((key) => ({ key, name: device.name }));
  });
  return [...grouped(found, ({ key }) => key || undefined)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([text, of]) => ({ text, summary: of.map(({ name }) => name).join(', ') }));
}

/** The observed values of a field, the most frequent first. */
export function seenValues(
  devices: readonly SeenDevice[],
  resource: string,
  field: string,
): string[] {
  const texts = devices
    .flatMap((device) => device.cached(resource) ?? [])
    .flatMap((record) => {
      const value = valueAt(record, field) ?? '';
      return typeof value === 'object' || value === '' ? [] : String(value);
    });
  return frequencies(texts).map(([text]) => text);
}
