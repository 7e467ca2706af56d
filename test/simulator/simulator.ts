import {
  type Simulator as AnySimulator,
  SimulatorError,
  type SimulatorOptions as ShippedOptions,
  startDevices,
} from '../../src/simulator/simulator.ts';
import { oneOf } from './dialects/site.ts';
import { createTables } from './dialects/tables.ts';
import { addContents } from './dialects/contents.ts';
import { createDialect, type DialectOptions } from './dialects/dialect.ts';
import { DialectStore } from './dialects/dialect-store.ts';
import { FaultyDevice } from './faulty-device.ts';
import { type FaultName, FAULTS } from './faults.ts';

export { FAULTS } from './faults.ts';
export { QUIRKS } from './dialects/dialect.ts';
export { SimulatorError } from '../../src/simulator/simulator.ts';
export type { FaultyDevice as SimulatedDevice } from './faulty-device.ts';

export interface Simulator extends AnySimulator<FaultyDevice> {
  /** Of the first device. */
  readonly url: string;
}

export interface SimulatorOptions extends ShippedOptions, DialectOptions {
  /** Initial faults: `silence` on every device, `sim2:silence` or `127.0.0.3:silence` on one. */
  readonly faults?: readonly (FaultName | `${string}:${FaultName}`)[] | undefined;
}

/** The simulator of devsh, with devices that have faults. The caller closes it. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const faults = (options.faults ?? []).map(parseFault);
  const simulator = await startDevices(options, (setup) => {
    const dialect = createDialect(options);
    const tables = createTables(dialect, setup);
    const store = new DialectStore(tables, setup.logins, `${setup.seed}:created`);
    const site = { store, dialect };
    addContents(site, dialect.quirks, setup.seed);
    return new FaultyDevice(setup, site, dialect.sessions);
  });
  try {
    for (const { device, name } of faults) {
      for (const chosen of selectDevices(device, simulator.devices)) chosen.setFault(name);
    }
  } catch (error) {
    await simulator.close();
    throw error;
  }
  return { ...simulator, url: simulator.devices[0]?.url ?? '' };
}

function parseFault(text: string): { device: string | undefined; name: FaultName } {
  const names = FAULTS.map(({ name }) => name);
  // An address may contain colons.
  const colon = text.lastIndexOf(':');
  const device = colon === -1 ? undefined : text.slice(0, colon);
  return { device, name: oneOf('fault', names, text.slice(colon + 1)) };
}

/** By name or address; `*` or undefined selects all. */
function selectDevices(
  wanted: string | undefined,
  devices: readonly FaultyDevice[],
): readonly FaultyDevice[] {
  if (wanted === undefined || wanted === '*') return devices;
  const chosen = devices.filter(({ name, address, host }) =>
    [name, address, host].includes(wanted),
  );
  if (chosen.length > 0) return chosen;
  const names = `${devices[0]?.name ?? ''} to ${devices.at(-1)?.name ?? ''}`;
  throw new SimulatorError(`There is no simulated device '${wanted}'; they are called ${names}.`);
}
