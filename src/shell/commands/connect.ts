import { routeText } from '../../device/route/route.ts';
import { oneLine, someOf } from '../../text/one-line.ts';
import { UsageError, type DevshError } from '../../errors.ts';
import { Inventory } from '../../fleet/inventory.ts';
import type { Member } from '../../fleet/member.ts';
import { selectDevices, type DeviceEntry } from '../../fleet/selector.ts';
import { suggest } from '../../text/suggest.ts';
import { type Call, command } from '../command.ts';
import { deviceFacts } from '../devices/device-facts.ts';
import { type Output, type TableOutput, info, table } from '../output.ts';
import { scopeText } from '../prompt-text.ts';
import { DEVICES, pickGiven, type DeviceOption } from '../grammar/options.ts';
import { CONNECTED, SOME_TARGETS } from '../arguments.ts';

/** Connecting means: trust the certificate, log in, and read the users. */
const PROBED_RESOURCE = 'user';

export const connect = command({
  name: 'connect',
  brief: 'Connect to devices and open the shell on them',
  section: 'Devices',
  summary: 'Connect to devices: check the certificate, log in, read the users',
  args: [SOME_TARGETS],
  options: [...DEVICES, 'profile'],
  changes: 'choice',
  details:
    'A device that is down does not hold up the others; connect to it again to retry. A selection made\n' +
    'with "use" stays: a device that comes is connected, and "use" selects it.\n' +
    '--user, --ca, --insecure, --proxy and --jump hold for these devices, --read-only and --timeout for the whole session.',
  examples: [
    'connect 10.0.0.5 10.0.0.6',
    'connect @berlin !fw3',
    'connect 10.0.0.[5-9] --user admin',
  ],
  async *run(call) {
    const members = await call.resolve(call.args.all('TARGET'), entryOptions(call));
    const { fleet } = call.session;
    const connected = new Set(fleet.connected);
    const before = new Set(fleet.connected.map(({ ref }) => ref.name));
    const isNew = members.some((member) => !connected.has(member));
    fleet.join(members);
    // Who connects again may be asked again.
    for (const member of members) member.decline(undefined);
    keepForSession(call);
    if (isNew && call.io.isPrompt === true) {
      const { keepForNextSession } = await import('../help/first-run.ts');
      await keepForNextSession(call);
    }
    yield* probe(call, members);
    const added = members.filter(({ ref }) => !before.has(ref.name));
    if (!fleet.isNarrowed || added.length === 0) return;
    yield info(
      `not selected: ${someOf(added.map(({ ref }) => ref.name))}; the selection stays ${scopeText(fleet)} ("use all" takes all ${fleet.connected.length})`,
    );
  },
});

export const disconnect = command({
  name: 'disconnect',
  brief: 'Close connections',
  section: 'Devices',
  summary: 'Close the connection to these devices, or to all',
  args: [CONNECTED],
  changes: 'choice',
  async *run(call) {
    const members = connectedMembers(call);
    const { fleet } = call.session;
    await fleet.leave(members);
    const isNone = fleet.isNarrowed && fleet.selection.length === 0;
    const none = isNone ? `; no device is selected now: "use" chooses, "use all" takes all` : '';
    yield info(
      `disconnected from ${members.map(({ ref }) => ref.name).join(', ') || 'nothing'}${none}`,
    );
  },
});

export const use = command({
  name: 'use',
  brief: 'Choose which connected devices the next commands are about',
  section: 'Devices',
  summary: 'Choose which of the connected devices the next commands are about',
  args: [CONNECTED],
  changes: 'choice',
  examples: ['use fw1', 'use "@berlin !fw3"', 'use all'],
  *run(call) {
    const { fleet } = call.session;
    const members = connectedMembers(call);
    fleet.select(members.length === fleet.connected.length ? undefined : members);
    yield info(`using ${fleet.selection.map(({ ref }) => ref.name).join(', ') || 'no device'}`);
  },
});

export const devices = command({
  name: 'devices',
  section: 'Devices',
  summary: 'Show the connected devices and their state',
  options: [...DEVICES, 'watchMs'],
  changes: 'nothing',
  details:
    'With --on, those devices are asked first, connected or not. --watch asks them again and again and\n' +
    'tells what changed: state, latency (when it is another by half), account, certificate, counts.',
  examples: ['devices', 'devices --watch', 'devices --watch=10 --on @berlin --format jsonl'],
  async *run(call) {
    const { on, watchMs } = call.options;
    const { connected } = call.session.fleet;
    const isNamed = on.length > 0 || (watchMs !== undefined && connected.length === 0);
    const members = isNamed ? await call.members() : connected;
    const tableOf = (): TableOutput => devicesTable(members, true);
    // The full screen asks again by itself.
    if (watchMs !== undefined && call.io.isRefreshing !== true) {
      const { watchDevices } = await import('../watch.ts');
      yield* watchDevices(call, members, watchMs, tableOf, () => askAll(call, members));
      return;
    }
    if (isNamed) yield* askAll(call, members);
    yield tableOf();
  },
});

/** Asks each device for its users; a failure is told when it is not the one that was told before. */
async function* askAll(call: Call, members: readonly Member[]): AsyncGenerator<Output> {
  const wasFailing = new Set(members.filter(({ state }) => state.kind === 'failed'));
  const failed = new Map<Member, DevshError>();
  for await (const read of call.read(members, PROBED_RESOURCE)) {
    if (!read.ok && !wasFailing.has(read.member)) failed.set(read.member, read.error);
  }
  yield* failuresTold(members, failed);
}

