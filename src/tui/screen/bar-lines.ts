import { lineText } from '../editor/line.ts';
import { visible } from '../../text/visible.ts';
import { failureWord } from '../../change/not-covered.ts';
import { cut, widthOf } from '../../text/width.ts';
import { hideSecrets } from '../../shell/access/hide-secrets.ts';
import { driftSummary } from '../../fleet/drift.ts';
import { sharedText } from '../../fleet/fold.ts';
import { layoutOf } from './layout.ts';
import { overlayLines } from '../views/overlay-lines.ts';
import { rollOutTitle } from '../views/roll-out-lines.ts';
import type { DeviceTab, FleetView, Keymap, State } from '../state.ts';
import { countMarks } from '../table/reduce-marks.ts';
import { changesText } from '../table/source.ts';
import { columnLayout } from '../table/columns.ts';
import { staleText } from '../table/age.ts';
import { shownDevices, tableRows } from '../table/rows.ts';
import { memoized } from './memoized.ts';
import { questionsText } from '../../shell/access/open-questions.ts';
import { keyNameOf } from '../keys/keymap.ts';
import type { Tone } from './theme.ts';
import { crumbText } from '../views/crumbs.ts';
import { deviceSummary } from '../views/device-list.ts';
import { findSummary } from '../views/find.ts';
import { markedOf } from '../views/questions-list.ts';
import { counted } from '../../text/one-line.ts';

/** A piece of a line in one tone. */
export interface Span {
  readonly tone: Tone;
  readonly text: string;
}

const SIGNS = { ready: '●', connecting: '◌', new: '○', failed: '✗' } as const;
const TONES = { ready: 'good', connecting: 'warning', new: 'quiet', failed: 'bad' } as const;
const WORDS = { ready: '', connecting: 'connecting', new: 'not connected' } as const;

/** ` devsh   ● fw1   ✗ fw3 unreachable          as admin · pinned · read-write` */
export function deviceBar({ fleet, size, keymap }: State): Span[] {
  return barOf(fleet, size.columns, keymap);
}

const barOf = memoized((fleet: FleetView, columns: number, keymap: Keymap): Span[] => {
  const { questions, rights } = fleet;
  const badges = badgeTexts(questions, keymap).map((text) => ({ text, isAlarming: true }));
  // What waits for an answer stays in sight, in fewer words where there is no room for more.
  const kept = badges.map((badge) => [badge, ...rights]);
  const choices = badges.length === 0 ? [rights] : [...kept, badges.slice(-1)];
  const bars = choices.map((shown) => barWith(fleet, shown, columns));
  return (bars.find(({ fits }) => fits) ?? bars.at(-1))?.spans ?? [];
});

function barWith(fleet: FleetView, shown: FleetView['rights'], columns: number) {
  const head: Span = { tone: 'heading', text: ' devsh' };
  const tabs = new Tabs(fleet);
  const whole = widthOf(head.text) + tabs.width(3, columns);
  const rights = fittingRights(shown, columns, whole);
  const rightWidth = rights.reduce((sum, { text }) => sum + widthOf(text), 0);
  const left = [head, ...fittingTabs(tabs, fleet, columns - widthOf(head.text) - rightWidth - 2)];
  const used = left.reduce((sum, { text }) => sum + widthOf(text), 0);
  const gap = columns - used - rightWidth - 1;
  const fits = gap >= 1;
  if (rightWidth === 0 || !fits) return { fits, spans: left };
  const space: Span = { tone: 'plain', text: ' '.repeat(gap) };
  return { fits, spans: [...left, space, ...rights] };
}

/** `83 certificates, 2 logins: F2`, `85 questions: F2`: what waits, and the key that opens it. */
function badgeTexts(questions: FleetView['questions'], keymap: Keymap): string[] {
  if (questions.length === 0) return [];
  const key = keyNameOf('questions', 'table', keymap)?.replace(/^f(?=\d)/, 'F');
  const texts = [questionsText(questions), counted(questions.length, 'question')];
  return texts.map((text) => `${text}: ${key ?? '"questions"'}`);
}

/** The devices of the bar; only those that are looked at are made and measured. */
class Tabs {
  readonly #fleet: FleetView;
  readonly #selected: ReadonlySet<string>;

  constructor(fleet: FleetView) {
    this.#fleet = fleet;
    this.#selected = new Set(fleet.isNarrowed ? fleet.selected : []);
  }

