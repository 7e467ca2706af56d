import { configuredText } from '../../device/route/route.ts';
import { UsageError } from '../../errors.ts';
import { LISTED_SETTINGS } from '../../fleet/inventory-schema.ts';
import type { GroupConflict } from '../../fleet/inventory-text.ts';
import type { InventoryDevice } from '../../fleet/inventory.ts';
import {
  ansibleInventory,
  ansibleVariables,
  writtenSettings,
} from '../../fleet/written-inventory.ts';
import { suggest } from '../../text/suggest.ts';
import type { Call } from '../command.ts';
import { info, type Output, table, warning } from '../output.ts';

/** Number of group conflicts that are reported one by one. */
const MOST_CONFLICTS = 5;

export async function* listDevices(call: Call<'ansible' | 'host'>): AsyncGenerator<Output> {
  if (call.options.ansible) {
    yield* listForAnsible(call);
    return;
  }
  if (call.options.host !== undefined) throw new UsageError('--host goes with --ansible');
  const { inventory: file } = call.shell.services;
  const { devices } = await file.load();
  yield table(
    'inventory',
    call.options.format === 'csv'
      ? ['name', 'address', 'groups', ...LISTED_SETTINGS].map((key) => ({ key, title: key }))
      : COLUMNS,
    devices.map((device) => ({ ...rowOf(device), ...writtenSettings(device) })),
  );
  if (devices.length === 0) {
    yield info(
      'the inventory is empty: "device add NAME ADDRESS" adds a device, "device import" imports many',
    );
    return;
  }
  if (call.io.isOnScreen === true) yield* conflictWarnings((await file.read()).conflicts);
}

const COLUMNS = [
  ...['name', 'address', 'groups', 'user', 'ca'],
  { key: 'route', title: 'REACHED BY' },
  'options',
];

function rowOf(device: InventoryDevice) {
  const { name, address, groups, user = null, ca = null, route, breakGlass = [] } = device;
  return {
    name,
    address,
    groups,
    user,
    ca,
    route: route === undefined ? null : configuredText(route),
    options: [
      device.insecure === true ? 'insecure' : [],
      device.readOnly === true ? 'read-only' : [],
      breakGlass.length > 0 ? `break-glass ${breakGlass.join(' ')}` : [],
      device.label ?? [],
    ].flat(),
  };
}

async function* listForAnsible(call: Call<'host'>): AsyncGenerator<Output> {
  const { inventory: file } = call.shell.services;
  const { inventory, written } = await file.read();
  const { host } = call.options;
  const device = host === undefined ? undefined : inventory.find(host);
  if (host !== undefined && device === undefined) {
    const names = inventory.devices.map(({ name }) => name);
    throw new UsageError(`no device "${host}" in ${file.path}`, {
      suggestions: suggest(host, names),
    });
  }
  const data =
    device === undefined ? ansibleInventory(inventory, written) : ansibleVariables(device);
  yield { kind: 'text', name: 'ansible', text: JSON.stringify(data, null, 2), data };
}

function* conflictWarnings(conflicts: readonly GroupConflict[]): Generator<Output> {
  for (const { device, setting, groups } of conflicts.slice(0, MOST_CONFLICTS)) {
    const [first, second] = groups;
    yield warning(
      `${device}: its groups ${first} and ${second} differ in ${setting}; ${first} wins, as it is named first`,
    );
  }
  const more = conflicts.length - MOST_CONFLICTS;
  if (more > 0) {
    yield warning(`and ${more} more such conflicts`);
  }
}
