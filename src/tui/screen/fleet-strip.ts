import { CHANGED_CERTIFICATE, failureCause } from '../../fleet/failure-cause.ts';
import { counted } from '../../text/one-line.ts';
import { visible, widthOf } from '../../text/visible.ts';
import { keyNameOf } from '../keys/keymap.ts';
import { memoized } from '../store.ts';
import type { DeviceTab, FleetView, Keymap, State } from '../state.ts';
import { shareBar } from './progress.ts';
import { type Span, type Tone, widthOfSpans } from './theme.ts';
import { grouped } from '../../device/record.ts';

export const SIGNS = { ready: '●', connecting: '◌', new: '○', failed: '✗' } as const;
export const TONES = { ready: 'good', connecting: 'warning', new: 'quiet', failed: 'bad' } as const;
const WORDS = { ready: '', connecting: 'connecting', new: 'not connected' } as const;

/** The state of a device in a word: `connecting`, `timeout`, `login`; empty if it responds. */
export function stateWord({ kind, error }: DeviceTab): string {
  if (kind !== 'failed') return WORDS[kind];
  return error === undefined ? 'failed' : failureCause(error);
}

/** The devices by name, failed ones first. If they are too many, a count, a bar and the causes. */
export const fleetStrip = memoized(
  ({ fleet, size: { columns }, keymap, pending }: State): Span[] => {
    const { whole, short } = leftVariants(fleet, columns, keymap);
    const [badge = [], shortBadge = badge] = badgesOf(fleet, keymap, pending);
    const all = [...whole, ...short];
    const headless = short.map(([, ...spans]) => spans);
    const failedOnly = short.at(-1)?.slice(-1) ?? [];
    return (
      fitting(whole, rightVariants(badge, fleet), columns) ??
      fitting(all, rightVariants(shortBadge, fleet), columns) ??
      fitting([...all, ...headless, failedOnly], [factSpans(shortBadge)], columns) ??
      factSpans(shortBadge)
    );
  },
  ([{ fleet, size, keymap, pending }]) => [fleet, size.columns, keymap, pending],
);

/** The most detailed left side that leaves room for a right side, with the longest right side that fits. */
function fitting(
  lefts: readonly Span[][],
  rights: readonly Span[][],
  columns: number,
): Span[] | undefined {
  for (const left of lefts) {
    const room = columns - widthOfSpans(left) - 1;
    const right = rights.find((spans) =>
      spans.length === 0 ? room >= 0 : widthOfSpans(spans) + 1 < room,
    );
    if (right === undefined) continue;
    const gap: Span = { tone: 'plain', text: ' '.repeat(Math.max(0, room - widthOfSpans(right))) };
    return right.length === 0 ? left : [...left, gap, ...right];
  }
  return undefined;
}

const HEAD: Span = { tone: 'heading', text: ' devsh' };

/** The devices, from the most detailed form to the shortest. */
function leftVariants(fleet: FleetView, columns: number, keymap: Keymap) {
  const tabs = ['   ', '  '].flatMap((gap) => {
    const spans = tabsOf(fleet, gap, columns - widthOf(HEAD.text));
    return spans === undefined ? [] : [[HEAD, ...spans]];
  });
  const { devices } = fleet;
  const causes = troubleCauses(devices);
  const key = keyNameOf('trouble', 'table', keymap);
  const ready = devices.filter(({ kind }) => kind === 'ready').length;
  const failed = causes.reduce((sum, { names }) => sum + names.length, 0);
  const total: Span = { tone: 'heading', text: `   ${devices.length} ` };
  const bar = shareBar({ done: ready, failed, left: devices.length - ready - failed }, 10);
  const reached: Span = { tone: ready === 0 ? 'quiet' : 'good', text: ` ${ready} ${SIGNS.ready}` };
  const rest = restSpans(devices);
  const counts = (most: number, areNamed = false): Span[] => [
    reached,
    ...causeSpans(causes, most, areNamed, key),
    ...rest,
  ];
  const all: Span = { ...reached, text: ` ${ready}/${devices.length} ${SIGNS.ready}` };
  const bad: Span = { tone: 'bad', text: failed === 0 ? '' : `  ${SIGNS.failed} ${failed}` };
  return {
    whole: [
      ...tabs,
      ...(failed <= MOST_NAMED ? [[HEAD, total, ...bar, ...counts(Infinity, true)]] : []),
      [HEAD, total, ...bar, ...counts(Infinity)],
    ],
    short: [
      ...causes.map((_, index) => [HEAD, total, ...counts(causes.length - index)]),
      [HEAD, all, bad],
    ],
  };
}

/** Up to this many failed devices are named beside their cause. */
const MOST_NAMED = 3;

