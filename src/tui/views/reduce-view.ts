import type { MoveAction } from '../keys/key-binding.ts';
import { edit, EMPTY_EDITING, filled, lineText, type EditKey } from '../editor/line.ts';
import { layoutOf, questionBox } from '../screen/layout.ts';
import { CONNECTED } from './devices.ts';
import { opened } from './navigation.ts';
import { planTextLines } from './plan-lines.ts';
import { matchingLines, movedTop, nextSort, searcher, sought } from './view.ts';
import { listView, viewLines } from './views.ts';
import { type Find, NO_FIND, type OpenQuestion, type State } from '../state.ts';
import { stressed, type TextLine, textOfLine } from '../screen/theme.ts';

export function withMatches(state: Pick<State, 'find'>, line: TextLine): TextLine {
  const { length } = lineText(state.find.editing.line);
  const starts = searcher(state)(textOfLine(line));
  const letters = starts.flatMap((start) => Array.from({ length }, (_, index) => start + index));
  return stressed(line, 'chosen', letters);
}

/** "'lang': 2 of 5", for the title; empty without a search. */
export function findSummary(state: State): string {
  const wanted = lineText(state.find.editing.line);
  if ('cursor' in state.overlay) return listedText(state, wanted);
  if (wanted === '') return '';
  const lines = matchingLines(viewLines(state), state.find);
  if (lines.length === 0) return `'${wanted}' not found`;
  const at = state.find.at === undefined ? -1 : lines.indexOf(state.find.at);
  return `'${wanted}': ${at === -1 ? lines.length : `${at + 1} of ${lines.length}`}`;
}

/** "'fw7': 12 of 1,000 · by state ↓"; empty without a search or sort order. */
function listedText(state: State, wanted: string): string {
  const list = listView(state);
  if (list === undefined) return '';
  const { sort } = state.find;
  const name = sort?.replace(/^-/, '') ?? '';
  return [
    ...(wanted === '' ? [] : [`'${wanted}': ${list.rows.length} of ${list.total}`]),
    ...(sort === undefined ? [] : [`by ${name} ${sort === name ? '↑' : '↓'}`]),
  ].join(' · ');
}

/** The lines of a plan above its question, or of a text over the table: they are scrolled and searched. */
interface TextWindow {
  readonly lines: readonly TextLine[];
  readonly top: number;
  readonly height: number;
  /** The last line that may be the first visible one. */
  readonly last: number;
  readonly scrolledTo: (top: number) => State;
}

export function textWindow(state: State): TextWindow | undefined {
  const { overlay, size, questions } = state;
  const [question] = questions;
  if (question !== undefined) {
    const { texts, width, height, depth: last } = questionBox(question, size);
    const lines = planTextLines(texts, width);
    const scrolledTo = (top: number): State => changeQuestion(state, () => ({ top }));
    return { lines, top: question.top, height, last, scrolledTo };
  }
  if (!('top' in overlay)) return undefined;
  const lines = viewLines(state);
  const height = Math.max(1, layoutOf(state).body);
  const scrolledTo = (top: number): State => ({ ...state, overlay: { ...overlay, top } });
  return { lines, top: overlay.top, height, last: Math.max(0, lines.length - height), scrolledTo };
}

/** Changes the current question; the others wait. */
export function changeQuestion(
  state: State,
  change: (question: OpenQuestion) => Partial<OpenQuestion>,
): State {
  const [first, ...others] = state.questions;
  if (first === undefined) return state;
  return { ...state, questions: [{ ...first, ...change(first) }, ...others] };
}

/** Changes the search in the plan above a question, or in the view. */
function withFind(state: State, change: (find: Find) => Find): State {
  return state.questions.length > 0
    ? changeQuestion(state, (question) => ({ find: change(question.find) }))
    : { ...state, find: change(state.find) };
}

function findOf({ questions: [question], find }: State): Find {
  return question?.find ?? find;
}

/** Edits the search, and jumps to the first match from the top of the screen. */
export function editFind(state: State, key: EditKey): State {
  return jumped(
    withFind(state, (find) => ({ ...find, editing: edit(find.editing, key) })),
    0,
  );
}

