import { lineText } from '../editor/line.ts';
import { visible } from '../../visible.ts';
import { cut, widthOf } from '../../output/width.ts';
import { hideSecrets } from '../../shell/access/hide-secrets.ts';
import { driftSummary } from '../../fleet/drift.ts';
import { sharedText } from '../../fleet/fold.ts';
import { layoutOf } from './layout.ts';
import { overlayLines } from '../views/overlay-lines.ts';
import { rollOutTitle } from '../views/roll-out-lines.ts';
import type { DeviceTab, FleetView, State } from '../state.ts';
import { countMarks } from '../table/reduce-marks.ts';
import { changesText } from '../table/changes.ts';
import { columnLayout } from '../table/columns.ts';
import { shownDevices, tableRows } from '../table/rows.ts';
import type { Tone } from './theme.ts';
import { crumbText } from '../views/crumbs.ts';
import { deviceSummary } from '../views/device-list.ts';
import { findSummary } from '../views/find.ts';

/** A piece of a line in one tone. */
export interface Span {
  readonly tone: Tone;
  readonly text: string;
}

const SIGNS = { ready: '●', connecting: '◌', new: '○', failed: '✗' } as const;
const TONES = { ready: 'good', connecting: 'warning', new: 'quiet', failed: 'bad' } as const;
const WORDS = { ready: '', connecting: 'connecting', new: 'not connected' } as const;

/** ` devsh   ● fw1   ✗ fw3 unreachable          as admin · pinned · read-write` */
export function deviceBar({ fleet, size }: State): Span[] {
  const { columns } = size;
  const head: Span = { tone: 'heading', text: ' devsh' };
  const tabs = fleet.devices.map((device) => tabOf(device, fleet));
  const whole = tabs.reduce((sum, tab) => sum + 3 + widthOf(tab.text), widthOf(head.text));
  const rights = fittingRights(fleet, columns, whole);
  const rightWidth = rights.reduce((sum, { text }) => sum + widthOf(text), 0);
  const left = [head, ...fittingTabs(tabs, fleet, columns - widthOf(head.text) - rightWidth - 2)];
  const used = left.reduce((sum, { text }) => sum + widthOf(text), 0);
  const gap = columns - used - rightWidth - 1;
  return rightWidth === 0 || gap < 1
    ? left
    : [...left, { tone: 'plain', text: ' '.repeat(gap) }, ...rights];
}

function tabOf(device: DeviceTab, { selected, isNarrowed }: FleetView): Span {
  const { name, kind, error } = device;
  const word = kind === 'failed' ? (error?.code ?? 'failed') : WORDS[kind];
  const text = `${SIGNS[kind]} ${visible(name)}${word === '' ? '' : ` ${word}`}`;
  const isCurrent = isNarrowed && selected.includes(name);
  return { tone: TONES[kind], text: isCurrent ? `[${text}]` : text };
}

/** All tabs, or those around the current one and how many more there are. */
function fittingTabs(tabs: readonly Span[], fleet: FleetView, width: number): Span[] {
  const gap: Span = { tone: 'plain', text: width > 50 ? '   ' : '  ' };
  const cells = (span: Span): number => gap.text.length + widthOf(span.text);
  if (tabs.reduce((sum, tab) => sum + cells(tab), 0) <= width) {
    return tabs.flatMap((tab) => [gap, tab]);
  }
  const someFailed = fleet.devices.some(({ kind }) => kind === 'failed');
  const room = width - gap.text.length - `… +${tabs.length}`.length - (someFailed ? 4 : 0);
  const current = fleet.isNarrowed
    ? fleet.devices.findIndex(({ name }) => fleet.selected.includes(name))
    : 0;
  let first = Math.max(0, current);
  let end = first;
  let used = 0;
  const fits = (tab: Span | undefined): tab is Span =>
    tab !== undefined && used + cells(tab) <= room;
  for (let tab = tabs[end]; fits(tab); tab = tabs[end]) {
    used += cells(tab);
    end += 1;
  }
  for (let tab = tabs[first - 1]; fits(tab); tab = tabs[first - 1]) {
    used += cells(tab);
    first -= 1;
  }
  const hidden = [...fleet.devices.slice(0, first), ...fleet.devices.slice(end)];
  const failed = hidden.filter(({ kind }) => kind === 'failed').length;
  const more = `… +${hidden.length}${failed > 0 ? ` ✗${failed}` : ''}`;
  return [
    ...tabs.slice(first, end).flatMap((tab) => [gap, tab]),
    gap,
    { tone: failed > 0 ? 'bad' : 'plain', text: more },
  ];
}

