import { configuredText } from '../../device/route/choose-route.ts';
import { UsageError } from '../../errors.ts';
import type { InventoryDevice } from '../../fleet/inventory.ts';
import type { GroupConflict } from '../../fleet/inventory-text.ts';
import { suggest } from '../../text/suggest.ts';
import type { Call } from '../call.ts';
import type { Output } from '../output.ts';
import { verb } from '../grammar/spec.ts';

/** So many conflicts between groups are told one by one. */
const MOST_CONFLICTS = 5;

/** `device list`: the inventory as a table, as a source for `device import`, or for Ansible. */
export const listDevices = verb({
  name: 'list',
  summary: 'Show the devices of the inventory',
  args: [],
  options: ['ansible', 'host'],
  details:
    'As JSON or CSV it is a source for "device import". With --ansible it is a dynamic inventory: let an\n' +
    'executable file hold the lines "#!/bin/sh" and "exec devsh device list --ansible \\"$@\\"".',
  examples: ['device list', 'device list --format csv', 'device list --ansible'],
  async *run(call) {
    if (call.options.ansible) {
      yield* listForAnsible(call);
      return;
    }
    if (call.options.host !== undefined) throw new UsageError('--host goes with --ansible');
    const { inventory: file } = call.session.services;
    const { devices } = await file.load();
    const { LISTED_SETTINGS } = await import('../../fleet/inventory-schema.ts');
    const { writtenSettings } = await import('../../fleet/written-inventory.ts');
    yield {
      kind: 'table',
      name: 'inventory',
      columns:
        call.options.format === 'csv'
          ? ['name', 'address', 'groups', ...LISTED_SETTINGS].map((key) => ({ key, title: key }))
          : COLUMNS,
      rows: devices.map((device) => ({ ...rowOf(device), ...writtenSettings(device) })),
    };
    if (devices.length === 0) {
      const text =
        'the inventory is empty: "device add NAME ADDRESS" adds to it, "device import" takes another over';
      yield { kind: 'message', level: 'info', text };
      return;
    }
    if (call.io.isOnScreen === true) yield* tellConflicts((await file.read()).conflicts);
  },
});

const COLUMNS = [
  { key: 'name', title: 'NAME' },
  { key: 'address', title: 'ADDRESS' },
  { key: 'groups', title: 'GROUPS' },
  { key: 'user', title: 'USER' },
  { key: 'ca', title: 'CA' },
  { key: 'route', title: 'REACHED BY' },
  { key: 'options', title: 'OPTIONS' },
];

function rowOf(device: InventoryDevice) {
  const { name, address, groups, user, ca, route, insecure, readOnly, label } = device;
  return {
    name,
    address,
    groups,
    user: user ?? null,
    ca: ca ?? null,
    route: route === undefined ? null : configuredText(route),
    options: [
      insecure === true ? 'insecure' : [],
      readOnly === true ? 'read-only' : [],
      label ?? [],
    ].flat(),
  };
}

async function* listForAnsible(call: Call<'host'>): AsyncGenerator<Output> {
  const { inventory: file } = call.session.services;
  const { inventory, written } = await file.read();
  const { ansibleInventory, ansibleVariables } = await import('../../fleet/ansible-inventory.ts');
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

function* tellConflicts(conflicts: readonly GroupConflict[]): Generator<Output> {
  for (const { device, setting, groups } of conflicts.slice(0, MOST_CONFLICTS)) {
    const [first, second] = groups;
    const text = `${device}: its groups ${first} and ${second} do not agree on ${setting}; ${first} counts, as it is named first`;
    yield { kind: 'message', level: 'warning', text };
  }
  const more = conflicts.length - MOST_CONFLICTS;
  if (more > 0) {
    yield { kind: 'message', level: 'warning', text: `and ${more} more that groups disagree on` };
  }
}
