import { driftSummary, type Drift, type DriftRow, type FieldDrift } from '../../fleet/drift.ts';
import { prepareHaystack, type Haystack } from '../../fleet/filter.ts';
import { columnTitle, quotedText, fieldText, MOST_ON_SCREEN } from '../../output/cells.ts';
import { differenceTexts, driftWord, keyText } from '../../output/drift-text.ts';
import { GAP, GUTTER } from '../../text/fit-columns.ts';
import { cellsUpTo, visible, widthOf, hasUnsafe } from '../../text/visible.ts';
import { key, keysOf, lineKey, readOnly, type Reason } from '../keys/binding.ts';
import { memoized } from '../store.ts';
import type { Tone } from '../screen/theme.ts';
import type { DriftOverlay, LogLine, State } from '../state.ts';
import { typedFilter } from '../table/feed.ts';
import { filterText } from '../table/view.ts';
import { namesText } from './plan-lines.ts';
import { fittedLines, type ListColumn, type ListOf, listOf } from './view.ts';
import { isNested, valueText } from '../../device/record.ts';
import { majorityOf } from '../../fleet/drift.ts';
import { resourceWords } from '../../shell/commands/index.ts';
import type { DriftOutput } from '../../shell/output.ts';
import { isAssignable, lineOf, quoteAssignment, quoteWord } from '../../text/words.ts';
import { textOf } from '../../output/sentences.ts';

const MOST_KEY = 28;
/** Devices are named or numbered above their columns if that needs at most this share of the width. */
const HEADS_SHARE = 0.75;
/** With less width, no text tells what differs. */
export const LEAST_TEXT = 12;
/** If not every device fits, the signs leave this width for that text. */
const WORDS = 28;
/** The number of rows that are measured for the column widths. */
const MEASURED_ROWS = 200;

/** The sign of each kind of cell, and its word in the legend. */
const SIGNS = {
  same: { sign: '=', tone: 'quiet', word: 'same' },
  only: { sign: '=', tone: 'quiet', word: 'same' },
  differs: { sign: '≠', tone: 'warning', word: 'differs' },
  missing: { sign: '·', tone: 'accent', word: 'missing' },
  'not listed': { sign: '?', tone: 'quiet', word: 'not in the list, which may leave it out' },
  unread: { sign: '?', tone: 'quiet', word: 'not read' },
} as const;

const noDifference: Reason = (state) =>
  state.overlay.kind === 'drift' && DRIFT.current(state) === undefined
    ? 'nothing differs'
    : undefined;

const notAlike: Reason = (state) =>
  state.overlay.kind === 'drift'
    ? (readOnly(state) ??
      state.fleet.denied.get(state.overlay.output.resource)?.set ??
      alikeFor(state.overlay, state).reason)
    : undefined;

