import type { Filter } from '../fleet/filter.ts';
import type { Action } from './store.ts';
import type { ViewAction } from './keys/key-binding.ts';
import {
  editPrompt,
  openMenu,
  PROMPT_ACTIONS,
  setLine,
  setHistory,
} from './prompt/reduce-prompt.ts';
import {
  addReads,
  dropLostMarks,
  editFilter,
  followCursor,
  clampCursor,
  TABLE_ACTIONS,
} from './table/reduce-table.ts';
import { closeForm, editForm, FORM_ACTIONS, reduceForm } from './form/reduce-form.ts';
import { edit, type EditKey } from './editor/line.ts';
import { contextOf, isTypedOn } from './keys/keymap.ts';
import { tableHeight } from './screen/layout.ts';
import {
  changeQuestion,
  rejected,
  editAnswer,
  searchedPlan,
  isFindAction,
  scrolledQuestion,
  searchPlan,
} from './reduce-question.ts';
import { type Context, type LogLine, type Overlay, type State } from './state.ts';
import { NO_FILTER } from './table/table-state.ts';
import { detailsOfTable } from './views/details.ts';
import { addEntries, paletteOf } from './views/palette.ts';
import { messagesOf } from './views/pager.ts';
import { NO_MARKS } from './views/questions.ts';
import {
  clearedFind,
  devicesInTrouble,
  editFind,
  followList,
  hasFind,
  keptFind,
  nextFound,
  openedFind,
  scrolled,
  sortedList,
} from './views/reduce-view.ts';
import { MOVES } from './views/view.ts';
import { changeRollOut } from './views/roll-out.ts';
import { shownView } from './views/views.ts';
import {
  closed,
  dropped,
  entered,
  opened,
  sourced,
  withdrawn,
  tableId,
} from './views/navigation.ts';

/** The state after an action. Pure; unknown keys change nothing. */
export function reduce(state: State, action: Action): State {
  const stepped = step(state, action);
  if (stepped === state) return state;
  const next = followList(state, stepped);
  // Another table has its own cursor.
  const isSame = tableId(state.table) === tableId(next.table);
  const followed = isSame ? { ...next, table: followCursor(state, next) } : next;
  const table = clampCursor(followed, tableHeight(followed));
  return table === next.table ? next : { ...followed, table };
}

