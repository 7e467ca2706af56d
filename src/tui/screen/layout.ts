import { someOf } from '../../text/one-line.ts';
import { rememberedFor } from '../../text/remember.ts';
import { causeLines, type Failure } from '../../output/streams.ts';
import { problemLines } from '../prompt/input-line.ts';
import type { LogLine, OpenQuestion, State } from '../state.ts';
import { shownDevices, tableRows } from '../table/rows.ts';
import { cut, isWithin, shortReason } from '../../text/visible.ts';
import { memoized } from '../store.ts';
import { LABEL_TONES, plainLine, type TextLine, textOfLine, type Tone } from './theme.ts';
import { INTERRUPTED, isUnderWay } from '../views/roll-out.ts';
import { shownView } from '../views/views.ts';
import { wrapText } from '../../text/wrap.ts';

/** Below this size nothing useful fits. */
export const SMALLEST = { columns: 40, rows: 10 };

/** Rows of each part of the screen, from the top. Bar, title, input and footer have one row each. */
interface Layout {
  /** The table with its header and the form over it, or the view over it. */
  readonly body: number;
  /** Failures, messages and progress; wrapped, the newest last. */
  readonly messages: readonly LogLine[];
  /** The box of a question. */
  readonly question: QuestionBox | undefined;
  /** Proposals or the problem of the line, below the prompt. */
  readonly under: number;
  /** Row of the input line, from 0. */
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
    const box = questionBox(question, state.size);
    const body = room - box.lines.length - (box.hasEdges ? 2 : 0);
    return { body, messages: [], question: box, under: 0, inputRow: 2 + room };
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
    question: undefined,
    under,
    inputRow: 2 + room - under,
  };
}

/** Number of visible records. */
export function tableHeight(state: State): number {
  return Math.max(1, layoutOf(state).body - 1);
}

/** Failed devices as long as they fail; below them the messages of the last line. */
function messageLines(state: State, room: number): LogLine[] {
  const width = state.size.columns - 2;
  const view = shownView(state)?.view;
  if (view?.showsMessages?.(state) === true) {
    // A roll-out and the list of messages show it themselves.
    return state.overlay.kind === 'help' ? newestRows(progressLine(state), width, 1) : [];
  }
  const facts = view?.below?.(state) ?? [];
  // Unused rows of the table are free.
  const isTable = state.form === undefined && view === undefined;
  const free = isTable ? room - 1 - tableRows(state).rows.length : 0;
  const most = !isTable
    ? Math.max(1, Math.floor(room / 4))
    : Math.max(3, Math.floor(room / 3), free);
  const messages = newestRows([...state.log.current, ...progressLine(state)], width, most);
  // The bar counts all of them.
  const failures = findFailures(state.fleet.devices, shownDevices(state), state.table.reads);
  const failed = (view === undefined ? linesOfFailures(failures) : [])
    .filter(({ text }) => !state.log.current.some((one) => one.text === text))
    .slice(0, most - messages.length)
    .map(({ tone, text }) => ({ tone, text: shortReason(text, width) }));
  const lines = [...facts, ...failed, ...messages];
  // Older messages must not cut a fingerprint.
  return facts.length > 0 ? lines.slice(0, Math.max(0, room - 2)) : lines;
}

/** Failures of devices, each cause once; the list of messages has all names. */
export function failureLines(failures: readonly Failure[]): LogLine[] {
  const whole = causeLines(failures);
  return causeLines(failures, 'some').map((text, index): LogLine => {
    return { tone: 'bad', text, whole: whole[index] ?? text };
  });
}

const linesOfFailures = memoized(failureLines);

/** Failures of the shown devices that have no records in the table. */
const findFailures = memoized(
  (
    devices: State['fleet']['devices'],
    shown: readonly string[],
    reads: State['table']['reads'],
  ): readonly Failure[] => {
    const tabs = new Map(devices.map((device) => [device.name, device]));
    return shown.flatMap((name): Failure[] => {
      const tab = tabs.get(name);
      const read = reads.get(name);
      const error = tab?.error ?? (read?.outcome.ok === false ? read.outcome.error : undefined);
      if (error === undefined || tab?.kind === 'connecting') return [];
      return [{ device: { name, address: tab?.address ?? '' }, error }];
    });
  },
);

