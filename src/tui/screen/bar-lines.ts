import { failureWord } from '../../change/plan.ts';
import { questionsText } from '../../shell/access/open-questions.ts';
import { counted } from '../../text/one-line.ts';
import { cut, visible, widthOf } from '../../text/visible.ts';
import { contextOf, type FooterHint, footerHints, keyNameOf } from '../keys/keymap.ts';
import type { DeviceTab, FleetView, Keymap, State } from '../state.ts';
import { marksText, tableParts, type TitlePart } from '../table/view.ts';
import { findSummary } from '../views/reduce-view.ts';
import { breadcrumbText } from '../views/navigation.ts';
import { shownView, viewLines } from '../views/views.ts';
import { layoutOf, questionWindow } from './layout.ts';
import { memoized } from '../store.ts';
import type { Span } from './theme.ts';

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
  // The badge of open questions always stays, shortened if there is no room for more.
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

/** `83 certificates, 2 logins: F2`, `85 questions: F2`: the open questions, and the key that opens them. */
function badgeTexts(questions: FleetView['questions'], keymap: Keymap): string[] {
  if (questions.length === 0) return [];
  const key = keyNameOf('questions', 'table', keymap)?.replace(/^f(?=\d)/, 'F');
  const texts = [questionsText(questions), counted(questions.length, 'question')];
  return texts.map((text) => `${text}: ${key ?? '"questions"'}`);
}

/** The device tabs; creates and measures only those that are needed. */
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

  /** The cells of all tabs with a gap before each; stops above `most`. */
  width(gap: number, most: number): number {
    let width = 0;
    for (let index = 0; index < this.#fleet.devices.length && width <= most; index += 1) {
      width += gap + widthOf(this.at(index)?.text ?? '');
    }
    return width;
  }

  /** Index of the first selected device. */
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

/** All tabs, or those around the current one and the number of the others. */
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
 * All facts if they leave room for the devices; otherwise the account goes first, and what matters before
 * a write stays. If the devices do not fit anyway, nothing is dropped.
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

/** ` users · 3 devices · 41 records, 12 the same on all · filter: lang=de        [2 marked]` */
export function titleLine(state: State): { left: string; right: string } {
  const { table, fleet, size, overlay } = state;
  const isTable = overlay.kind === 'none';
  const isFirst = fleet.devices.length === 0 && table.reads.size === 0;
  if (isTable && isFirst && state.backStack.length === 0) return { left: '', right: '' };
  const facts = isTable ? tableParts(state) : overlayParts(state);
  const kept = facts.filter(({ text }) => text !== '');
  const right = isTable ? marksText(state) : '';
  const room = size.columns - widthOf(right) - 2;
  // The breadcrumbs always stay, at least the last step.
  const needed = kept
    .filter(({ rank }) => rank === 1)
    .reduce((sum, part) => sum + widthOf(part.text) + 4, 0);
  const [least, most] = [Math.floor(room * 0.35), Math.floor(room * 0.6)];
  const place = breadcrumbText(
    state,
    kept.length === 0 ? room : Math.max(least, Math.min(most, room - needed)),
  );
  const text = (): string =>
    kept.reduce((line, { text: part, glue }) => line + (glue ?? ' · ') + part, ` ${place}`);
  while (kept.length > 0 && widthOf(text()) > room) {
    const last = Math.max(...kept.map(({ rank }) => rank));
    // The most important part is cut instead of dropped.
    if (last === 1) break;
    kept.splice(
      kept.findIndex(({ rank }) => rank === last),
      1,
    );
  }
  return { left: cut(text(), room), right };
}

/** The facts of a view over the table, and its visible lines. */
function overlayParts(state: State): readonly TitlePart[] {
  const shown = shownView(state);
  if (shown === undefined) return [];
  const found: TitlePart = { text: visible(findSummary(state)), rank: 1 };
  const facts = shown.view.title?.(shown.over, state, found);
  return facts ?? [found, { text: linesText(state), rank: 2 }];
}

/** `lines 21-40 of 120`; empty if all are visible. */
function linesText(state: State): string {
  const height = layoutOf(state).body;
  const { length } = viewLines(state);
  if (length <= height || !('top' in state.overlay)) return '';
  const top = Math.max(0, Math.min(state.overlay.top, length - height));
  return `lines ${top + 1}-${Math.min(length, top + height)} of ${length}`;
}

export const SEPARATOR = ' · ';

/** Hints that stay on a narrow screen: help, and the exit keys. */
const ALWAYS_SHOWN: readonly string[] = [
  'help',
  'quit',
  'end-of-input',
  'close',
  'close-form',
  'close-choices',
  'menu-close',
  'search-cancel',
  'clear-filter',
  'clear-find',
  'decline',
];

/** The hints that fit into the footer, the most important first; help and exit keys always stay. */
export function shownHints(state: State, columns: number): readonly FooterHint[] {
  const isTyped = contextOf(state) === 'prompt';
  const shown = footerHints(state).filter(
    ({ action }) =>
      action === undefined ||
      (!isIdleScroll(action, state) && !(isTyped && action === 'end-of-input')),
  );
  while (widthOfAll(shown) > columns) {
    shown.splice(
      shown.findLastIndex(
        ({ action }) => !ALWAYS_SHOWN.includes(action ?? '') && !(isTyped && action === 'go-table'),
      ),
      1,
    );
  }
  return shown;
}

function widthOfAll(hints: readonly FooterHint[]): number {
  const used = hints.reduce((sum, { text }) => sum + SEPARATOR.length + widthOf(text), 0);
  return Math.max(0, used - SEPARATOR.length);
}

/** Scroll keys have no hint if everything is visible. */
function isIdleScroll(action: string, state: State): boolean {
  return (action === 'down' || action === 'page-down') && !canScroll(state);
}

/** Whether a question, or the text over the table, has hidden lines; lists have a cursor to move. */
function canScroll(state: State): boolean {
  const [question] = state.questions;
  if (question !== undefined) return questionWindow(state, question).depth > 0;
  return !('top' in state.overlay) || viewLines(state).length > layoutOf(state).body;
}