function step(state: State, action: Action): State {
  const { prompt, table, log } = state;
  switch (action.kind) {
    case 'view':
      return act(state, action.action);
    case 'edit':
      return EDITS[contextOf(state)]?.(state, action.key) ?? state;
    case 'set-line':
      return { ...state, focus: 'prompt', prompt: setLine(prompt, action.line) };
    case 'menu':
      return { ...state, prompt: openMenu(prompt, action) };
    case 'problem':
      return { ...state, prompt: { ...prompt, menu: undefined, problem: action.problem } };
    case 'history':
      return { ...state, prompt: setHistory(prompt, action.lines) };
    case 'facts':
      return { ...state, ...action.facts };
    case 'fleet':
      return { ...state, fleet: keepSelected(state.fleet, action.fleet) };
    case 'table':
      return entered(state, action.source);
    case 'table-withdrawn':
      return withdrawn(state, action.command);
    case 'table-source':
      return sourced(state, action.source);
    case 'reads': {
      const read = { ...state, table: addReads(table, action.reads) };
      return { ...read, table: dropLostMarks(read, table.reads) };
    }
    case 'apply-filter':
      return applyFilter(state, action.filter);
    case 'changes-seen':
      return { ...state, table: { ...table, changes: undefined } };
    case 'watch':
      return { ...state, table: { ...table, watchMs: action.everyMs } };
    case 'work-start':
      return {
        ...state,
        work: { isStopping: false, progress: undefined, waiting: action.waiting, writes: [] },
      };
    case 'work':
      return state.work ? { ...state, work: { ...state.work, ...action.work } } : state;
    case 'work-end':
      return { ...state, work: undefined };
    case 'log-clear':
      return { ...state, log: { ...log, current: [] } };
    case 'log':
      return { ...state, log: appended(log, [], action.lines) };
    case 'log-keep':
      return { ...state, log: { ...appended(log, [], action.lines), current: log.current } };
    case 'log-hide':
      return { ...state, log: { ...log, current: without(log.current, action.lines) } };
    case 'log-replace':
      return { ...state, log: appended(log, action.old, action.lines) };
    case 'roll-out':
      return openedByLine({ ...state, rollOut: action.rollOut }, { kind: 'roll-out', top: 0 });
    case 'roll-out-result':
      return changeRollOut(state, ({ results }) => ({ results: [...results, action.result] }));
    case 'roll-out-device':
      return changeRollOut(state, ({ begun = [] }) => ({ begun: [...begun, action.name] }));
    case 'roll-out-progress':
      return changeRollOut(state, ({ progress }) =>
        progress === undefined ? {} : { progress: { ...progress, ...action.progress } },
      );
    case 'roll-out-end':
      return dropped({ ...state, rollOut: undefined }, 'roll-out');
    case 'questions-end':
      return state.fleet.questions.length > 0 ? state : dropped(state, 'questions');
    case 'palette-entries':
      return addEntries(state, action.entries);
    case 'view-over':
      return openedByLine(state, action.overlay);
    case 'form':
    case 'form-fields':
    case 'form-warn':
    case 'form-end':
      return reduceForm(state, action);
    case 'ask':
      return { ...state, questions: [...state.questions, action.question] };
    case 'open-question':
      return changeQuestion(state, (question) =>
        question.id === action.id ? { ...question, isOpen: true } : question,
      );
    case 'complain':
      return rejected(state, action.text);
    case 'answered':
      return { ...state, questions: state.questions.filter(({ id }) => id !== action.id) };
  }
}

/** Ignores rows for a filter that has changed since. */
function applyFilter(state: State, applied: Filter): State {
  const { table } = state;
  if (table.filter.parsed !== applied) return state;
  return { ...state, table: { ...table, filter: { ...table.filter, applied } } };
}

/** Opens a view for a line. Only keys move the focus: further typing stays at the prompt. */
function openedByLine(state: State, overlay: Overlay): State {
  return { ...opened({ ...state, focus: 'table' }, overlay), focus: state.focus };
}

/** Keeps the list object if the devices are the same, so that memoized results stay valid. */
function keepSelected(old: State['fleet'], next: State['fleet']): State['fleet'] {
  const isSame =
    old.selected.length === next.selected.length &&
    old.selected.every((name, index) => name === next.selected[index]);
  return isSame ? { ...next, selected: old.selected } : next;
}

type Edit = (state: State, key: EditKey) => State;

const editLine: Edit = (state, key) => ({ ...state, prompt: editPrompt(state.prompt, key) });

const editField: Edit = (state, key) =>
  state.form === undefined ? state : { ...state, form: editForm(state.form, key) };

/** Editing by context; other contexts take no text. */
const EDITS: Readonly<Partial<Record<Context, Edit>>> = {
  plan: editAnswer,
  question: editAnswer,
  filter: (state, key) => ({
    ...state,
    table: { ...state.table, filter: editFilter(state, key) },
  }),
  form: editField,
  'form-switch': editField,
  'form-choice': editField,
  'form-pick': editField,
  search: editLine,
  menu: editLine,
  'empty-prompt': editLine,
  prompt: editLine,
  find: editFind,
  palette: editFind,
  'plan-find': (state, key) =>
    searchedPlan(state, (find) => ({ ...find, editing: edit(find.editing, key) })),
  // Who types the next line goes on typing it.
  waiting: (state, key) => (isTypedOn(state) ? editLine(state, key) : state),
};

