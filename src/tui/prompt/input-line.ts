import type { LabelColor } from '../../fleet/inventory-schema.ts';
import { cut, visible, widthOf } from '../../text/visible.ts';
import { hideSecrets } from '../../shell/grammar/hide-secrets.ts';
import { graphemes, graphemesBack } from '../editor/graphemes.ts';
import { wrapText } from '../../text/wrap.ts';
import { contextOf, isAtPrompt } from '../keys/keymap.ts';
import { type Line, lineText } from '../editor/line.ts';
import { memoized } from '../store.ts';
import { searchedLine } from './reduce-prompt.ts';
import type { State } from '../state.ts';
import type { LineProblem } from './prompt-state.ts';

/** The input line, cut to the screen around its cursor. */
interface InputLine {
  readonly label: string;
  /** The label's colour, if the inventory has one for its devices. */
  readonly color?: LabelColor | undefined;
  readonly text: string;
  /** The cell of the cursor, from the left of the screen; undefined if the cursor is not in this line. */
  readonly cursor: number | undefined;
  /** The cell of the line's column 0; negative if the line is scrolled. */
  readonly origin: number;
}

/** Marks the half of the screen with the focus: the input line, or the part above it. */
export const FOCUS_MARK = '▸';

/** Longer lines are pasted. It would take long to measure them. */
const LONG = 4_000;

/** The line being typed: an answer, a filter, a search, or the prompt. */
export function inputLine(state: State): InputLine {
  const { columns } = state.size;
  const typed = (label: string, line: Line): InputLine => place(label, line, columns, true);
  const [question] = state.questions;
  const context = contextOf(state);
  if (context === 'plan' || context === 'question') {
    const line = question?.editing.line ?? { before: '', after: '' };
    const shown = question?.kind === 'secret' ? masked(line) : line;
    return typed('answer> ', shown);
  }
  if (context === 'waiting') return place('…', { before: '', after: '' }, columns, false);
  if (context === 'filter')
    return typed('filter> ', withoutSecrets(state.table.filter.editing.line));
  if (context === 'find' || context === 'palette') {
    const { editing } = question?.find ?? state.find;
    return typed(context === 'palette' ? 'go to> ' : 'search> ', withoutSecrets(editing.line));
  }
  if (context === 'search') {
    const { search, history } = state.prompt;
    const found = searchedLine(history, search) ?? '';
    const query = visible((search?.query ?? '').slice(0, columns));
    const label = `search '${query}'${query !== '' && found === '' ? ' not found' : ''}: `;
    return typed(cut(label, Math.floor(columns / 2)), splitAtMatch(found, search?.query ?? ''));
  }
  const { prompt, fleet } = state;
  const line = withoutSecrets(prompt.editing.line);
  return { ...place(fleet.prompt, line, columns, isAtPrompt(state)), color: fleet.color };
}

/** Splits a found line after the match, so that the match is visible. */
function splitAtMatch(found: string, query: string): Line {
  const end = found.toLowerCase().indexOf(query.toLowerCase()) + query.length;
  return { before: found.slice(0, end), after: found.slice(end) };
}

/** The text as drawn: with a sign for line ends, and no character that controls the terminal. */
export function shownLine(text: string): string {
  return visible(text.replaceAll('\n', '⏎'));
}

/** The input with a dot for each character. */
export function masked(line: Line): Line {
  // The characters are counted, not replaced one by one, because a pasted text may be very long.
  const dots = (text: string): string =>
    '•'.repeat(text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0));
  return { before: dots(line.before), after: dots(line.after) };
}

/** The line with masked values of secret fields. Cached, because a frame needs it several times. */
const withoutSecrets = memoized((line: Line): Line => {
  const text = hideSecrets(lineText(line));
  return { before: text.slice(0, line.before.length), after: text.slice(line.before.length) };
});

function place(label: string, line: Line, columns: number, isActive: boolean): InputLine {
  // On a narrow screen the line is more important than its label.
  const mark = isActive ? FOCUS_MARK : ' ';
  const shownLabel = `${mark}${cut(visible(label.trimEnd()), Math.max(3, Math.floor(columns / 2)))} `;
  const start = widthOf(shownLabel);
  const { text, cursor, hidden } = windowOf(line, Math.max(1, columns - start - 1));
  return {
    label: shownLabel,
    text,
    cursor: isActive ? start + cursor : undefined,
    origin: start - hidden,
  };
}

/** The text around the cursor that fits into `room` cells, the cursor's cell in it, and the cells hidden on the left. */
export function windowOf(
  line: Line,
  room: number,
): { readonly text: string; readonly cursor: number; readonly hidden: number } {
  // No more than this is visible; a paste may be a thousand times as long.
  const reach = room * 8 + 64;
  const before = shownLine(line.before.slice(-reach));
  const after = shownLine(line.after.slice(0, reach));
  const left = unitsWithin(graphemesBack(before), after === '' ? room : Math.ceil(room * 0.8));
  const tail = before.slice(before.length - left);
  const head = after.slice(0, unitsWithin(graphemes(after), room - widthOf(tail)));
  return { text: tail + head, cursor: widthOf(tail), hidden: cellsOf(line.before) - widthOf(tail) };
}

/** The length of the first of these characters that fit into `width` cells together. */
function unitsWithin(characters: Iterable<string>, width: number): number {
  let units = 0;
  let cells = 0;
  for (const character of characters) {
    cells += widthOf(character);
    if (cells > width) break;
    units += character.length;
  }
  return units;
}

/** Cells before a column of the line: the position of `^`. */
export function columnCells(line: Line, column: number): number {
  return cellsOf(lineText(withoutSecrets(line)).slice(0, column));
}

/** The number of cells of the drawn text, estimated if it is much longer than the screen. */
function cellsOf(text: string): number {
  return text.length > LONG ? text.length : widthOf(shownLine(text));
}

/** A line's problem with suggestions, below the `^` that points at it. */
export function problemLines(problem: LineProblem, columns: number): string[] {
  const { suggestions, message } = problem;
  const proposals = suggestions.map((text) => `'${visible(text)}'`).join(' or ');
  const text = suggestions.length > 0 ? `${message}; did you mean ${proposals}?` : message;
  return wrapText(text, columns - 2);
}