/** Records and devices as a matrix with a sign in each cell. Different records come first. */
export const DRIFT: ListOf<DriftOverlay, DriftRow> = listOf({
  kind: 'drift',
  keys: keysOf('drift', 'While devices are compared', [
    key(['enter'], 'details', 'every field, device by device', {
      hint: [1, 'details'],
      command: 'user show KEY',
      disabled: noDifference,
    }),
    key(['f'], 'whole', 'show or hide what is the same on all devices', { hint: [3, 'all'] }),
    lineKey(
      ['='],
      'make-alike',
      'make the odd ones like the other devices; asks first',
      (state) => (state.overlay.kind === 'drift' ? alikeFor(state.overlay, state).line : undefined),
      {
        hint: [1.5, 'make alike'],
        command: 'user set KEY FIELD=VALUE… --on DEVICES',
        disabled: notAlike,
      },
    ),
    key(['right'], 'right', 'the device to the right', { hint: [4, 'device'] }),
    key(['left'], 'left', 'the device to the left'),
    lineKey(
      ['r'],
      'compare-again',
      'compare again',
      ({ overlay }) => (overlay.kind === 'drift' ? overlay.command : undefined),
      { hint: [5, 'again'], command: 'user list --drift' },
    ),
  ]),
  breadcrumb: ({ output }) => `${visible(output.resource)} drift`,
  id: ({ command }) => command,
  resumed: (overlay, { cursor, device, isWhole }) => ({ ...overlay, cursor, device, isWhole }),
  title: ({ output, filter }, state, found) => [
    {
      text: visible(textOf(driftSummary(output.drift, output.resource))),
      rank: found.text === '' ? 1 : 2,
    },
    { text: filterText(state, [filter]), rank: 1.5 },
    found,
  ],
  act(overlay, state, action) {
    const changed = (change: Partial<DriftOverlay>): State => ({
      ...state,
      overlay: { ...overlay, ...change },
    });
    const { device, isWhole } = overlay;
    const last = devicesOf(overlay).length - 1;
    if (action === 'whole') return changed({ isWhole: !isWhole });
    if (action === 'left') return changed({ device: Math.max(0, Math.min(device, last) - 1) });
    return action === 'right' ? changed({ device: Math.min(last, device + 1) }) : undefined;
  },
  details(overlay, state) {
    const row = DRIFT.current(state);
    if (row === undefined) return undefined;
    const details = { kind: 'of-drift', key: row.key, drift: overlay.output, row } as const;
    return { kind: 'details', details, top: 0 };
  },
  opening: (output, invocation, command) =>
    output.kind === 'drift'
      ? { kind: 'drift', command, filter: typedFilter(invocation), output, ...START }
      : undefined,
  items: ({ output, isWhole }) => rowsInSight(output.drift.rows, isWhole),
  idOf: ({ key }) => key,
  columns: ({ output }) => driftColumns(output),
  // A filter finds records by the values of any device, and devices by their cells.
  haystacksOf: (row, { output }) => haystacks(row, output.drift),
  toneOf: ({ isSame }) => (isSame ? 'quiet' : 'plain'),
  below,
  empty: ({ output: { drift } }) =>
    `no differences: all ${drift.rows.length} are the same on ${devicesText(drift)}; f shows them`,
});

const START = { cursor: 0, device: 0, isWhole: false };

const rowsInSight = memoized((rows: readonly DriftRow[], isWhole: boolean) =>
  isWhole ? rows : rows.filter(({ isSame }) => !isSame),
);

/** One haystack for each device, with the word of its cell; a single one if the record is the same on all. */
function haystacks(row: DriftRow, { devices, keyField }: Drift): readonly Haystack[] {
  const names = devices.map(({ name }) => name);
  return (row.isSame ? row.cells.slice(0, 1) : row.cells).flatMap((cell, index) => {
    const held = row.held[index] ?? [];
    const records = held.length === 0 ? [{ [keyField]: row.key }] : held;
    const facts = {
      device: row.isSame ? names : (names[index] ?? ''),
      difference: driftWord(cell),
    };
    return records.map((record) => prepareHaystack({ ...facts, ...record }, '', MOST_ON_SCREEN));
  });
}

/** The record under the cursor on the device under the cursor; no record if it is missing there. */
export function currentCell(overlay: DriftOverlay, state: State) {
  const row = DRIFT.current(state);
  const names = devicesOf(overlay);
  const at = Math.min(overlay.device, names.length - 1);
  const device = names[at];
  if (row === undefined || device === undefined) return undefined;
  return { key: row.key, device, record: row.held[at]?.[0] };
}

/** The devices that were read, then the others. */
export function devicesOf({ output: { drift } }: DriftOverlay): readonly string[] {
  return [...drift.devices, ...drift.unread].map(({ name }) => name);
}

/** The sign of a record on a device. If most devices lack the record, the sign for that is quiet. */
export function signOf(
  { cells }: DriftRow,
  index: number,
): { readonly sign: string; tone: Tone; word: string } {
  const kind = cells[index]?.kind ?? 'unread';
  const isRare = 2 * cells.filter((cell) => cell.kind === 'missing').length > cells.length;
  return isRare && kind === 'missing' ? { ...SIGNS.missing, tone: 'quiet' } : SIGNS[kind];
}

