import { reasonText } from '../../output/streams.ts';
import { counted } from '../../text/one-line.ts';
import { shortTime } from '../../text/time.ts';
import { quoteWord } from '../../text/words.ts';
import { cut, visible } from '../../text/visible.ts';
import { wrapText } from '../../text/wrap.ts';
import { firstOf, key, keysOf, lineKey, noDevice, type Reason } from '../keys/binding.ts';
import type { Key } from '../keys/key-binding.ts';
import { memoized } from '../store.ts';
import { SIGNS, stateWord, TONES, troubleCauses } from '../screen/fleet-strip.ts';
import type { DeviceTab, LogLine, State } from '../state.ts';
import { watchText } from '../table/view.ts';
import { type ListColumn, type ListOf, listOf, type OverOf } from './view.ts';

/** A key that runs a line about the current device. */
function about(
  keys: readonly string[],
  action: string,
  label: string,
  hint: Key<State>['hint'] & {},
  command: string,
  line: (name: string, device: DeviceTab) => string = (name) => command.replace('DEVICE', name),
  disabled: Reason = noDevice,
): Key<State> {
  const run = (state: State): string | undefined => {
    const device = DEVICES.current(state);
    return device && line(quoteWord(device.name), device);
  };
  return lineKey(keys, action, label, run, { hint, command, disabled });
}

const nothingPending: Reason = (state) => {
  const device = DEVICES.current(state);
  return device !== undefined && state.pending.has(device.name)
    ? undefined
    : 'nothing is pending on this device';
};

function trustLine(name: string, { error, facts }: DeviceTab): string {
  if (error?.code !== 'untrusted') return `trust scan ${name}`;
  return facts?.trust === 'pinned' ? `trust replace ${name}` : `trust accept ${name}`;
}

export const CONNECTED = 'connected';

const OPEN = 'use only this device, and show its records';
const TRUST = 'compare its certificate with the pin; trust a new or changed one';
const WATCH = 'ask them again every 5 s, as the table; again: stop';

/** The connected devices: state, account, certificate, profile and counts of records. */
export const DEVICES: ListOf<OverOf<'devices'>, DeviceTab> = listOf({
  kind: 'devices',
  keys: keysOf('devices', 'In the list of devices', [
    about(['enter'], 'open-device', OPEN, [1, 'open'], 'use DEVICE'),
    about(['r'], 'connect-device', 'connect again', [3, 'connect'], 'connect DEVICE'),
    about(
      ['x'],
      'disconnect-device',
      'close the connection',
      [4, 'disconnect'],
      'disconnect DEVICE',
    ),
    about(['t'], 'trust-device', TRUST, [5, 'trust'], 'trust scan DEVICE', trustLine),
    about(
      ['O'],
      'resume-device',
      'continue what is pending on it',
      [2.5, (state) => (nothingPending(state) === undefined ? 'resume' : '')],
      'resume --on DEVICE',
      undefined,
      firstOf(noDevice, nothingPending),
    ),
    key(['!'], 'trouble', 'only the devices that are not connected; again: all', {
      hint: [5.5, 'trouble'],
    }),
    key(['w'], 'watch', WATCH, { hint: [7, 'watch'], command: 'devices --watch' }),
  ]),
  breadcrumb: () => 'devices',
  title: (_overlay, state, found) => [
    { text: deviceSummary(state), rank: found.text === '' ? 1 : 2 },
    found,
    { text: watchText(state), rank: 3 },
  ],
  // The view has only connected devices; a list of others is printed as text.
  opening: (output, { command, given }) =>
    output.kind === 'table' && command.name === 'devices' && given.on === undefined
      ? { kind: 'devices', cursor: 0 }
      : undefined,
  nothing: 'no device is connected: "connect ADDRESS" connects one',
  below: wholeReason,
  items: (_overlay, { fleet }) => fleet.devices,
  idOf: ({ name }) => name,
  columns: (_overlay, { fleet, pending }) => deviceColumns(fleet.devices, pending),
  isDoubtful: ({ kind }) => kind === 'failed',
  toneOf: ({ kind }) => (kind === 'ready' ? 'plain' : TONES[kind]),
  signOf: ({ kind }) => SIGNS[kind],
  empty: () => 'no device is connected: "connect ADDRESS" at the prompt',
});

