import { MAX_DEVICES, ownAddress } from './listener.ts';
import { createFleetData, type DeviceData } from './data.ts';
import { type DeviceSetup, SimulatedDevice } from './device.ts';
import { documentedApi } from './documented.ts';
import { Store } from './store.ts';

export type { SimulatedDevice } from './device.ts';

/** A wrong number, or a port in use. */
export class SimulatorError extends RangeError {}

export interface SimulatorOptions {
  /** How many devices. Default: 1. */
  readonly devices?: number;
  /** How many users each device has, its two accounts included: at least 2. Default: 25. */
  readonly users?: number;
  /** The delay of each response. */
  readonly latencyMs?: number;
  /** The same seed gives the same users, uuids and tokens. Default: 1. */
  readonly seed?: number;
  /** Default: 0, any free one. */
  readonly port?: number;
  /** The password of each device's admin. Default: `admin-secret`. */
  readonly passwords?: readonly string[];
}

/** Devices on loopback. The caller closes it. */
export interface Simulator<Device extends SimulatedDevice = SimulatedDevice> {
  readonly devices: readonly Device[];
  close(): Promise<void>;
}

const PORT_ATTEMPTS = 20;

/** Starts 127.0.0.2, .3 … on one port, or 127.0.0.1 on several. Throws SimulatorError for a port in use. */
export function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  return startDevices(options, (setup) => {
    const users = new Map(setup.users.map((user) => [user.uuid, user]));
    const store = new Store(users, setup.logins, `${setup.seed}:created`);
    return new SimulatedDevice(setup, documentedApi(store));
  });
}

/** The same with devices of the caller's own kind. */
export async function startDevices<Device extends SimulatedDevice>(
  options: SimulatorOptions,
  create: (setup: DeviceSetup) => Device,
): Promise<Simulator<Device>> {
  const { devices: count = 1, users = 25, latencyMs = 0, seed = 1, port = 0 } = options;
  checkRange('devices', count, 1, MAX_DEVICES);
  checkRange('users', users, 0, 1_000_000);
  checkRange('latencyMs', latencyMs, 0, 3_600_000);
  checkRange('port', port, 0, 65_535);
  const dataOf = createFleetData(seed, count, users);
  const devices = Array.from({ length: count }, (_, index) =>
    create(setupOf(index, dataOf(index), { ...options, seed, latencyMs })),
  );
  try {
    await listenAll(devices, port);
  } catch (error) {
    await closeAll(devices);
    throw error;
  }
  return { devices, close: () => closeAll(devices) };
}

function checkRange(name: string, value: number, lowest: number, highest: number): void {
  if (!Number.isInteger(value) || value < lowest || value > highest) {
    throw new SimulatorError(`${name} must be a whole number from ${lowest} to ${highest}.`);
  }
}

function setupOf(
  index: number,
  { users, tokens }: DeviceData,
  { seed, latencyMs, passwords }: SimulatorOptions & { seed: number; latencyMs: number },
): DeviceSetup {
  const password = passwords?.[index] ?? 'admin-secret';
  const name = `sim${index + 1}`;
  const accounts = {
    admin: { username: 'admin', password, token: tokens.admin },
    viewer: { username: 'viewer', password: 'viewer-secret', token: tokens.viewer },
  };
  const logins = Object.values(accounts).map(({ username, password, token }) => ({
    uuid: users.find((user) => user.username === username)?.uuid ?? '',
    password,
    token,
    mayWrite: username === 'admin',
  }));
  return { name, seed: `${seed}:${name}`, users, logins, accounts, latencyMs };
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

async function closeAll(devices: readonly SimulatedDevice[]): Promise<void> {
  await Promise.all(devices.map((device) => device.close()));
}

/** One after the other: each takes a fraction of a millisecond, and a failure leaves none pending. */
async function listenAll(devices: readonly SimulatedDevice[], port: number): Promise<void> {
  let hasOwnAddresses = true;
  let tried = port;
  for (let attempt = 1; ; attempt++) {
    try {
      let shared = port;
      for (const [index, device] of devices.entries()) {
        // Systems that have only 127.0.0.1, such as macOS, need one port each, counted up from `port`.
        tried = hasOwnAddresses ? shared : port && port + index;
        const host = hasOwnAddresses ? ownAddress(index) : '127.0.0.1';
        shared = await device.listen({ host, port: tried });
      }
      return;
    } catch (error) {
      const code = codeOf(error);
      // A port that is free on one address may be in use on the next: then all try another one.
      const mayRepeat = code === 'EADDRINUSE' && port === 0 && attempt < PORT_ATTEMPTS;
      if (!mayRepeat && (code !== 'EADDRNOTAVAIL' || !hasOwnAddresses)) {
        throw listenError(error, tried);
      }
      if (code === 'EADDRNOTAVAIL') hasOwnAddresses = false;
    }
  }
}

function listenError(error: unknown, port: number): unknown {
  const messages: Partial<Record<string, string>> = {
    EADDRINUSE: `Port ${port} is in use; choose another one.`,
    EACCES: `Port ${port} is not yours; choose one above 1023.`,
    EMFILE: 'Too many open files for so many devices; raise `ulimit -n`.',
  };
  const message = messages[codeOf(error) ?? ''];
  return message === undefined ? error : new SimulatorError(message, { cause: error });
}
