import { type DeviceRecord, grouped } from '../../device/record.ts';
import { prepareHaystack } from '../../fleet/filter.ts';
import type { Event } from '../../history/events.ts';
import { filteredBy, intervalText } from '../../history/fold-events.ts';
import { cut, visible } from '../../text/visible.ts';
import { counted } from '../../text/one-line.ts';
import { clockTime } from '../../text/time.ts';
import { wrapText } from '../../text/wrap.ts';
import { firstOf, key, keysOf, lineKey, readOnly, type Reason } from '../keys/binding.ts';
import { plainLine, type TextLine, type Tone } from '../screen/theme.ts';
import type { LogLine, State, TimeLineEntry } from '../state.ts';
import { ENTRY_COLUMNS, entriesOf, restoreOf } from './change-entry.ts';
import { recordLines, type RecordOnDevices } from '../../output/record-text.ts';
import { fittedLines, type ListOf, listOf, type OverOf, type View } from './view.ts';

function currentEntry(state: State): TimeLineEntry | undefined {
  return state.overlay.kind === 'change' ? state.overlay.entry : TIME_LINE.current(state);
}

const noEntry: Reason = (state) =>
  state.overlay.kind === 'time-line' && currentEntry(state) === undefined
    ? 'no change here'
    : undefined;

const notRestorable: Reason = (state) => {
  const entry = currentEntry(state);
  return entry && restoreOf(entry).reason;
};

const RESTORE = lineKey(
  ['u'],
  'restore-change',
  'plan the way back: the record as it was before; asks first',
  (state) => {
    const entry = currentEntry(state);
    return entry && restoreOf(entry).line;
  },
  {
    hint: [3, 'way back'],
    command: 'user restore KEY --at TIME --on DEVICES',
    disabled: firstOf(noEntry, readOnly, notRestorable),
  },
);

/** The changes on the devices, the newest first. The same change on several devices is one entry. */
export const TIME_LINE: ListOf<OverOf<'time-line'>, TimeLineEntry> = listOf({
  kind: 'time-line',
  keys: keysOf('time-line', 'In the time line', [
    key(['enter'], 'details', 'before and after, field by field', {
      hint: [1, 'before and after'],
    }),
    RESTORE,
    lineKey(
      ['r'],
      'changes-again',
      'look again',
      ({ overlay }) => (overlay.kind === 'time-line' ? overlay.command : undefined),
      { hint: [5, 'again'], command: 'changes' },
    ),
  ]),
  breadcrumb: () => 'changes',
  id: ({ command }) => command,
  title: ({ entries }, _state, found) => [{ text: countText(entries), rank: 2 }, found],
  opening: (output, { command }, line) =>
    output.kind === 'table' && output.changes !== undefined && command.name === 'changes'
      ? { kind: 'time-line', command: line, entries: entriesOf(output), cursor: 0 }
      : undefined,
  nothing: 'no changes',
  details(_overlay, state) {
    const entry = currentEntry(state);
    return entry && { kind: 'change', entry, top: 0 };
  },
  items: ({ entries }) => entries,
  idOf: ({ id }) => id,
  columns: () => COLUMNS,
  // The same texts as for the filter of `changes`, and the columns of the list.
  haystacksOf: ({ change, by }) => [
    prepareHaystack({ ...filteredBy(change.events[0]), by, on: change.devices }, ''),
  ],
  toneOf: ({ change }) => TONES[change.events[0].kind],
  below,
  empty: () => 'no changes',
});

/** The columns of an entry. It shows only its hour, because the heading has the day. */
const COLUMNS: typeof ENTRY_COLUMNS = [
  {
    title: 'WHEN',
    text: hourText,
    value: ({ change }) => new Date(change.before).toISOString(),
    most: 13,
    rank: 1,
    tone: () => 'quiet',
  },
  ...ENTRY_COLUMNS.slice(1),
];

/** `09:41`, `09:12–09:41` for an interval, or `…–09:41` if it begins on another day. */
function hourText({ change: { after, before } }: TimeLineEntry): string {
  const end = new Date(before);
  const begin = new Date(after ?? 0);
  if (before - begin.getTime() <= MINUTE_MS) return clockTime(end, end);
  const isSameDay = begin.toDateString() === end.toDateString();
  return `${isSameDay ? clockTime(begin, begin) : '…'}–${clockTime(end, end)}`;
}