const driftColumns = memoized(
  ({ drift, resource }: DriftOutput): readonly ListColumn<DriftRow>[] => [
    {
      title: columnTitle(drift.keyField === '' ? resource : drift.keyField),
      text: (row) => keyText(row, resource),
      value: ({ key }) => key,
      ...{ most: MOST_KEY, rank: 0 },
    },
    {
      title: 'DIFFERENCE',
      text: (row) => differenceTexts(drift, row).join('; '),
      ...{ most: Infinity, rank: 1 },
    },
  ],
);

interface Places {
  /** The number of cells for the name of a record. */
  readonly key: number;
  /** The index of the first visible device, and the number of visible devices. */
  readonly from: number;
  readonly count: number;
  /** Names or numbers above the devices, if there is room for them. */
  readonly labels: readonly string[] | undefined;
}

/** Which devices have a place in `width` cells. */
export function placesIn(output: DriftOutput, device: number, width: number): Places {
  const title = driftColumns(output)[0]?.title ?? '';
  const { drift, resource } = output;
  const most = Math.min(MOST_KEY, Math.floor(width / 2));
  const keys = drift.rows.slice(0, MEASURED_ROWS).map((row) => keyText(row, resource));
  const key = Math.max(...[title, ...keys].map((text) => cellsUpTo(text, most)));
  const devices = [...drift.devices, ...drift.unread].map(({ name }) => visible(name));
  const left = width - key - GAP.length;
  const labels = [devices, devices.map((_, index) => String(index + 1))].find(
    (texts) => texts.reduce((sum, text) => sum + widthOf(text) + 2, 0) <= left * HEADS_SHARE,
  );
  // If not every device fits, words are more useful than further signs.
  const words = devices.length > left - GAP.length && left > 2 * WORDS ? WORDS : 6;
  const places = Math.max(1, left - GAP.length - words);
  const count = labels === undefined ? Math.min(devices.length, places) : devices.length;
  const from = Math.max(0, Math.min(device - count + 1, devices.length - count));
  return { key, labels, from, count };
}

/** `differ: fw2 ▇▇ 2 · fw5 ▇▇▇ 3`: the devices with differences, those with the most first. */
const countsText = memoized(({ drift }: DriftOutput): string => {
  const odd = drift.devices.map(({ name }, index) => {
    const { length } = drift.rows.filter(({ cells }) => cells[index]?.kind === 'differs');
    return { name, length };
  });
  const most = Math.max(...odd.map(({ length }) => length));
  const bars = odd
    .filter(({ length }) => length > 0)
    .sort((a, b) => b.length - a.length)
    .map(({ name, length }) => {
      const bar = '▇'.repeat(
        Math.max(1, Math.round((length / Math.max(most, MOST_BAR)) * MOST_BAR)),
      );
      return `${visible(name)} ${bar} ${length}`;
    });
  return bars.length === 0 ? '' : `differ: ${bars.join(' · ')}`;
});

/** The number of cells of the longest bar. */
const MOST_BAR = 8;

/** The cell under both cursors, the line that `=` would run, and the legend. */
function below(state: State): readonly LogLine[] {
  const { overlay, size } = state;
  if (overlay.kind !== 'drift') return [];
  const row = DRIFT.current(state);
  const { resource } = overlay.output;
  // The title counts the devices that were not read.
  const words = [SIGNS.only, SIGNS.differs, SIGNS.missing].map(
    ({ sign, word }) => `${sign} ${word}`,
  );
  const names = devicesOf(overlay);
  const { labels } = placesIn(overlay.output, overlay.device, size.columns - GUTTER);
  const isNumbered = labels !== undefined && labels.every((text, at) => text === String(at + 1));
  const numbers = isNumbered ? names.map((name, at) => `${at + 1} ${visible(name)}`) : [];
  const legend: LogLine = { tone: 'quiet', text: [...words, ...numbers].join('  ') };
  if (row === undefined) return fittedLines([legend], size);
  const counts: LogLine = { tone: 'warning', text: countsText(overlay.output) };
  const alike = alikeFor(overlay, state);
  const lines: readonly LogLine[] = [
    { tone: 'plain', text: `${keyText(row, resource)} on ${cellText(row, overlay)}` },
    { tone: 'quiet', text: alike.line === undefined ? alike.reason : `= ${alike.summary}` },
    counts,
    legend,
  ];
  return fittedLines(
    lines.filter(({ text }) => text !== ''),
    size,
  );
}

