import type { DevicePlan } from '../../change/plan.ts';
import { formatAddress, parseAddress } from '../../device/address.ts';
import type { DeviceRef } from '../../device/record.ts';
import { VERIFIED } from '../../fleet/device-session.ts';
import type { Note } from '../../output/sentences.ts';
import type { Services } from '../services.ts';

export interface DeviceNow {
  readonly then: DeviceRef;
  /** Its address now, with its name in the earlier plan. */
  readonly ref: DeviceRef;
  /** Why it may be another device. */
  readonly doubt?: Note | undefined;
}

/**
 * Finds the devices of an earlier plan in the inventory of today: by pin, or by name and address if they have none.
 * Sends nothing to a device.
 */
export async function devicesNow(
  services: Pick<Services, 'inventory' | 'pins'>,
  plans: readonly Pick<DevicePlan, 'device' | 'pin'>[],
): Promise<readonly DeviceNow[]> {
  const [listed, pins] = await Promise.all([services.inventory.load(), services.pins()]);
  const addressOf = (device: { readonly address: string }): string =>
    formatAddress(parseAddress(device.address));
  return plans.map(({ device: then, pin }): DeviceNow => {
    const { name, address } = then;
    const doubt = { code: 'not-as-meant', name } as const;
    const named = listed.find(name);
    const place = named === undefined ? address : addressOf(named);
    if (pin !== undefined && pin !== VERIFIED) {
      const hasPin = (at: string): boolean => pins.get(at)?.fingerprint === pin;
      if (place === address && hasPin(address)) return { then, ref: then };
      const [moved] = listed.devices.map(addressOf).filter(hasPin);
      if (moved !== undefined) return { then, ref: { name, address: moved } };
      const is = pins.has(place) ? 'other-pin' : 'unknown-pin';
      return { then, ref: { name, address: place }, doubt: { ...doubt, is } };
    }
    if (place !== address) {
      return { then, ref: { name, address: place }, doubt: { ...doubt, is: 'moved', address } };
    }
    const other = named === undefined ? listed.findByAddress(address) : undefined;
    if (other === undefined) return { then, ref: then };
    return { then, ref: then, doubt: { ...doubt, is: 'other-name', address } };
  });
}