function progressLine({ work, rollOut }: State): LogLine[] {
  if (work === undefined) return [];
  const held = rollOut?.control === 'paused' ? 'PAUSED: ' : '';
  const parts = [
    // What a key has just done comes first: the rest may need several rows.
    ...(work.isStopping ? [INTERRUPTED] : []),
    work.progress ?? 'working',
    ...(work.waiting.length > 0 ? [`then ${someOf(work.waiting, 1)}`] : []),
    ...(isUnderWay({ rollOut }) ? [`${held}F3 shows each device`] : []),
    ...(work.isStopping ? [] : ['Ctrl-C cancels']),
  ];
  return [{ tone: 'quiet', text: `… ${parts.join(' · ')}` }];
}

/** A question with what it is about. */
export interface QuestionBox {
  readonly title: string;
  readonly tone: Tone;
  /** What it is about, as far as it is in sight, and the question itself. */
  readonly lines: readonly TextLine[];
  /** In the lower edge: what is in sight, if not all of it is. */
  readonly scroll: string;
  /** On a small screen the question needs every line. */
  readonly hasEdges: boolean;
  /** All that it is about, the number of visible lines, and the scroll range. */
  readonly details: readonly TextLine[];
  readonly height: number;
  readonly depth: number;
}

export function questionBox(question: OpenQuestion, { columns, rows }: State['size']): QuestionBox {
  const most = rows > 14 ? rows - FIXED - 4 : Math.max(1, rows - FIXED);
  const hasEdges = most > 8;
  const width = hasEdges ? columns - 4 : columns - 2;
  const inside = hasEdges ? most - 2 : most;
  const text = wrapText(question.complaint ?? question.text, width);
  const asked = text.slice(-Math.max(1, inside - 2));
  const { title, linesAt, unfoldedAt, isUnfolded, isWarning, color, find } = question;
  const details = ((isUnfolded ? unfoldedAt : undefined) ?? linesAt)(width);
  const room = Math.max(1, inside - asked.length);
  const height = details.length <= room ? details.length : Math.max(1, hasEdges ? room : room - 1);
  const depth = details.length - height;
  const top = Math.min(question.top, depth);
  const seen = `lines ${top + 1}-${top + height} of ${details.length} · ↑ ↓ scroll`;
  const scroll = depth > 0 ? seen : '';
  const tone = color === undefined ? 'heading' : LABEL_TONES[color];
  const shown = details
    .slice(top, top + height)
    .map((line, at) => (top + at === find.at ? plainLine(textOfLine(line), 'accent') : line));
  const more = scroll === '' || hasEdges ? [] : [plainLine(`… ${scroll}`, 'quiet')];
  const lines = [...shown, ...more, ...asked.map((line) => plainLine(line, tone))].slice(-inside);
  const box = { title, tone: isWarning ? 'bad' : 'warning', lines, scroll, hasEdges } as const;
  return { ...box, details, height, depth };
}

/** Cached: a line is the same object as long as it is shown. */
const rowsOf = rememberedFor((line: LogLine, width: number): readonly LogLine[] => {
  const { tone, text, linesAt } = line;
  const isShort = text.length <= width && isWithin(text, width) && !text.includes('\n');
  if (linesAt === undefined && isShort) return [line];
  return (linesAt?.(width) ?? [text])
    .flatMap((one) => wrapText(one, width, '  '))
    .map((row) => ({ tone, text: row }));
});

/** The newest lines in full, then as much of the one before as has room. */
function newestRows(lines: readonly LogLine[], width: number, most: number): LogLine[] {
  const rows: LogLine[] = [];
  for (const line of lines.toReversed()) {
    if (rows.length >= most) break;
    rows.unshift(...startOf(line, width, most - rows.length));
  }
  return rows;
}

/** Ends a message that has no room; the list of messages has all of it. */
const REST = ' (m in the table: all)';

function startOf(line: LogLine, width: number, room: number): readonly LogLine[] {
  const rows = rowsOf(line, width);
  if (rows.length <= room) return rows;
  const rest = room > 1 ? REST : '';
  const end = cut(`${rows[room - 1]?.text ?? ''} …`, width - rest.length) + rest;
  return [...rows.slice(0, room - 1), { tone: line.tone, text: end }];
}