/** All at once and in order, so that each cause is told once. */
function* failuresTold(
  members: readonly Member[],
  failed: ReadonlyMap<Member, DevshError>,
): Generator<Output> {
  for (const member of members) {
    const error = failed.get(member);
    if (error !== undefined) yield { kind: 'error', error, device: member.ref };
  }
}

/** Reads the users of each device; failures and the states of all are told at the end. */
export async function* probe(call: Call, members: readonly Member[]): AsyncGenerator<Output> {
  let done = 0;
  const failed = new Map<Member, DevshError>();
  for await (const read of call.read(members, PROBED_RESOURCE)) {
    done += 1;
    const text = `connecting: ${read.member.ref.name} ${read.ok ? 'answered' : 'failed'}`;
    yield { kind: 'progress', done, total: members.length, text };
    if (!read.ok) failed.set(read.member, read.error);
  }
  yield* failuresTold(members, failed);
  const hasSuccess = members.some(({ state }) => state.kind === 'ready');
  yield { ...devicesTable(members), hasSuccess };
  // The table does not wait for what the devices say of themselves.
  const { learnAllQuietly } = await import('../devices/learning.ts');
  call.session.inBackground(learnAllQuietly(call, members, PROBED_RESOURCE));
}

/** @param isFull also what is not asked for at each connecting: latency, profile, what else was seen */
export function devicesTable(members: readonly Member[], isFull = false): TableOutput {
  const facts = members.map(deviceFacts);
  const others = facts.flatMap(({ counts }) => counts.map(({ resource }) => resource));
  const resources = [...new Set([PROBED_RESOURCE, ...(isFull ? others : [])])];
  const hasFailed = members.some(({ state }) => state.kind === 'failed');
  return table(
    // Not `devices`: in JSON that is what was read.
    'connections',
    [
      'device',
      'address',
      'state',
      ...(isFull && hasFailed ? ['since', 'reason'] : []),
      isFull && { key: 'latency_ms', title: 'MS' },
      ...resources.map((name) => `${name}s`),
      { key: 'account', title: 'AS' },
      { key: 'trust', title: 'CERTIFICATE' },
      isFull && 'profile',
      facts.some(({ route }) => route !== undefined) && { key: 'route', title: 'REACHED BY' },
    ],
    members.map((member, index) => {
      const { account, trust, latencyMs, profile } = facts[index] ?? deviceFacts(member);
      return {
        device: member.ref.name,
        address: member.ref.address,
        state: stateText(member),
        ...(isFull && failureFields(member)),
        ...(isFull && { latency_ms: latencyMs === undefined ? null : Math.round(latencyMs) }),
        ...Object.fromEntries(
          resources.map((name) => [`${name}s`, member.seen(name)?.length ?? null]),
        ),
        account: account ?? null,
        trust: trust ?? null,
        ...(isFull && { profile }),
        route: member.route === undefined ? null : routeText(member.route),
      };
    }),
  );
}

/** Why a device is not there, and since when. */
function failureFields({ state, ref }: Member) {
  if (state.kind !== 'failed') return { since: null, reason: null };
  // Its name stands in the same row.
  const reason = state.error.message.replace(`${ref.name}: `, '');
  return { since: state.since.toISOString(), reason };
}

function stateText({ state }: Member): string {
  switch (state.kind) {
    case 'new':
      return 'not connected';
    case 'connecting':
      return 'connecting';
    case 'ready':
      return 'connected';
    case 'failed':
      return state.error.code;
  }
}

/** The named ones of the connected devices; all of them for no name and for `all`. */
function connectedMembers(call: Call): readonly Member[] {
  const { connected } = call.session.fleet;
  const selectors = call.args.all('SELECTOR').map((text) => (text === 'all' ? '@all' : text));
  if (selectors.length === 0) return connected;
  const names = new Set(selectConnected(call, selectors).map(({ name }) => name));
  return connected.filter(({ ref }) => names.has(ref.name));
}

/** As `selectDevices`; what is not connected is no matter of the inventory. */
function selectConnected(call: Call, selectors: readonly string[]): DeviceEntry[] {
  const entries = call.session.fleet.connected.map(({ entry }) => entry);
  const names = entries.map(({ name }) => name);
  try {
    const selected = selectDevices(selectors, new Inventory(entries));
    // An address names a device that nobody has connected to; a range may reach further.
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
        ? `no device is connected; "connect ${wanted}" does that`
        : `not among the connected devices (${oneLine(names.join(', '))}): ${wanted}`;
    const suggestions = suggest(wanted, names);
    throw new UsageError(text, { column: word?.start, suggestions, cause: error });
  }
}

/** What the line says about these devices alone. */
function entryOptions(call: Call<DeviceOption>): Partial<DeviceEntry> {
  const { user, ca, insecure, route } = call.options;
  return {
    ...(user !== undefined && { user }),
    ...(ca !== undefined && { ca }),
    ...(insecure && { insecure }),
    ...(route && { route }),
  };
}

/** What the line says about all lines that follow. */
function keepForSession({ session, given, options }: Call<DeviceOption>): void {
  const kept = ['timeoutMs', 'verbose', 'tokenStdin', 'passwordStdin', 'passphraseStdin'] as const;
  session.defaults = { ...session.defaults, ...pickGiven(given, kept) };
  if (options.readOnly) session.isReadOnly = true;
}