/**
 * All of it where that leaves room for the devices; otherwise the account goes first, and what must be
 * known before writing stays. Where the devices have no room anyway, nothing is gained by dropping.
 */
function fittingRights({ rights }: FleetView, columns: number, tabsWidth: number): Span[] {
  const variants = rights.map((_, from) =>
    rights
      .filter(({ isAlarming }, index) => index >= from || isAlarming)
      .flatMap(({ text, isAlarming }, index): Span[] => [
        ...(index > 0 ? [{ tone: 'quiet' as const, text: ' · ' }] : []),
        { tone: isAlarming ? 'bad' : 'quiet', text },
      ]),
  );
  const widthOfAll = (spans: readonly Span[]): number =>
    spans.reduce((sum, { text }) => sum + widthOf(text), 0);
  return (
    variants.find((spans) => widthOfAll(spans) + tabsWidth + 3 <= columns) ??
    variants.find((spans) => widthOfAll(spans) <= columns / 3) ??
    variants.at(-1) ??
    []
  );
}

interface TitlePart {
  readonly text: string;
  /** What goes first when there is no room: the largest. */
  readonly rank: number;
  readonly glue?: string;
}

/** ` users · 3 devices · 41 records, 12 the same on all · filter: lang=de        [2 marked]` */
export function titleLine(state: State): { left: string; right: string } {
  const { table, fleet, size, overlay } = state;
  const isTable = overlay.kind === 'none';
  const isFirst = fleet.devices.length === 0 && table.reads.size === 0;
  if (isTable && isFirst && state.trail.length === 0) return { left: '', right: '' };
  const facts = isTable ? tableParts(state) : overlayParts(state);
  const kept = facts.filter(({ text }) => text !== '');
  const right = isTable ? marksText(state) : '';
  const room = size.columns - widthOf(right) - 2;
  // Where one is stays in sight, even when only its last step does.
  const needed = kept
    .filter(({ rank }) => rank === 1)
    .reduce((sum, part) => sum + widthOf(part.text) + 4, 0);
  const [least, most] = [Math.floor(room * 0.35), Math.floor(room * 0.6)];
  const place = crumbText(
    state,
    kept.length === 0 ? room : Math.max(least, Math.min(most, room - needed)),
  );
  const text = (): string =>
    kept.reduce((line, { text: part, glue }) => line + (glue ?? ' · ') + part, ` ${place}`);
  while (kept.length > 0 && widthOf(text()) > room) {
    const last = Math.max(...kept.map(({ rank }) => rank));
    // What matters most is cut rather than left out.
    if (last === 1) break;
    kept.splice(
      kept.findIndex(({ rank }) => rank === last),
      1,
    );
  }
  return { left: cut(text(), room), right };
}

