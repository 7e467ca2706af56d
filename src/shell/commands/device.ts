import { resolve } from 'node:path';
import { formatAddress, parseAddress } from '../../device/address.ts';
import { isRefusedLogin, ProtocolError, RejectedError } from '../../device/errors.ts';
import { type DevshError, UsageError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { Inventory, type DeviceEntry, selectDevices } from '../../fleet/inventory.ts';
import { counted, oneLine, someOf } from '../../text/one-line.ts';
import { suggest } from '../../text/suggest.ts';
import { CONNECTED, oneDevice, SOME_TARGETS } from '../arguments.ts';
import { type Call, command, type CommandSpec, later, verb } from '../command.ts';
import { probe } from '../devices/probe.ts';
import { type DeviceOption, DEVICES, pickGiven } from '../grammar/options.ts';
import { info, type Output, success, warning } from '../output.ts';
import { scopeText } from '../session.ts';
import { askNext } from './questions.ts';

export const connect = command({
  name: 'connect',
  synonyms: ['ssh'],
  brief: 'Connect to devices and open the shell on them',
  section: 'Devices',
  summary: 'Connect to devices: check the certificate, log in, read the users',
  args: [SOME_TARGETS],
  options: [...DEVICES, 'profile', 'yes'],
  changes: 'choice',
  details:
    'A device that is down does not delay the others; connect again to retry. A selection made with "use"\n' +
    'stays: a new device is connected, but selected only with "use".\n' +
    '--user, --ca, --insecure, --proxy and --jump apply to these devices, --read-only and --timeout to the\n' +
    'whole session. Where the documented path does not exist, devsh looks for the users at other usual paths (GET\n' +
    'only), and proposes a profile: --yes keeps it. It does so, without a login, also if a single new device\n' +
    'refuses the login.',
  examples: ['connect 10.0.0.5 10.0.0.6', 'connect @berlin !fw3', 'connect 10.0.0.[5-9] --user me'],
  async *run(call) {
    const sessions = [...(await call.resolve(call.args.all('TARGET'), entryOptions(call)))];
    const { fleet } = call.shell;
    const connected = new Set(fleet.connected);
    const before = new Set(fleet.connected.map(({ ref }) => ref.name));
    const isNew = sessions.some((session) => !connected.has(session));
    // On an empty screen a question interrupts nothing.
    const isFirst = call.io.asksLater === true && before.size === 0;
    const asked = new Set<string>();
    fleet.join(sessions);
    // A new `connect` may ask questions that were declined before.
    for (const session of sessions) session.decline(undefined);
    keepForSession(call);
    if (isNew && call.io.isPrompt === true) {
      const { keepForNextSession } = await import('../help/first-run.ts');
      await keepForNextSession(call);
    }
    const met = new Set<string>();
    yield* probe(call, sessions, async function* (failed) {
      const again = isFirst ? yield* askNext(call, sessions, asked) : [];
      return again.length > 0 ? again : yield* meetNext(call, sessions, failed, met);
    });
    yield* owedHere(call, sessions);
    const added = sessions.filter(({ ref }) => !before.has(ref.name));
    if (!fleet.isNarrowed || added.length === 0) return;
    yield info(
      `not selected: ${someOf(added.map(({ ref }) => ref.name))}; the selection stays ${scopeText(fleet)} ("use all" selects all ${fleet.connected.length})`,
    );
  },
});

/** Proposes a profile for the next device that devsh cannot read, and reads it again with the kept one. */
async function* meetNext(
  call: Call<'yes'>,
  sessions: DeviceSession[],
  failed: ReadonlyMap<DeviceSession, DevshError>,
  met: Set<string>,
): AsyncGenerator<Output, readonly DeviceSession[]> {
  const next = sessions.find((one) => !met.has(one.ref.address) && isUnknown(one, failed.get(one)));
  const failure = next && failed.get(next);
  if (next === undefined || failure === undefined || met.size === MOST_MET) return [];
  if (isRefusedLogin(failure) && !(await isAloneAndNew(call, sessions))) return [];
  met.add(next.ref.address);
  const { firstContact } = await import('../devices/first-contact.ts');
  const kept = yield* firstContact(call, next, failure);
  if (kept === undefined) return yield* meetNext(call, sessions, failed, met);
  sessions[sessions.indexOf(next)] = kept;
  return [kept];
}

/** Whether the device does not speak as documented, and no profile is set for it. */
function isUnknown({ entry }: DeviceSession, error: DevshError | undefined): boolean {
  const isElsewhere =
    error instanceof ProtocolError ||
    isRefusedLogin(error) ||
    (error instanceof RejectedError && error.status === 404);
  return entry.profile === undefined && isElsewhere;
}

/** Only one new device is tried further: elsewhere a refused login is a wrong password, and requests look hostile. */
async function isAloneAndNew(
  { shell: { services } }: Call,
  sessions: readonly DeviceSession[],
): Promise<boolean> {
  const [only, ...others] = sessions;
  if (only === undefined || others.length > 0) return false;
  return Object.keys(await services.profiles.seen(only.ref.address)).length === 0;
}

/** After this many unknown devices, devsh reports the others as errors. */
const MOST_MET = 3;

/** Reports what is pending on the devices that answer now. */
async function* owedHere(
  { shell: { services } }: Call,
  sessions: readonly DeviceSession[],
): AsyncGenerator<Output> {
  const here = sessions.filter(({ state }) => state.kind === 'ready').map(({ ref }) => ref);
  if (here.length === 0 || (await services.runs.ids()).length === 0) return;
  const { pendingOn } = await import('../writing/pending.ts');
  const text = await pendingOn(services, here);
  if (text !== undefined) yield warning(text);
}

export const disconnect = command({
  name: 'disconnect',
  brief: 'Close connections',
  section: 'Devices',
  summary: 'Close the connection to these devices, or to all',
  args: [CONNECTED],
  changes: 'choice',
  async *run(call) {
    const sessions = connectedSessions(call);
    const { fleet } = call.shell;
    await fleet.leave(sessions);
    const isNone = fleet.isNarrowed && fleet.selection.length === 0;
    const none = isNone ? `; no device is selected now: "use" selects some, "use all" all` : '';
    yield info(
      `disconnected from ${sessions.map(({ ref }) => ref.name).join(', ') || 'nothing'}${none}`,
    );
  },
});

export const use = command({
  name: 'use',
  synonyms: ['cd'],
  section: 'Devices',
  summary: 'Select the connected devices for the next lines',
  args: [CONNECTED],
  changes: 'choice',
  examples: ['use fw1', 'use "@berlin !fw3"', 'use all'],
  *run(call) {
    const { fleet } = call.shell;
    const sessions = connectedSessions(call);
    fleet.select(sessions.length === fleet.connected.length ? undefined : sessions);
    yield info(`using ${fleet.selection.map(({ ref }) => ref.name).join(', ') || 'no device'}`);
  },
});

/** The connected devices that the line names; all of them without a name, or for `all`. */
function connectedSessions(call: Call): readonly DeviceSession[] {
  const { connected } = call.shell.fleet;
  const selectors = call.args.all('SELECTOR').map((text) => (text === 'all' ? '@all' : text));
  if (selectors.length === 0) return connected;
  const names = new Set(selectConnected(call, selectors).map(({ name }) => name));
  return connected.filter(({ ref }) => names.has(ref.name));
}

/** Like `selectDevices`, but only among the connected devices. */
function selectConnected(call: Call, selectors: readonly string[]): DeviceEntry[] {
  const entries = call.shell.fleet.connected.map(({ entry }) => entry);
  const names = entries.map(({ name }) => name);
  try {
    const selected = selectDevices(selectors, new Inventory(entries));
    // A typed name or address must belong to a connected device; a range may include others.
    const isConnected = ({ address }: DeviceEntry): boolean =>
      entries.some((entry) => entry.address === address);
    const typed = selectors.flatMap((text) => text.split(/[\s,]+/));
    const other = selected.find(
      (one) => !isConnected(one) && (typed.includes(one.name) || typed.includes(one.address)),
    );
    if (other === undefined && selected.some(isConnected)) return selected;
    throw new UsageError(`${other?.name ?? selectors.join(' ')} is not connected`);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const [first, ...others] = call.args.words('SELECTOR');
    const word = others.length === 0 ? first : undefined;
    const wanted = oneLine(selectors.join(' '));
    const text =
      names.length === 0
        ? `no device is connected: use "connect ${wanted}"`
        : `not among the connected devices (${oneLine(names.join(', '))}): ${wanted}`;
    const suggestions = suggest(wanted, names);
    throw new UsageError(text, { column: word?.start, suggestions, cause: error });
  }
}

/** The options of the line that apply to these devices alone. */
function entryOptions({
  options: { user, ca, insecure, route },
}: Call<'user' | 'ca' | 'insecure' | 'route'>): Partial<DeviceEntry> {
  return {
    ...(user !== undefined && { user }),
    ...(ca !== undefined && { ca }),
    ...(insecure && { insecure }),
    ...(route && { route }),
  };
}

/** Keeps the options of the line that apply to all following lines. */
function keepForSession({ shell, given, options }: Call<DeviceOption>): void {
  const kept = ['timeoutMs', 'verbose', 'tokenStdin', 'passwordStdin', 'passphraseStdin'] as const;
  shell.defaults = { ...shell.defaults, ...pickGiven(given, kept) };
  if (options.readOnly) shell.isReadOnly = true;
}

const listDevices = verb({
  name: 'list',
  summary: 'Show the devices of the inventory and the connected ones, with their state',
  options: [...DEVICES, 'watchMs'],
  changes: 'nothing',
  details:
    'devsh asks no device: the state is that of the connection, and TRUST says how the certificate is checked.\n' +
    '--on asks its devices first, connected or not, and shows only these. --watch asks repeatedly and\n' +
    'reports changes: state, latency (when it changes by more than half), account, trust, number of users.\n' +
    '\n' +
    'JSON and CSV also have all settings, and "device import" reads both.',
  examples: ['device list', 'device list --watch=10 --on @berlin', 'device list --format csv'],
  run: later(async () => (await import('../devices/list-devices.ts')).listDevices),
});

const importDevices = verb({
  name: 'import',
  summary: 'Import devices from CSV, Ansible or another devices.yaml',
  args: [{ name: 'SOURCE', summary: 'a file, or - for standard input', isRequired: true }],
  options: ['from', 'groups', 'yes', 'dryRun', 'allow'],
  details:
    'devsh shows what it would add and change, asks, and writes devices.yaml; comments and order stay. It\n' +
    'removes no device and never copies secrets. devsh recognizes the source by its name and content; --from\n' +
    'overrides that. Ansible: pipe "ansible-inventory --list" to it.',
  examples: [
    'device import hosts.csv --dry-run',
    'device import hosts.csv --group berlin',
    'device import - --from ansible',
  ],
  run: later(async () => (await import('../devices/import-devices.ts')).takeOverDevices),
});

const SHORT_FORM = 'Short form of "device list"';

/** Adds a device that the inventory has to groups: `device add fw1 --group berlin`. */
async function addToGroups({
  args,
  given,
  options: { groups },
  shell,
}: Call<
  'groups' | 'user' | 'ca' | 'insecure' | 'route' | 'readOnly' | 'profile'
>): Promise<Output> {
  const { inventory } = shell.services;
  const name = args.required('NAME');
  const isOther = (['user', 'ca', 'insecure', 'route', 'readOnly', 'profile'] as const).some(
    (key) => given[key] !== undefined,
  );
  if (isOther || groups.length === 0 || !(await inventory.load()).find(name)) {
    throw new UsageError('device add needs ADDRESS: address, host name or host:port', {
      column: args.end,
    });
  }
  await inventory.edit((file) => file.addToGroups(name, groups));
  return success(`added ${name} to ${groups.map((group) => `@${group}`).join(', ')}`);
}

export const devices: CommandSpec = {
  name: 'devices',
  summary: SHORT_FORM,
  section: 'Devices',
  verbs: [{ ...listDevices, name: '', summary: SHORT_FORM }],
};

export const device: CommandSpec = {
  name: 'device',
  synonyms: ['inventory', 'hosts'],
  summary: 'Manage the inventory (devices.yaml)',
  section: 'Devices',
  defaultVerb: 'list',
  verbs: [
    listDevices,
    verb({
      name: 'add',
      summary: 'Add a device to the inventory, or to a group',
      args: [
        { name: 'NAME', summary: 'a name for the device', isRequired: true },
        { name: 'ADDRESS', summary: 'address, host name or host:port; none for a group' },
      ],
      options: ['groups', 'user', 'ca', 'insecure', 'route', 'readOnly', 'profile'],
      details:
        '--user, --ca, --insecure, --proxy, --jump, --read-only, --profile and --group are stored with the device.',
      examples: ['device add fw1 10.0.0.5 --user me', 'device add fw1 --group berlin'],
      async *run(call) {
        const { args, options, shell } = call;
        const [word] = args.words('ADDRESS');
        const address = args.optional('ADDRESS');
        if (address === undefined) {
          yield await addToGroups(call);
          return;
        }
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
          ...entryOptions(call),
          // In the file, a relative path would start at the folder of the file.
          ...(options.ca !== undefined && { ca: resolve(options.ca) }),
          ...(options.readOnly && { readOnly: true }),
          ...(options.profile !== undefined && { profile: options.profile }),
        };
        try {
          await shell.services.inventory.edit((file) => file.addDevice(device));
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
        const { inventory } = shell.services;
        const address = (await inventory.load()).find(name)?.address ?? name;
        await inventory.edit((file) => file.removeDevice(name));
        // The name is no longer known, so the lines use the address.
        yield success(
          `removed ${name} from the inventory; its pin and login stay: "trust forget ${address}" and "logout ${address}" remove them`,
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
