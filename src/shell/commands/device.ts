import { resolve } from 'node:path';
import { formatAddress, parseAddress } from '../../device/address.ts';
import { UsageError } from '../../errors.ts';
import { DEVICES } from '../grammar/options.ts';
import { type CommandSpec, later, verb } from '../command.ts';
import { oneDevice } from '../arguments.ts';
import { counted } from '../../text/one-line.ts';
import { success } from '../output.ts';

const listDevices = verb({
  name: 'list',
  summary: 'Show the devices of the inventory and the connected ones, with their state',
  options: [...DEVICES, 'watchMs', 'ansible', 'host'],
  changes: 'nothing',
  details:
    'Asks no device: the state is that of the connection, and TRUST says how the certificate is checked.\n' +
    '--on asks its devices first, connected or not, and shows only these. --watch asks repeatedly and\n' +
    'reports changes: state, latency (when it changes by more than half), account, trust, number of users.\n' +
    '\n' +
    'JSON and CSV also have all settings, and "device import" reads both. For Ansible, write an executable\n' +
    'file with the lines "#!/bin/sh" and "exec devsh device list --ansible \\"$@\\"".',
  examples: [
    'device list',
    'device list --watch=10 --on @berlin --format jsonl',
    'device list --format csv',
    'device list --ansible',
  ],
  run: later(async () => (await import('../devices/list-devices.ts')).listDevices),
});

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

const SHORT_FORM = 'Short form of "device list"';

export const devices: CommandSpec = {
  name: 'devices',
  summary: SHORT_FORM,
  section: 'Devices',
  verbs: [{ ...listDevices, name: '', summary: SHORT_FORM }],
};

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