function tableParts(state: State): TitlePart[] {
  const { table } = state;
  const data = tableRows(state);
  const devices = shownDevices(state);
  const shown = devices.length === data.deviceCount ? '' : `${data.deviceCount} of `;
  const filters = [table.commandFilter, lineText(table.filter.editing.line)].filter(
    (text) => text.trim() !== '',
  );
  // More of a pasted one is in no line.
  const filter = visible(hideSecrets(filters.join(' + ').slice(0, 4 * state.size.columns)));
  const shared = data.recordCount === 0 ? undefined : data.sharedCount;
  return [
    { text: `${shown}${count(devices.length, 'device')}${shown === '' ? '' : ' read'}`, rank: 4 },
    { text: count(data.recordCount, 'record'), rank: 3 },
    {
      text:
        shared === undefined ? '' : `${shared} ${sharedText(data.deviceCount, data.unreadCount)}`,
      rank: 4.5,
      glue: ', ',
    },
    {
      text: filter === '' ? '' : `filter: ${filter} (${foundText(state)})`,
      rank: 1,
    },
    { text: table.filter.problem === undefined ? '' : visible(table.filter.problem), rank: 5 },
    { text: changesText(table.changes), rank: 5.2 },
    { text: hiddenColumnsText(state), rank: 3.5 },
    { text: data.hidden, rank: 5.5 },
    { text: watchText(state), rank: 5.3 },
    { text: state.reading ?? '', rank: 6 },
    { text: table.isFolded || devices.length < 2 ? '' : 'not folded', rank: 7 },
  ];
}

/** What there is to say of a view over the table, and which part of it is in sight. */
function overlayParts(state: State): TitlePart[] {
  const { overlay } = state;
  switch (overlay.kind) {
    case 'none':
      return [];
    case 'runs':
      return [{ text: count(overlay.runs.length, 'run'), rank: 2 }];
    case 'devices':
      return [
        { text: deviceSummary(state), rank: 1 },
        { text: watchText(state), rank: 2 },
      ];
    case 'resources':
      return [{ text: count(overlay.resources.length, 'resource'), rank: 2 }];
    case 'drift': {
      const { drift, resource } = overlay.output;
      return [{ text: visible(driftSummary(drift, resource)), rank: 1 }];
    }
    case 'roll-out':
      return [{ text: rollOutTitle(overlay.rollOut), rank: 1 }];
    case 'pager':
    case 'help':
    case 'details': {
      const height = layoutOf(state).body;
      const { length } = overlayLines(state);
      const top = Math.max(0, Math.min(overlay.top, length - height));
      const end = Math.min(length, top + height);
      const where = length > height ? `lines ${top + 1}-${end} of ${length}` : '';
      return [
        { text: visible(findSummary(state)), rank: 1 },
        { text: where, rank: 2 },
      ];
    }
  }
}

/** `12 of 340 rows`; while many rows are still being looked through, `340 rows, looking …`. */
function foundText(state: State): string {
  const { filter } = state.table;
  const { rows, all, isSimilar } = tableRows(state);
  const noun = isSimilar ? 'similar row' : 'row';
  if (lineText(filter.editing.line).trim() === '') return count(all.length, 'row');
  if (filter.applied !== filter.parsed) return `looking in ${count(all.length, 'row')} …`;
  return `${rows.length} of ${count(all.length, noun)}`;
}

/** `every 5 s`; a question that is open holds it up. */
function watchText({ table, questions }: State): string {
  if (table.watchMs === undefined) return '';
  return questions.length > 0 ? 'watching paused' : `every ${table.watchMs / 1000} s`;
}

/** How far the columns are scrolled, and how many have no room. */
function hiddenColumnsText(state: State): string {
  const { columns } = state.size;
  const { shift } = state.table;
  if (tableRows(state).all.length === 0) return '';
  const { hidden } = columnLayout(state, columns);
  const before = shift === 0 ? '' : `← ${count(shift, 'column')}`;
  const after = hidden === 0 ? '' : `${hidden} more →`;
  return [before, after].filter((text) => text !== '').join(' ');
}

/** What is marked, filtered out or not; a folded row means its record on each of its devices. */
function marksText(state: State): string {
  const { rows, records, devices } = countMarks(state);
  if (rows === 0) return '';
  const head = state.table.range === undefined ? `${rows} marked` : `range: ${rows} marked`;
  const isFew = records === rows || state.size.columns < 60;
  const all = isFew ? '' : ` = ${records} records on ${count(devices, 'device')}`;
  return `[${head}${all}] `;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
