import { formatAddress, parseAddress } from '../../device/address.ts';
import { type Value, valueText } from '../../device/record.ts';
import { routeText } from '../../device/route/route.ts';
import { DevshError, expectedError } from '../../errors.ts';
import type { DeviceSession } from '../../fleet/device-session.ts';
import { LISTED_SETTINGS, LISTED_STATE } from '../../fleet/inventory-schema.ts';
import type { GroupConflict } from '../../fleet/inventory-text.ts';
import type { Inventory, InventoryDevice } from '../../fleet/inventory.ts';
import { writtenSettings } from '../../fleet/written-inventory.ts';
import type { Call } from '../command.ts';
import { info, type Output, table, type TableOutput, warning } from '../output.ts';
import { AS, askAll, caText, NOT_CHECKED, REACHED_BY, sessionFields } from './probe.ts';

const MOST_CONFLICTS = 5;

interface Listed {
  readonly device: InventoryDevice;
  /** Absent if the device is not connected. */
  readonly session?: DeviceSession | undefined;
}

interface Known extends Listed {
  /** How its certificate will be checked; null if the pins cannot be read. */
  readonly trust: string | null;
  readonly lastRead: Date | undefined;
}

export async function* listDevices(call: Call<'on' | 'watchMs'>): AsyncGenerator<Output> {
  const { on, watchMs } = call.options;
  const isPart = on.length > 0 || watchMs !== undefined;
  const { connected } = call.shell.fleet;
  const isAsked = on.length > 0 || (isPart && connected.length === 0);
  const sessions = isAsked ? await call.sessions() : connected;
  const { inventory: file } = call.shell.services;
  const inventory = await file.load();
  const listed = isPart
    ? sessions.map((session) => listedOf(session, inventory))
    : allOf(inventory, connected, call.io.isPrompt === true);
  const tableOf = yield* tableFor(call, listed);
  // The full screen repeats the request by itself.
  if (watchMs !== undefined && call.io.isRefreshing !== true) {
    const { watchDevices } = await import('../watch.ts');
    yield* watchDevices(call, sessions, watchMs, tableOf, () => askAll(call, sessions));
    return;
  }
  if (isAsked) yield* askAll(call, sessions);
  yield { ...tableOf(), hasSuccess: sessions.some(({ state }) => state.kind === 'ready') };
  if (listed.length === 0) {
    yield info(
      'the inventory is empty: "device add NAME ADDRESS" adds a device, "device import" imports many',
    );
  }
  if (!isPart && call.io.isOnScreen === true)
    yield* conflictWarnings((await file.read()).conflicts);
}

function listedOf(session: DeviceSession, inventory: Inventory): Listed {
  return { device: inventory.find(session.ref.name) ?? session.entry, session };
}

/** The inventory in its order, then connected devices that are not in it. */
function allOf(
  inventory: Inventory,
  connected: readonly DeviceSession[],
  isPrompt: boolean,
): Listed[] {
  const sessions = new Map(connected.map((session) => [session.ref.name, session]));
  const others = connected.filter(({ ref }) => inventory.find(ref.name) === undefined);
  const all: Listed[] = [
    ...inventory.devices.map((device) => ({ device, session: sessions.get(device.name) })),
    ...others.map((session) => listedOf(session, inventory)),
  ];
  // A user who works on a few of many devices looks for these.
  const isFew = isPrompt && connected.length < inventory.devices.length / 2;
  const rank = ({ session }: Listed): number => (session === undefined ? 1 : 0);
  return isFew ? all.sort((a, b) => rank(a) - rank(b)) : all;
}

/** Reads what earlier sessions have left: pins, and when each device was last read. */
async function* tableFor(
  { shell, options }: Call,
  listed: readonly Listed[],
): AsyncGenerator<Output, () => TableOutput> {
  const pinFile = await shell.services.knownDevices.pinFile().catch(expectedError);
  if (pinFile instanceof DevshError) yield { kind: 'error', error: pinFile };
  const pins = pinFile instanceof DevshError ? undefined : pinFile.pins;
  const files = await shell.readings();
  const known = listed.map((one) => ({
    ...one,
    trust: configuredTrust(one.device, pins),
    lastRead: files.lastRead(one.device.name),
  }));
  return () => {
    const rows = known.map(rowOf);
    const rare = RARE.map((column) => rows.some((row) => valueText(row[column.key])) && column);
    return table('inventory', options.format === 'csv' ? SHEET : [...USUAL, ...rare], rows);
  };
}

const USUAL = [
  'name',
  'address',
  'groups',
  'state',
  'trust',
  { key: 'last_read', title: 'LAST READ' },
];

/** Columns that are left out while they are empty. */
const RARE = [
  { ...AS, isExtra: true },
  { key: 'users', title: 'USERS', isExtra: true },
  { ...REACHED_BY, isExtra: true },
  { key: 'options', title: 'OPTIONS', isExtra: true },
  { key: 'latency_ms', title: 'MS', isExtra: true },
  { key: 'since', title: 'SINCE', isExtra: true },
  { key: 'reason', title: 'REASON', isExtra: true },
] as const;

const SHEET = ['name', 'address', 'groups', ...LISTED_STATE, ...LISTED_SETTINGS];

function rowOf({ device, session, trust, lastRead }: Known): Readonly<Record<string, Value>> {
  const { name, address, groups, user = null, ca = null, route, breakGlass = [] } = device;
  const known = sessionFields(session);
  return {
    ...known,
    ...{ name, address, groups, user, ca },
    trust: known.trust ?? trust,
    last_read: known.last_read ?? lastRead?.toISOString() ?? null,
    account: known.account ?? user,
    route: known.route ?? (route === undefined ? null : routeText(route)),
    options: [
      device.insecure === true ? 'insecure' : [],
      device.readOnly === true ? 'read-only' : [],
      breakGlass.length > 0 ? `break-glass ${breakGlass.join(' ')}` : [],
      device.label ?? [],
    ].flat(),
    ...writtenSettings(device),
  };
}

function configuredTrust(
  { address, insecure, ca }: InventoryDevice,
  pins: ReadonlyMap<string, unknown> | undefined,
): Known['trust'] {
  if (insecure === true) return NOT_CHECKED;
  if (pins === undefined) return null;
  if (pins.has(formatAddress(parseAddress(address)))) return 'pinned';
  return ca === undefined ? 'none' : caText(ca);
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