/** `✗ 60 certificate · 20 timeout · +3: !`, with the key that lists them. */
function causeSpans(
  causes: readonly TroubleCause[],
  most: number,
  areNamed: boolean,
  key: string | undefined,
): Span[] {
  if (causes.length === 0) return [];
  const texts = causes.slice(0, most).map(({ cause, names }) => {
    const which = areNamed ? ` (${names.map(visible).join(' ')})` : '';
    return `${names.length} ${cause}${which}`;
  });
  const others = causes.slice(most).reduce((sum, { names }) => sum + names.length, 0);
  const parts = others === 0 ? texts : [...texts, `+${others}`];
  const text = `  ${SIGNS.failed} ${parts.join(' · ')}${key === undefined ? '' : `: ${key}`}`;
  return [{ tone: 'bad', text }];
}

/** The devices that are connecting or not tried yet: they are neither reached nor failed. */
function restSpans(devices: readonly DeviceTab[]): Span[] {
  const words = { connecting: 'connecting', new: 'not tried' } as const;
  return (['connecting', 'new'] as const).flatMap((kind): Span[] => {
    const count = devices.filter((device) => device.kind === kind).length;
    return count === 0
      ? []
      : [{ tone: TONES[kind], text: `  ${SIGNS[kind]} ${count} ${words[kind]}` }];
  });
}

interface TroubleCause {
  readonly cause: string;
  readonly names: readonly string[];
}

/** The failed devices by cause: changed certificates first, then the most frequent cause. */
export const troubleCauses = memoized((devices: readonly DeviceTab[]): readonly TroubleCause[] => {
  const failed = devices.filter(({ kind }) => kind === 'failed');
  const rank = ({ cause, names }: TroubleCause): number =>
    cause === CHANGED_CERTIFICATE ? -Infinity : -names.length;
  return [...grouped(failed, stateWord)]
    .map(([cause, of]) => ({ cause, names: of.map(({ name }) => name) }))
    .sort((a, b) => rank(a) - rank(b));
});

/** All devices by name, failed ones first; undefined if they do not fit. */
function tabsOf(fleet: FleetView, gap: string, width: number): Span[] | undefined {
  // Each device needs at least a sign, a blank and a letter.
  if (fleet.devices.length * (gap.length + 3) > width) return undefined;
  const selected = new Set(fleet.isNarrowed ? fleet.selected : []);
  const isInTrouble = ({ kind }: DeviceTab): boolean => kind === 'failed';
  const { devices } = fleet;
  const shown = [...devices.filter(isInTrouble), ...devices.filter((one) => !isInTrouble(one))];
  const spans = shown.flatMap((device): Span[] => {
    const word = stateWord(device);
    const name = visible(device.name) + (word === '' ? '' : ` ${word}`);
    const text = `${SIGNS[device.kind]} ${name}`;
    return [
      { tone: 'plain', text: gap },
      { tone: TONES[device.kind], text: selected.has(device.name) ? `[${text}]` : text },
    ];
  });
  return widthOfSpans(spans) <= width ? spans : undefined;
}

type Fact = FleetView['rights'][number] & { readonly tone?: Tone };

/** The right side from the longest to the shortest form. The account is dropped first, alarming facts never. */
function rightVariants(badges: readonly Fact[], { rights }: FleetView): Span[][] {
  const variants = rights.map((_, from) =>
    rights.filter(({ isAlarming }, index) => index >= from || isAlarming),
  );
  return (variants.length === 0 ? [[]] : variants).map((facts) => factSpans([...badges, ...facts]));
}

function factSpans(facts: readonly Fact[]): Span[] {
  return facts.flatMap(({ text, isAlarming, tone }, index): Span[] => [
    ...(index > 0 ? [{ tone: 'quiet', text: ' · ' } as const] : []),
    { tone: tone ?? (isAlarming ? 'bad' : 'quiet'), text },
  ]);
}

/** The facts that stay beside the devices even on the narrowest screen, in a longer and a shorter form. */
function badgesOf(fleet: FleetView, keymap: Keymap, pending: State['pending']): readonly Fact[][] {
  const names = fleet.devices.map(({ name }) => name).filter((name) => pending.has(name));
  const count = names.reduce((sum, name) => sum + (pending.get(name) ?? 0), 0);
  const text = `pending ${count}`;
  const named = names.length > MOST_NAMED ? text : `${text}: ${names.map(visible).join(' ')}`;
  const open = fleet.questions.length;
  // The signs of the devices show what the questions are about.
  const asked = `${counted(open, 'question')}: ${questionsKey(keymap)}`;
  return [named, text].map((owed): Fact[] => [
    ...(open === 0 ? [] : [{ text: asked, isAlarming: true }]),
    ...(count === 0 ? [] : [{ text: owed, isAlarming: true, tone: 'warning' } as const]),
  ]);
}

export function questionsKey(keymap: Keymap): string {
  return keyNameOf('questions', 'table', keymap)?.replace(/^f(?=\d)/, 'F') ?? '"questions"';
}
