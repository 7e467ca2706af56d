import { formatAddress, parseAddress } from '../device/address.ts';
import { UsageError, attempt } from '../errors.ts';
import { Inventory } from '../fleet/inventory.ts';
import { type DeviceEntry, selectDevices } from '../fleet/selector.ts';

/** As `selectDevices`, connected devices first, with the column of an error counted in the line. */
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
    throw new UsageError(error.message, { column, suggestions: error.suggestions });
  }
}

/** Puts the connected devices first. A large inventory is not read again if there are none. */
function withConnected(inventory: Inventory, connected: readonly DeviceEntry[]): Inventory {
  if (connected.length === 0) return inventory;
  const addresses = new Set(connected.map(({ address }) => address));
  const others = inventory.devices.filter(
    ({ address }) => !addresses.has(formatAddress(parseAddress(address))),
  );
  return new Inventory([...connected, ...others], inventory.breakGlass);
}
