import { someOf } from '../../text/one-line.ts';
import { rememberedFor } from '../../text/remember.ts';
import { problemLines } from '../prompt/input-line.ts';
import type { LogLine, OpenQuestion, PlanTexts, State } from '../state.ts';
import { tableRows } from '../table/rows.ts';
import { cut, isWithin } from '../../text/visible.ts';
import { LABEL_TONES, plainLine, type TextLine, type Tone } from './theme.ts';
import { planTextLines } from '../views/plan-lines.ts';
import { INTERRUPTED, isUnderWay } from '../views/roll-out.ts';
import { shownView } from '../views/views.ts';
import { wrapText } from '../../text/wrap.ts';

/** On a smaller screen nothing useful fits. */
export const SMALLEST = { columns: 40, rows: 10 };

/** Rows of each part of the screen, from the top. Bar, title, input and footer have one row each. */
interface Layout {
  /** The table with its header and the form over it, or the view over it. */
  readonly body: number;
  /** Failures, messages and progress; wrapped, the newest last. */
  readonly messages: readonly LogLine[];
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
    const body = room - box.height - box.asked.length - (box.hasEdges ? 2 : 0);
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

export function tableHeight(state: State): number {
  return Math.max(1, layoutOf(state).body - 1);
}

/** The facts below a view, and the newest messages that fit; below a full table, one message. */
function messageLines(state: State, room: number): LogLine[] {
  const { overlay, form, log } = state;
  // The roll-out shows its progress itself.
  if (overlay.kind === 'roll-out' && isUnderWay(state)) return [];
  const facts = shownView(state)?.view.below?.(state) ?? [];
  const isTable = form === undefined && overlay.kind === 'none';
  // Messages may use the empty rows of the table. The facts of a view come first.
  const rest = facts.length > 0 ? 1 : Math.floor(room / 4);
  const free = isTable ? room - 1 - tableRows(state).rows.length : rest;
  const said = [...log.current, ...progressLine(state)];
  const { columns } = state.size;
  const messages = newestRows(said, columns - 2, Math.max(Math.ceil(LINE / columns), free));
  const lines = [...facts, ...messages];
  // A message must not cut a fingerprint.
  return facts.length > 0 ? lines.slice(0, Math.max(0, room - 2)) : lines;
}

function progressLine({ work, rollOut }: State): LogLine[] {
  if (work === undefined) return [];
  const held = rollOut?.control === 'paused' ? 'PAUSED: ' : '';
  const parts = [
    // The effect of the last key comes first, because the rest may need several rows.
    ...(work.isStopping ? [INTERRUPTED] : []),
    work.progress ?? 'working',
    ...(work.waiting.length > 0 ? [`then ${someOf(work.waiting, 1)}`] : []),
    ...(isUnderWay({ rollOut }) ? [`${held}F3 shows each device`] : []),
    ...(work.isStopping ? [] : ['Ctrl-C cancels']),
  ];
  return [{ tone: 'quiet', text: `… ${parts.join(' · ')}` }];
}

export interface QuestionBox {
  readonly title: string;
  readonly tone: Tone;
  /** The texts above the question. They are wrapped to `width` cells. */
  readonly texts: PlanTexts;
  readonly width: number;
  /** The first visible line of the texts, the number of visible lines, and the largest `top`. */
  readonly top: number;
  readonly height: number;
  readonly depth: number;
  /** The index of the line that a search has found. */
  readonly foundAt: number | undefined;
  /** The lines of the question itself. */
  readonly asked: readonly TextLine[];
  /** The text in the lower edge: which lines are visible, if not all are. */
  readonly scroll: string;
  /** False on a small screen, where the question needs every line. */
  readonly hasEdges: boolean;
}

export function questionBox(question: OpenQuestion, { columns, rows }: State['size']): QuestionBox {
  const most = rows > 14 ? rows - FIXED - 4 : Math.max(1, rows - FIXED);
  const hasEdges = most > 8;
  const width = hasEdges ? columns - 4 : columns - 2;
  const inside = hasEdges ? most - 2 : most;
  const { title, about, unfolded = about, isUnfolded, isWarning, color, find } = question;
  const tone = color === undefined ? 'heading' : LABEL_TONES[color];
  const text = wrapText(question.complaint ?? question.text, width);
  const asked = text.slice(-Math.max(1, inside - 2)).map((line) => plainLine(line, tone));
  const texts = isUnfolded ? unfolded : about;
  const { length } = planTextLines(texts, width);
  const room = Math.max(inside > asked.length ? 1 : 0, inside - asked.length);
  const height = length <= room ? length : Math.max(0, hasEdges ? room : room - 1);
  const depth = length - height;
  const top = Math.min(question.top, depth);
  const seen = `lines ${top + 1}-${top + height} of ${length} · ↑ ↓ scroll`;
  const scroll = depth > 0 ? seen : '';
  const more = scroll === '' || hasEdges ? [] : [plainLine(`… ${scroll}`, 'quiet')];
  return {
    ...{ title, tone: isWarning ? 'bad' : 'warning', texts, width, top, height, depth },
    ...{ foundAt: find.at, asked: [...more, ...asked], scroll, hasEdges },
  };
}

/** The rows of a message. Cached, because a message is the same object as long as it is shown. */
const rowsOf = rememberedFor((line: LogLine, width: number): readonly LogLine[] => {
  const { tone, text, linesAt } = line;
  const isShort = text.length <= width && isWithin(text, width) && !text.includes('\n');
  if (linesAt === undefined && isShort) return [line];
  return (linesAt?.(width) ?? [text])
    .flatMap((one) => wrapText(one, width, '  '))
    .map((row) => ({ tone, text: row }));
});

/** A message gets at least this many cells, which are two rows on a narrow screen. */
const LINE = 80;
/** Tells that there are more messages than fit. */
const REST = ' (m: all)';

/** The newest messages that fit in full, or at least the start of the last one. */
function newestRows(lines: readonly LogLine[], width: number, most: number): LogLine[] {
  const rows: LogLine[] = [];
  const left = lines.findLastIndex((line) => {
    const own = rowsOf(line, width);
    if (rows.length > 0 && rows.length + own.length > most) return true;
    rows.unshift(...own);
    return rows.length > most;
  });
  if (left === -1) return rows;
  return rows.slice(0, most).map((row, index, { length }) => {
    const isLast = index === length - 1;
    return isLast ? { ...row, text: cut(row.text, width - REST.length) + REST } : row;
  });
}
