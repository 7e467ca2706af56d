import { formatAddress, parseAddress } from '../../device/address.ts';
import type { DevicePlan } from '../../change/plan.ts';
import { RefusedError } from '../../errors.ts';
import { someOf } from '../../text/one-line.ts';
import type { Call } from '../call.ts';
import { message, type Output } from '../output.ts';

/**
 * A plan file says names and addresses, and may be old or from somebody else: a device that has moved
 * since is not written to where another one may be by now, and what the inventory does not know is
 * said before a login goes there. Throws a `RefusedError`.
 */
export async function* checkAddresses(
  { session }: Call,
  planned: readonly DevicePlan[],
  file: string,
): AsyncGenerator<Output> {
  const inventory = await session.services.inventory.load();
  const connected = new Set(session.fleet.connected.map(({ ref }) => ref.address));
  const strange: string[] = [];
  for (const { device } of planned) {
    const known = inventory.find(device.name);
    const address = known && formatAddress(parseAddress(known.address));
    if (address !== undefined && address !== device.address) {
      throw new RefusedError(
        `${file} has ${device.name} at ${device.address}, the inventory at ${address}: make the plan anew`,
      );
    }
    const isKnown = connected.has(device.address) || inventory.findByAddress(device.address);
    const isNamedSo = device.address.startsWith(device.name);
    if (!isKnown && !isNamedSo) strange.push(`${device.name} at ${device.address}`);
  }
  if (strange.length === 0 || inventory.devices.length === 0) return;
  yield message(
    'warning',
    `${file} leads to devices that are not in the inventory: ${someOf(strange)}`,
  );
}