/** The view that a key opens from anywhere. */
const OPENED = {
  help: () => ({ kind: 'help', top: 0 }),
  palette: paletteOf,
  messages: messagesOf,
  'roll-out': () => ({ kind: 'roll-out', top: 0 }),
  devices: () => ({ kind: 'devices', cursor: 0 }),
  questions: () => NO_MARKS,
} satisfies Partial<Record<ViewAction, (state: State) => Overlay>>;

function act(state: State, action: ViewAction): State {
  const { table } = state;
  if (state.questions.length > 0 && isFindAction(action)) return searchPlan(state, action);
  const shown = shownView(state);
  const special = shown?.view.act?.(shown.over, state, action);
  if (special !== undefined) return special;
  if (has(MOVES, action) && state.questions.length > 0) return scrolledQuestion(state, action);
  if (has(MOVES, action) && shown !== undefined) return scrolled(state, action);
  if ((action === 'sort' || action === 'reverse') && shown !== undefined)
    return sortedList(state, action);
  if (has(MOVES, action)) {
    const by = MOVES[action](Math.max(2, tableHeight(state)));
    return { ...state, table: { ...table, cursor: Math.max(0, table.cursor + by) } };
  }
  if (has(TABLE_ACTIONS, action)) return { ...state, table: TABLE_ACTIONS[action](state) };
  if (has(PROMPT_ACTIONS, action))
    return { ...state, prompt: PROMPT_ACTIONS[action](state.prompt) };
  if (has(FORM_ACTIONS, action))
    return state.form === undefined ? state : { ...state, form: FORM_ACTIONS[action](state.form) };
  if (has(OPENED, action)) return opened(state, OPENED[action](state));
  switch (action) {
    case 'go-table':
    case 'press-in-table':
      return { ...state, focus: 'table', prompt: { ...state.prompt, menu: undefined } };
    case 'go-prompt':
      // A form takes all keys, so it closes.
      return { ...(state.form === undefined ? state : closed(state)), focus: 'prompt' };
    case 'back':
      if (table.filter.editing.line !== NO_FILTER.editing.line) {
        return { ...state, table: { ...table, filter: NO_FILTER } };
      }
      if (table.marks.size > 0) return { ...state, table: { ...table, marks: new Map() } };
      return state.backStack.length > 0 ? closed(state) : state;
    case 'pane':
      return { ...state, isPaneHidden: !state.isPaneHidden };
    case 'close':
      return hasFind(state) && state.overlay.kind !== 'palette'
        ? clearedFind(state)
        : closed(state);
    case 'details': {
      const isOwn = shown?.view.details !== undefined;
      const over = isOwn ? shown.view.details?.(shown.over, state) : detailsOfTable(state);
      return over ? opened(state, over) : state;
    }
    case 'trouble':
      return devicesInTrouble(state);
    case 'find':
      return openedFind(state);
    case 'keep-find':
      return keptFind(state);
    case 'clear-find':
      return clearedFind(state);
    case 'next-found':
      return nextFound(state, 1);
    case 'previous-found':
      return nextFound(state, -1);
    case 'whole':
      return state;
    case 'unfold':
      return changeQuestion(state, (question) => ({
        ...question,
        isUnfolded: question.unfolded !== undefined && !question.isUnfolded,
        top: 0,
      }));
    case 'close-form':
      return closeForm(state);
  }
}

/** Whether a table of actions has this one. */
function has<K extends string>(table: Readonly<Record<K, unknown>>, action: string): action is K {
  return Object.hasOwn(table, action);
}

/** Number of messages kept. */
const LOG_LIMIT = 2_000;

/** Appends lines, and removes those in `dropped` wherever they are. */
function appended(
  log: State['log'],
  dropped: readonly LogLine[],
  lines: readonly LogLine[],
): State['log'] {
  return {
    current: [...without(log.current, dropped), ...lines],
    all: [...without(log.all, dropped), ...lines].slice(-LOG_LIMIT),
  };
}

function without(lines: readonly LogLine[], dropped: readonly LogLine[]): readonly LogLine[] {
  return dropped.length === 0 ? lines : lines.filter((line) => !dropped.includes(line));
}
