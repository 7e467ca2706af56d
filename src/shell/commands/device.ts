import { resolve } from 'node:path';
import { formatAddress, parseAddress } from '../../device/address.ts';
import { UsageError } from '../../errors.ts';
import { DEVICES } from '../grammar/options.ts';
import { verb, type CommandSpec } from '../grammar/spec.ts';
import { importDevices } from './device-import.ts';
import { listDevices } from './device-list.ts';

/** `device add|remove|list|import`: the inventory in devices.yaml. */
export const device: CommandSpec = {
  name: 'device',
  summary: 'Keep the inventory (devices.yaml)',
  section: 'Devices',
  defaultVerb: 'list',
  verbs: [
    listDevices,
    verb({
      name: 'add',
      summary: 'Add a device to the inventory',
      args: [
        { name: 'NAME', summary: 'how you call it', isRequired: true },
        { name: 'ADDRESS', summary: 'address, host name or host:port', isRequired: true },
      ],
      options: ['groups', ...DEVICES, 'profile'],
      details:
        '--user, --ca, --insecure, --proxy, --jump, --read-only and --group are kept with the device.',
      examples: ['device add fw1 10.0.0.5 --group berlin --user admin'],
      async *run({ args, options, session }) {
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
          // In the file it would count from the file's folder.
          ...(options.ca !== undefined && { ca: resolve(options.ca) }),
          ...(options.route && { route: options.route }),
          ...(options.insecure && { insecure: true }),
          ...(options.readOnly && { readOnly: true }),
          ...(options.profile !== undefined && { profile: options.profile }),
        };
        try {
          await session.services.inventory.add(device);
        } catch (error) {
          if (!(error instanceof UsageError)) throw error;
          const [word] = args.words('NAME');
          throw new UsageError(error.message, { column: word?.start, cause: error });
        }
        const at = formatAddress(parseAddress(address));
        yield { kind: 'message', level: 'done', text: `added ${name} (${at}) to the inventory` };
      },
    }),
    verb({
      name: 'remove',
      summary: 'Remove a device from the inventory',
      args: [
        {
          name: 'NAME',
          summary: 'the device',
          isRequired: true,
          complete: (scope) => scope.targets.filter(({ text }) => !text.startsWith('@')),
        },
      ],
      options: [],
      async *run({ args, session }) {
        const name = args.required('NAME');
        await session.services.inventory.remove(name);
        yield {
          kind: 'message',
          level: 'done',
          text: `removed ${name} from the inventory; its pin and login are kept ("trust forget", "logout")`,
        };
      },
    }),
    importDevices,
    verb({
      name: 'restore',
      summary: 'Bring the inventory back as it was last understood',
      args: [],
      options: [],
      details: 'For a file that was damaged; what it holds now is kept beside it.',
      async *run({ session }) {
        const { services } = session;
        const { devices, aside } = await services.inventory.restore(services.now());
        const kept = aside === undefined ? '' : `; the file as it was is ${aside}`;
        yield {
          kind: 'message',
          level: 'done',
          text: `${services.inventory.path} lists ${devices} ${devices === 1 ? 'device' : 'devices'} again${kept}`,
        };
      },
    }),
    verb({
      name: 'schema',
      summary: 'Print the JSON schema of devices.yaml, for editors',
      args: [],
      options: [],
      async *run() {
        const { inventoryJsonSchema } = await import('../../fleet/inventory-schema.ts');
        const schema = JSON.stringify(inventoryJsonSchema(), null, 2);
        yield { kind: 'text', name: 'jsonSchema', text: schema };
      },
    }),
  ],
};