/** `n`, `N`: goes to the next match, and after the last one to the first. */
export function nextFound(state: State, by: 1 | -1): State {
  return isList(state) ? scrolled(state, by === 1 ? 'down' : 'up') : jumped(state, by);
}

function isList({ overlay, questions }: State): boolean {
  return 'cursor' in overlay && questions.length === 0;
}

/** Opens the search. A list continues the earlier one, as the table does; a text starts a new one. */
export function openedFind(state: State): State {
  return withFind(isList(state) ? state : clearedFind(state), (find) => ({
    ...find,
    isOpen: true,
  }));
}

/** Clears the search, and keeps the sort order. */
export function clearedFind(state: State): State {
  return withFind(state, ({ sort }) => ({ ...NO_FIND, sort }));
}

export function keptFind(state: State): State {
  return withFind(state, (find) => ({ ...find, isOpen: false }));
}

export function hasFind({ find }: State): boolean {
  return lineText(find.editing.line) !== '';
}

/** `!`: lists only the devices that are not connected, and after another `!` all devices. */
export function devicesInTrouble(state: State): State {
  const text = `state!=${CONNECTED}`;
  const list = opened(state, { kind: 'devices', cursor: 0 });
  const isShown = state.overlay.kind === 'devices' && lineText(state.find.editing.line) === text;
  const editing = isShown ? EMPTY_EDITING : filled(EMPTY_EDITING, text);
  return { ...list, find: { ...list.find, editing, isOpen: false } };
}

function jumped(state: State, by: 0 | 1 | -1): State {
  const window = textWindow(state);
  if (window === undefined) return state;
  const { at, top } = sought(window.lines, findOf(state), window, by);
  return withFind(window.scrolledTo(Math.min(window.last, top)), (find) => ({ ...find, at }));
}

/** Sorts a list by the keys `s` and `o`. */
export function sortedList(state: State, action: 'sort' | 'reverse'): State {
  const { find } = state;
  const fields = listView(state)?.fields ?? [];
  const first = action === 'reverse' ? fields[0] : '';
  // After the last field comes the original order.
  const [sort = ''] = nextSort([...fields, ''], [find.sort ?? first ?? ''], action);
  return { ...state, find: { ...find, sort: sort === '' ? undefined : sort } };
}

/** Moves the cursor of a list, or scrolls a text by lines. */
export function scrolled(state: State, action: MoveAction): State {
  const { overlay } = state;
  if (isList(state) && 'cursor' in overlay) {
    const height = Math.max(1, layoutOf(state).body - 1);
    const last = Math.max(0, (listView(state)?.rows.length ?? 0) - 1);
    const cursor = movedTop(overlay.cursor, action, height, last);
    return { ...state, overlay: { ...overlay, cursor } };
  }
  const window = textWindow(state);
  if (window === undefined) return state;
  return window.scrolledTo(movedTop(window.top, action, window.height, window.last));
}

/** Keeps the cursor of a list on its row if rows are added, removed or sorted. */
export function followList(before: State, after: State): State {
  const { overlay, find } = after;
  if (!('cursor' in overlay)) return after;
  const isSame = before.overlay === overlay && before.find === find;
  if (isSame && before.fleet.devices === after.fleet.devices) return after;
  const old = overlay.kind === before.overlay.kind ? listView(before) : undefined;
  const now = listView(after);
  if (now === undefined || old?.rows === now.rows) return after;
  const id = 'cursor' in before.overlay ? old?.idAt(before.overlay.cursor) : undefined;
  if (id === undefined) return after;
  const isFiltered = before.find.editing !== find.editing;
  // The first entry is the best match, also if it arrives later.
  if (overlay.kind === 'palette' && (isFiltered || overlay.cursor === 0))
    return { ...after, overlay: { ...overlay, cursor: 0 } };
  const at = now.rows.findIndex((_, index) => now.idAt(index) === id);
  const cursor = at !== -1 ? at : isFiltered ? 0 : Math.min(overlay.cursor, now.rows.length - 1);
  return { ...after, overlay: { ...overlay, cursor: Math.max(0, cursor) } };
}