const MINUTE_MS = 60_000;

/** `33 changes in 10 rows` */
function countText(entries: readonly TimeLineEntry[]): string {
  const count = entries.reduce((sum, { change }) => sum + change.events.length, 0);
  const rows = count === entries.length ? '' : ` in ${counted(entries.length, 'row')}`;
  return counted(count, 'change') + rows;
}

const TONES: Readonly<Record<Event['kind'], Tone>> = {
  added: 'good',
  listed: 'plain',
  gone: 'bad',
  unlisted: 'warning',
  changed: 'plain',
  shape: 'warning',
  identity: 'warning',
  left: 'quiet',
};

/** The devices of the current entry, the author, and the line that `u` would run. */
function below(state: State): readonly LogLine[] {
  const entry = currentEntry(state);
  if (entry === undefined) return [];
  const { change, by } = entry;
  const when = intervalText(change, new Date());
  const { line, reason } = restoreOf(entry);
  const names = change.devices.map(visible).join(', ');
  const lines: readonly LogLine[] = [
    { tone: 'plain', text: [when, names, by].filter((text) => text !== '').join(' · ') },
    { tone: 'quiet', text: `u ${line === undefined ? `· ${reason}` : visible(line)}` },
  ];
  return fittedLines(lines, state.size);
}

export const CHANGE: View<OverOf<'change'>> = {
  keys: keysOf('change', 'While a change is shown', [RESTORE]),
  breadcrumb: ({ entry: { what } }) => cut(what, 40),
  id: ({ entry }) => entry.id,
  lines: ({ entry }, { size }) => changeLines(entry, size.columns - 2),
};

/** The devices, the two readings and the author of a change, and below them the record before and after. */
export function changeLines({ change, what, by }: TimeLineEntry, width: number): TextLine[] {
  const [event] = change.events;
  const now = new Date();
  const intervals = grouped(change.events, (one) => intervalText(one, now));
  const where = [...intervals].map(
    ([when, events]) => `${when} on ${events.map(({ device }) => visible(device)).join(', ')}`,
  );
  const isOne = change.devices.length === 1 || event.kind === 'changed';
  const notes = [
    ...(isOne ? [] : [`the values are those of ${visible(event.device)}`]),
    ...(hasSecret(event) ? ['devsh keeps no secrets, and knows only that one changed'] : []),
  ];
  const linesOf = (text: string, tone?: Tone): TextLine[] =>
    wrapText(text, width).map((line) => plainLine(line, tone));
  const fields = recordLines({ ...NO_NOTES, ...recordIn(event) }, width);
  return [
    ...linesOf(what, 'heading'),
    ...[...where, by].filter((text) => text !== '').flatMap((text) => linesOf(text)),
    ...(fields.length === 0 ? [] : [[], ...fields]),
    ...(fields.length === 0 ? [] : notes.flatMap((text) => [[], ...linesOf(text)])),
  ];
}

function hasSecret(event: Event): boolean {
  if (event.kind === 'changed') return event.fields.some(({ isSecret }) => isSecret);
  return 'record' in event && event.record.digests !== undefined;
}

const NO_NOTES = {
  where: '',
  notes: [],
  keyField: '',
  perDevice: new Set<string>(),
  isRead: () => true,
  unknown: 0,
};

/** The record before and after, as far as known. Of a changed record, only the changed fields. */
function recordIn(event: Event): Pick<RecordOnDevices, 'holders' | 'differing'> {
  if (event.kind === 'changed') {
    const values = (side: 'before' | 'after'): DeviceRecord =>
      Object.fromEntries(
        event.fields.flatMap((one) => (one[side] === undefined ? [] : [[one.field, one[side]]])),
      );
    const holders = (['before', 'after'] as const).map((name) => ({ name, record: values(name) }));
    return { holders, differing: new Set(event.fields.map(({ field }) => field)) };
  }
  const isKnown = 'record' in event && event.after !== undefined;
  return {
    holders: isKnown ? [{ name: '', record: event.record.fields }] : [],
    differing: new Set(),
  };
}