/** `fw7: ≠ lang en` */
function cellText(row: DriftRow, overlay: DriftOverlay): string {
  const names = devicesOf(overlay);
  const at = Math.min(overlay.device, names.length - 1);
  const name = names[at] ?? '';
  const { sign, word } = signOf(row, at);
  const values = row.fields.flatMap(({ field, values: all }) => {
    const own = all.find(({ devices }) => devices.includes(name));
    return own === undefined ? [] : [`${visible(field)} ${quotedText(field, own.value)}`];
  });
  return `${visible(name)}: ${sign} ${[word, ...values].join(' · ')}`;
}

function alikeFor(overlay: DriftOverlay, state: State): Alike {
  const row = DRIFT.current(state);
  return row === undefined ? { reason: 'nothing differs' } : makeAlike(overlay.output, row);
}

/** `3 devices`; `the 10 devices read (2 not read)`. */
function devicesText({ devices, unread }: Drift): string {
  if (unread.length === 0) return `${devices.length} devices`;
  return `the ${devices.length} devices read (${unread.length} not read)`;
}

/** The line that gives the odd records the values of most devices, or why there is none. */
type Alike =
  | {
      readonly line: string;
      /** The values that it sets, and where, in a short form for many devices. */
      readonly summary: string;
      readonly reason?: undefined;
    }
  | { readonly line?: undefined; readonly reason: string };

/** `user set bob lang=de --on fw7`, if more than half agree, even if all unread devices had another value. */
export function makeAlike({ drift, resource }: DriftOutput, row: DriftRow): Alike {
  if (row.isSame) return { reason: 'it is the same on all devices that were read' };
  if (row.held.some(({ length }) => length > 1))
    return { reason: 'a device has this record more than once: change it by hand' };
  if (row.key === '' && drift.keyField !== '')
    return { reason: 'the record has no name by which a command can change it' };
  if (hasUnsafe(row.key)) return { reason: 'the name of the record cannot be written in a line' };
  if (row.fields.length === 0) {
    const without = drift.devices.filter((_, index) => row.held[index]?.length === 0);
    const names = namesText(without.map(({ name }) => name));
    return { reason: `its fields are the same; "=" adds nothing on ${names}` };
  }
  const common = row.fields.flatMap((field) => commonOf(field, drift.unread.length));
  if (common.length === 0) {
    const beside = drift.unread.length === 0 ? '' : ', counting those not read';
    return { reason: `no majority: no value is on more than half of the devices${beside}` };
  }
  const settable = common.filter(isSettable);
  if (settable.length === 0) {
    const fields = common.map(({ field }) => visible(field)).join(', ');
    return { reason: `a line cannot set ${fields} to the value of the others: change it by hand` };
  }
  const odd = new Set(settable.flatMap(({ others }) => others));
  const on = drift.devices.map(({ name }) => name).filter((name) => odd.has(name));
  const values = settable.map(({ field, value }) => quoteAssignment(field, valueText(value)));
  const words = [...(row.key === '' ? [] : [quoteWord(row.key)]), ...values];
  return {
    line: lineOf(`${resourceWords(resource)} set`, words, [`--on ${quoteWord(on.join(','))}`]),
    summary: `set ${visible(words.join(' '))} on ${namesText(on)}`,
  };
}

/** The value of most devices, and the devices that have another one. */
function commonOf({ field, values }: FieldDrift, unread: number) {
  const most = majorityOf(values, unread);
  if (most === undefined) return [];
  const others = values.filter((one) => one !== most).flatMap(({ devices }) => devices);
  return [{ field, value: most.value, others }];
}

/** Whether `field=value` sets exactly this value. */
function isSettable({ field, value }: ReturnType<typeof commonOf>[number]): boolean {
  if (value === undefined || value === null || isNested(value)) return false;
  const text = valueText(value);
  // A secret is not shown, control characters cannot be typed, and a longer text could not be checked before Enter.
  return (
    isAssignable(field) && !hasUnsafe(field) && fieldText(field, value, MOST_ON_SCREEN) === text
  );
}