  at(index: number): Span | undefined {
    const device = this.#fleet.devices[index];
    return device && tabOf(device, this.#selected.has(device.name));
  }

  /** The cells of all of them with a gap before each, or more than `most`. */
  width(gap: number, most: number): number {
    let width = 0;
    for (let index = 0; index < this.#fleet.devices.length && width <= most; index += 1) {
      width += gap + widthOf(this.at(index)?.text ?? '');
    }
    return width;
  }

  /** The place of the first one that is selected. */
  get current(): number {
    if (this.#selected.size === 0) return 0;
    return this.#fleet.devices.findIndex(({ name }) => this.#selected.has(name));
  }
}

function tabOf({ name, number, kind, error }: DeviceTab, isCurrent: boolean): Span {
  const word = kind === 'failed' ? (error ? failureWord(error) : 'failed') : WORDS[kind];
  const key = number === undefined ? '' : `${number} `;
  const text = `${key}${SIGNS[kind]} ${visible(name)}${word === '' ? '' : ` ${word}`}`;
  return { tone: TONES[kind], text: isCurrent ? `[${text}]` : text };
}

/** All tabs, or those around the current one and how many more there are. */
function fittingTabs(tabs: Tabs, { devices }: FleetView, width: number): Span[] {
  const gap: Span = { tone: 'plain', text: width > 50 ? '   ' : '  ' };
  const spans = (first: number, end: number): Span[] =>
    devices.slice(first, end).flatMap((_, index) => [gap, tabs.at(first + index) ?? gap]);
  if (tabs.width(gap.text.length, width) <= width) return spans(0, devices.length);
  const allFailed = devices.filter(({ kind }) => kind === 'failed').length;
  const room = width - gap.text.length - `… +${devices.length}`.length - (allFailed > 0 ? 4 : 0);
  let first = Math.max(0, tabs.current);
  let end = first;
  let used = 0;
  const takes = (index: number): boolean => {
    const tab = tabs.at(index);
    const cells = tab && gap.text.length + widthOf(tab.text);
    if (cells === undefined || used + cells > room) return false;
    used += cells;
    return true;
  };
  while (takes(end)) end += 1;
  while (takes(first - 1)) first -= 1;
  const shown = devices.slice(first, end);
  const failed = allFailed - shown.filter(({ kind }) => kind === 'failed').length;
  const more = `… +${devices.length - shown.length}${failed > 0 ? ` ✗${failed}` : ''}`;
  return [...spans(first, end), gap, { tone: failed > 0 ? 'bad' : 'plain', text: more }];
}

/**
 * All of it where that leaves room for the devices; otherwise the account goes first, and what must be
 * known before writing stays. Where the devices have no room anyway, nothing is gained by dropping.
 */
function fittingRights(rights: FleetView['rights'], columns: number, tabsWidth: number): Span[] {
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
  const filter = filterText(state, [table.commandFilter, lineText(table.filter.editing.line)]);
  const shared = data.recordCount === 0 ? undefined : data.sharedCount;
  return [
    { text: `${shown}${counted(devices.length, 'device')}${shown === '' ? '' : ' read'}`, rank: 4 },
    { text: staleText(data.stale), rank: 1, glue: ', ' },
    { text: counted(data.recordCount, 'record'), rank: 3 },
    {
      text:
        shared === undefined ? '' : `${shared} ${sharedText(data.deviceCount, data.unreadCount)}`,
      rank: 4.5,
      glue: ', ',
    },
    {
      text: filter === '' ? '' : `${filter} (${foundText(state)})`,
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

/** `filter: lang=de + bob`; empty without any. More of a pasted one is in no line. */
function filterText({ size }: State, filters: readonly string[]): string {
  const text = filters.filter((one) => one.trim() !== '').join(' + ');
  return text === '' ? '' : `filter: ${visible(hideSecrets(text.slice(0, 4 * size.columns)))}`;
}

/** What there is to say of a view over the table, and which part of it is in sight. */
function overlayParts(state: State): TitlePart[] {
  const { overlay } = state;
  const found: TitlePart = { text: visible(findSummary(state)), rank: 1 };
  switch (overlay.kind) {
    case 'none':
      return [];
    case 'runs':
      return [{ text: counted(overlay.runs.length, 'run'), rank: 2 }, found];
    case 'devices':
      return [
        { text: deviceSummary(state), rank: found.text === '' ? 1 : 2 },
        found,
        { text: watchText(state), rank: 3 },
      ];
    case 'resources':
      return [{ text: counted(overlay.resources.length, 'resource'), rank: 2 }, found];
    case 'questions': {
      const marked = markedOf(state, overlay).length;
      return [
        { text: counted(state.fleet.questions.length, 'question'), rank: 1 },
        found,
        { text: marked === 0 ? '' : `${marked} marked`, rank: 1 },
      ];
    }
    case 'drift': {
      const { drift, resource } = overlay.output;
      return [
        { text: visible(driftSummary(drift, resource)), rank: found.text === '' ? 1 : 2 },
        { text: filterText(state, [overlay.filter]), rank: 1.5 },
        found,
      ];
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
      return [found, { text: where, rank: 2 }];
    }
  }
}

/** `12 of 340 rows`; while many rows are still being looked through, `340 rows, looking …`. */
function foundText(state: State): string {
  const { filter } = state.table;
  const { rows, all, isSimilar } = tableRows(state);
  const noun = isSimilar ? 'similar row' : 'row';
  if (lineText(filter.editing.line).trim() === '') return counted(all.length, 'row');
  if (filter.applied !== filter.parsed) return `looking in ${counted(all.length, 'row')} …`;
  return `${rows.length} of ${counted(all.length, noun)}`;
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
  const before = shift === 0 ? '' : `← ${counted(shift, 'column')}`;
  const after = hidden === 0 ? '' : `${hidden} more →`;
  return [before, after].filter((text) => text !== '').join(' ');
}

/** What is marked, filtered out or not; a folded row means its record on each of its devices. */
function marksText(state: State): string {
  const { rows, records, devices } = countMarks(state);
  if (rows === 0) return '';
  const head = state.table.range === undefined ? `${rows} marked` : `range: ${rows} marked`;
  const isFew = records === rows || state.size.columns < 60;
  const all = isFew ? '' : ` = ${records} records on ${counted(devices, 'device')}`;
  return `[${head}${all}] `;
}
