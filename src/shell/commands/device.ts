import { resolve } from 'node:path';
import { formatAddress, parseAddress } from '../../device/address.ts';
import { UsageError } from '../../errors.ts';
import { DEVICES } from '../grammar/options.ts';
import { type Call, type CommandSpec, later, verb } from '../command.ts';
import { configuredText } from '../../device/route/route.ts';
import type { InventoryDevice } from '../../fleet/inventory.ts';
import type { GroupConflict } from '../../fleet/inventory-text.ts';
import { suggest } from '../../text/suggest.ts';
import { oneDevice } from '../arguments.ts';
import { counted } from '../../text/one-line.ts';
import { type Output, table, info, warning, success } from '../output.ts';

/** Number of group conflicts that are reported one by one. */
const MOST_CONFLICTS = 5;

const listDevices = verb({
  name: 'list',
  summary: 'Show the devices of the inventory',
  options: ['ansible', 'host'],
  changes: 'nothing',
  details:
    '"device import" reads its JSON and CSV. For Ansible, write an executable file with the lines "#!/bin/sh"\n' +
    'and "exec devsh device list --ansible \\"$@\\"".',
  examples: ['device list', 'device list --format csv', 'device list --ansible'],
  async *run(call) {
    if (call.options.ansible) {
      yield* listForAnsible(call);
      return;
    }
    if (call.options.host !== undefined) throw new UsageError('--host goes with --ansible');
    const { inventory: file } = call.shell.services;
    const { devices } = await file.load();
    const { LISTED_SETTINGS } = await import('../../fleet/inventory-schema.ts');
    const { writtenSettings } = await import('../../fleet/written-inventory.ts');
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
  },
});

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
  const { ansibleInventory, ansibleVariables } = await import('../../fleet/written-inventory.ts');
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

const importDevices = verb({
  name: 'import',
  summary: 'Import devices from CSV, ssh, Ansible, NetBox or another devices.yaml',
  args: [
    {
      name: 'SOURCE',
      summary: 'a file, https://netbox/…, or - for standard input',
      isRequired: true,
      complete: () => [{ text: '~/.ssh/config' }, { text: 'https://' }],
    },
  ],
  options: ['from', 'groups', 'yes', 'dryRun', 'allow', ...DEVICES],
  details:
    'Shows what it would add and change, asks, and writes devices.yaml; comments and order stay. It removes\n' +
    'no device and never copies secrets. devsh recognizes the source by its name and content; --from\n' +
    'overrides that. "--from ansible" runs ansible-inventory on a file or folder. The token for NetBox comes\n' +
    'from --token-stdin, NETBOX_TOKEN or "login HOST --token".',
  examples: [
    'device import hosts.csv --dry-run',
    'device import ~/.ssh/config --group berlin',
    'device import inventory/ --from ansible',
    'device import https://netbox.example/dcim/devices/?site=berlin',
  ],
  run: later(async () => (await import('../devices/import-devices.ts')).takeOverDevices),
});

export const device: CommandSpec = {
  name: 'device',
  summary: 'Manage the inventory (devices.yaml)',
  section: 'Devices',
  defaultVerb: 'list',
  verbs: [
    listDevices,
    verb({
      name: 'add',
      summary: 'Add a device to the inventory',
      args: [
        { name: 'NAME', summary: 'a name for the device', isRequired: true },
        { name: 'ADDRESS', summary: 'address, host name or host:port', isRequired: true },
      ],
      options: ['groups', 'user', 'ca', 'insecure', 'route', 'readOnly', 'profile'],
      details:
        '--user, --ca, --insecure, --proxy, --jump, --read-only, --profile and --group are stored with the device.',
      examples: ['device add fw1 10.0.0.5 --group berlin --user admin'],
      async *run({ args, options, shell }) {
        const [word] = args.words('ADDRESS');
        const address = args.required('ADDRESS');
        try {
          parseAddress(address);
        } catch (error) {
          if (!(error instanceof UsageError)) throw error;
          throw new UsageError(error.message, { column: word?.start });
        }
        const name = args.required('NAME');
        const device = {
          name,
          address,
          groups: [...options.groups],
          ...(options.user !== undefined && { user: options.user }),
          // A relative path in the file would count from the folder of the file.
          ...(options.ca !== undefined && { ca: resolve(options.ca) }),
          ...(options.route && { route: options.route }),
          ...(options.insecure && { insecure: true }),
          ...(options.readOnly && { readOnly: true }),
          ...(options.profile !== undefined && { profile: options.profile }),
        };
        try {
          await shell.services.inventory.add(device);
        } catch (error) {
          if (!(error instanceof UsageError)) throw error;
          const [word] = args.words('NAME');
          throw new UsageError(error.message, { column: word?.start, cause: error });
        }
        const at = formatAddress(parseAddress(address));
        yield success(`added ${name} (${at}) to the inventory`);
      },
    }),
    verb({
      name: 'remove',
      summary: 'Remove a device from the inventory',
      args: [oneDevice('NAME', 'the device')],
      async *run({ args, shell }) {
        const name = args.required('NAME');
        await shell.services.inventory.remove(name);
        yield success(
          `removed ${name} from the inventory; its pin and login stay ("trust forget", "logout" remove them)`,
        );
      },
    }),
    importDevices,
    verb({
      name: 'restore',
      summary: 'Restore the last valid inventory',
      details: 'For a damaged file; devsh keeps the damaged one beside it.',
      async *run({ shell }) {
        const { services } = shell;
        const { devices, aside } = await services.inventory.restore(services.now());
        const kept = aside === undefined ? '' : `; the damaged file is ${aside}`;
        yield success(
          `restored ${services.inventory.path} with ${counted(devices, 'device')}${kept}`,
        );
      },
    }),
  ],
};