const deviceColumns = memoized(columnsFor);

function columnsFor(
  devices: readonly DeviceTab[],
  pending: State['pending'],
): readonly ListColumn<DeviceTab>[] {
  const known = new Set(
    devices.flatMap(({ facts }) => facts?.counts.map(({ resource }) => resource) ?? []),
  );
  const counts = [...known].map((resource, index): ListColumn<DeviceTab> => ({
    title: `${visible(resource).toUpperCase()}S`,
    text: ({ facts }) => {
      const found = facts?.counts.find((count) => count.resource === resource);
      return found === undefined ? '' : String(found.count);
    },
    most: 14,
    rank: index === 0 ? 2 : 9 + index,
  }));
  return [
    { title: 'DEVICE', text: ({ name }) => visible(name), most: 24, rank: 0 },
    { title: 'STATE', text: (device) => stateWord(device) || CONNECTED, most: 22, rank: 1 },
    { title: 'PENDING', text: ({ name }) => String(pending.get(name) ?? ''), most: 7, rank: 1.2 },
    { title: 'SINCE', text: ({ since }) => (since ? shortTime(since) : ''), most: 15, rank: 1.5 },
    {
      title: 'LATENCY',
      text: ({ facts }) => latencyText(facts?.latencyMs),
      value: ({ facts }) => facts?.latencyMs ?? '',
      most: 8,
      rank: 3,
    },
    ...counts,
    { title: 'AS', text: ({ facts }) => visible(facts?.account ?? ''), most: 16, rank: 5 },
    { title: 'CERTIFICATE', text: ({ facts }) => visible(facts?.trust ?? ''), most: 20, rank: 4 },
    { title: 'PROFILE', text: ({ facts }) => visible(facts?.profile ?? ''), most: 16, rank: 6 },
    { title: 'REACHED BY', text: ({ facts }) => visible(facts?.route ?? ''), most: 40, rank: 7 },
    { title: 'ADDRESS', text: addressText, most: 32, rank: 8 },
    // Shown below the list, for the current device.
    { title: 'REASON', text: whyText, most: 0, rank: 9 },
  ];
}

/** "83 devices, 60 connected, 20 timeout, 3 login" */
function deviceSummary({ fleet: { devices } }: State): string {
  const some = (kind: DeviceTab['kind'], word: string): string[] => {
    const number = devices.filter((device) => device.kind === kind).length;
    return number === 0 ? [] : [`${number} ${word}`];
  };
  return [
    counted(devices.length, 'device'),
    ...some('ready', CONNECTED),
    ...some('connecting', 'connecting'),
    ...troubleCauses(devices).map(({ cause, names }) => `${names.length} ${cause}`),
  ].join(', ');
}

/** Why the current device failed; the list has the cause in a word. */
function wholeReason(state: State): LogLine[] {
  const { size } = state;
  const device = DEVICES.current(state);
  if (device?.error === undefined) return [];
  const width = size.columns - 2;
  const [most, text] = [Math.floor(size.rows / 4), `${visible(device.name)}: ${whyText(device)}`];
  const rows = wrapText(text, width, '  ');
  if (rows.length > most) rows.splice(most - 1, Infinity, cut(`${rows[most - 1] ?? ''} …`, width));
  return rows.map((row) => ({ tone: 'bad', text: row }));
}

function whyText({ name, address, error }: DeviceTab): string {
  return error === undefined ? '' : reasonText(error, { name, address });
}

/** `7 ms`, `1.2 s` */
function latencyText(elapsedMs: number | undefined): string {
  if (elapsedMs === undefined) return '';
  return elapsedMs < 1000 ? `${Math.round(elapsedMs)} ms` : `${(elapsedMs / 1000).toFixed(1)} s`;
}

/** Empty if the name is the address. */
function addressText({ name, address }: DeviceTab): string {
  return name === address ? '' : visible(address);
}
