import { reasonText } from '../../output/error-text.ts';
import { visible } from '../../visible.ts';
import { problemLines } from '../prompt/problem-lines.ts';
import type { LogLine, OpenQuestion, State } from '../state.ts';
import { shownDevices, tableRows } from '../table/rows.ts';
import { wrapText } from './wrap.ts';

/** Below this nothing useful can be shown. */
export const SMALLEST = { columns: 40, rows: 10 };

/** How many rows each part of the screen gets, from the top. Bar, title, input and footer have one. */
export interface Layout {
  /** The table with its header, or what lies over it. */
  readonly body: number;
  /** Failures, messages and progress; wrapped, the newest last. */
  readonly messages: readonly LogLine[];
  /** The rule above a question, what is asked, and how much of it is out of sight. */
  readonly question: readonly LogLine[];
  /** Proposals or the problem of the line, under the prompt. */
  readonly under: number;
  /** Row of the line that is typed in, from 0. */
  readonly inputRow: number;
}

export function isTooSmall({ size }: State): boolean {
  return size.columns < SMALLEST.columns || size.rows < SMALLEST.rows;
}

const FIXED = 4;

export function layoutOf(state: State): Layout {
  const { columns, rows } = state.size;
  const room = Math.max(1, rows - FIXED);
  const [question] = state.questions;
  if (question !== undefined) {
    const lines = questionLines(question, state.size);
    return {
      body: room - lines.length,
      messages: [],
      question: lines,
      under: 0,
      inputRow: 2 + room,
    };
  }
  const { menu, problem } = state.prompt;
  const most = Math.max(2, Math.floor(rows / 4));
  const under =
    state.focus !== 'prompt'
      ? 0
      : menu !== undefined
        ? Math.min(menu.completion.proposals.length, most)
        : problem !== undefined
          ? Math.min(problemLines(problem, columns).length + 1, room - 1)
          : 0;
  const messages = messageLines(state, room - under);
  return {
    body: room - under - messages.length,
    messages,
    question: [],
    under,
    inputRow: 2 + room - under,
  };
}

/** Rows of records that are on the screen. */
export function tableHeight(state: State): number {
  return Math.max(1, layoutOf(state).body - 1);
}

/** Devices that failed stand as long as they fail; below them what the last line said. */
function messageLines(state: State, room: number): LogLine[] {
  const { columns } = state.size;
  const { kind } = state.overlay;
  // A roll-out tells what comes in itself.
  if (kind === 'roll-out') return [];
  const wrapped = (lines: readonly LogLine[]): LogLine[] => wrapLines(lines, columns - 2);
  // Rows that the table leaves empty are free.
  const isTable = state.form === undefined && kind === 'none';
  const free = isTable ? room - 1 - tableRows(state).rows.length : 0;
  const most = !isTable
    ? Math.max(1, Math.floor(room / 4))
    : Math.max(2, Math.floor(room / 3), free);
  const said = wrapped([...state.log.current, ...progressLine(state)]);
  const failed = kind === 'none' ? failureLines(state) : [];
  const failures = wrapped(failed);
  const forSaid = Math.min(said.length, Math.max(most - failures.length, Math.ceil(most / 2)));
  const forFailures = Math.min(failures.length, most - forSaid);
  const shown = failures.slice(0, forFailures);
  if (forFailures < failures.length && forFailures > 0) {
    const text = `… ${failed.length} devices failed; "devices" lists them, m in the table has the reasons`;
    const [line = text] = wrapText(text, columns - 2);
    if (failed.length > 1) shown[forFailures - 1] = { tone: 'bad', text: line };
  }
  return [...shown, ...said.slice(said.length - forSaid)];
}

/** Why a device that is shown has no records in the table; one line for each. */
export function failureLines(state: State): LogLine[] {
  const shown = shownDevices(state);
  return shown.flatMap((name): LogLine[] => {
    const tab = state.fleet.devices.find((device) => device.name === name);
    const read = state.table.reads.get(name);
    const error = tab?.error ?? (read?.outcome.ok === false ? read.outcome.error : undefined);
    if (error === undefined || tab?.kind === 'connecting') return [];
    const device = { name, address: tab?.address ?? '' };
    return [{ tone: 'bad', text: `✗ ${visible(name)}: ${reasonText(error, device)}` }];
  });
}

function progressLine({ work }: State): LogLine[] {
  if (work === undefined) return [];
  const waiting = work.waiting > 0 ? ` · ${work.waiting} more waiting` : '';
  const how = work.isStopping
    ? 'stopping: the request in flight is finished first; Ctrl-C again leaves it'
    : 'Ctrl-C cancels';
  return [{ tone: 'quiet', text: `… ${work.progress ?? 'working'}${waiting} · ${how}` }];
}

/** The lines above a question, wrapped; how many of them fit, and what is asked below them. */
function questionParts(question: OpenQuestion, { columns, rows }: State['size']) {
  const most = rows > 14 ? rows - FIXED - 4 : Math.max(1, rows - FIXED);
  const title = question.kind === 'secret' ? ' login ' : ' question ';
  const rule = `──${title}${'─'.repeat(Math.max(0, columns - title.length - 2))}`;
  // On a small screen every line is needed for what is asked.
  const head: LogLine[] = most > 8 ? [{ tone: 'warning', text: rule }] : [];
  const asked = wrapText(question.complaint ?? question.text, columns - 2);
  const shown = (question.isUnfolded ? question.unfolded : undefined) ?? question.lines;
  const details = wrapLines(shown, columns - 2);
  const room = Math.max(1, most - head.length - asked.length);
  const height = details.length <= room ? details.length : Math.max(1, room - 1);
  return { most, head, asked, details, height };
}

function questionLines(question: OpenQuestion, size: State['size']): LogLine[] {
  const { most, head, asked, details, height } = questionParts(question, size);
  const top = Math.min(question.top, details.length - height);
  const text = `… lines ${top + 1}-${top + height} of ${details.length} · ↑ ↓ scroll`;
  const more: LogLine[] = height < details.length ? [{ tone: 'quiet', text }] : [];
  const below = asked.map((line): LogLine => ({ tone: 'heading', text: line }));
  return [...head, ...details.slice(top, top + height), ...more, ...below].slice(-most);
}

/** How many lines of the plan above a question are in sight, and how far they can be scrolled. */
export function questionWindow({ size }: Pick<State, 'size'>, question: OpenQuestion) {
  const { details, height } = questionParts(question, size);
  return { height, depth: details.length - height };
}

function wrapLines(lines: readonly LogLine[], width: number): LogLine[] {
  return lines.flatMap(({ tone, text }) =>
    wrapText(text, width, '  ').map((part) => ({ tone, text: part })),
  );
}
