import { formatAddress, parseAddress, shortAddress } from '../device/address.ts';
import type { DeviceRecord } from '../device/record.ts';
import { CancelledError, UsageError } from '../errors.ts';
import { Member } from '../fleet/member.ts';
import { DeviceAccess, gate } from './device-access.ts';
import {
  credentialOf,
  DEVICE_OPTIONS,
  type DeviceOptions,
  profileOf,
  refuseUnknownOptions,
  routeOf,
  trustOf,
} from './device-options.ts';

/** A timer of Node that waits longer does not wait at all. */
const LONGEST_MS = 2 ** 31 - 1;

/** One device. Whoever opened it closes it. */
export class OpenDevice {
  readonly #member: Member;
  readonly #access: DeviceAccess;

  private constructor(member: Member, access: DeviceAccess) {
    this.#member = member;
    this.#access = access;
  }

  /** @internal */
  static of(member: Member, access: DeviceAccess): OpenDevice {
    return new OpenDevice(member, access);
  }

  /** What is behind it, for `plan` and `apply`; nobody else sees it, not even printed. @internal */
  static behind(device: OpenDevice): { member: Member; access: DeviceAccess } {
    return { member: device.#member, access: device.#access };
  }

  get name(): string {
    return this.#member.ref.name;
  }

  /** `host:port` */
  get address(): string {
    return this.#member.ref.address;
  }

  /**
   * Every record of a resource, as the device holds them now: from all pages, or an error; never a part.
   * Values are as they were sent: texts are not to be trusted, and may hold secrets.
   */
  async list(
    resource = 'user',
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<readonly DeviceRecord[]> {
    if (signal?.aborted === true) throw new CancelledError();
    const records = await this.#member.list(this.#access, resource, signal);
    return this.#member.inFull(this.#access, resource, records, signal);
  }

  async close(): Promise<void> {
    await this.#member.close();
  }
}

/**
 * Opens one device: checks what is said of it, and connects when it is first used. Open all devices before
 * the first is used: a login that two of them refuse then goes to no third one.
 *
 * @param address `host`, `host:port` or `[v6]:port`; HTTPS always
 */
export async function openDevice(
  address: string,
  options: DeviceOptions = {},
): Promise<OpenDevice> {
  refuseUnknownOptions('openDevice', options, DEVICE_OPTIONS);
  const parsed = parseAddress(address);
  const { name = shortAddress(parsed), login, timeoutMs, readOnly } = options;
  if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs <= LONGEST_MS)) {
    throw new UsageError(`timeoutMs: a number of milliseconds above 0, up to ${LONGEST_MS}`);
  }
  // Not every caller has types: what is no yes and no no must not be a device that is written to.
  if (![undefined, true, false].includes(readOnly)) {
    throw new UsageError('readOnly: true or false');
  }
  const route = routeOf(options);
  const access = new DeviceAccess(
    trustOf(options),
    login && credentialOf(login),
    await profileOf(options.profile),
    timeoutMs,
  );
  const entry = {
    name,
    address: formatAddress(parsed),
    groups: [],
    ...(route !== undefined && { route }),
    ...(readOnly === true && { readOnly }),
  };
  gate.forgetRefusals();
  return OpenDevice.of(new Member(entry), access);
}
