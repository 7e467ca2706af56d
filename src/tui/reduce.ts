import { isDeepStrictEqual } from 'node:util';
import type { Action, Steps } from './store.ts';
import { MOVES, type ViewAction } from './keys/key-binding.ts';
import {
  editPrompt,
  openMenu,
  PROMPT_ACTIONS,
  setLine,
  setHistory,
} from './prompt/reduce-prompt.ts';
import {
  addReads,
  addResult,
  dropLostMarks,
  editFilter,
  followCursor,
  clampCursor,
  TABLE_ACTIONS,
} from './table/reduce-table.ts';
import { closeForm, editForm, FORM_STEPS, formAfter } from './form/reduce-form.ts';
import { edit, type EditKey } from './editor/line.ts';
import { contextOf, isTypedOn, isTypedView } from './keys/keymap.ts';
import { tableHeight } from './screen/layout.ts';
import type { Context, LogLine, Overlay, RollOutState, State } from './state.ts';
import { NO_FILTER } from './table/table-state.ts';
import { detailsOfTable } from './views/details.ts';
import { paletteOf } from './views/palette.ts';
import { messagesOf } from './views/pager.ts';
import { NO_MARKS } from './views/questions.ts';
import {
  changeQuestion,
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
import { shownView } from './views/views.ts';
import { closed, entered, opened, sourced, withdrawn, tableId } from './views/navigation.ts';

/** The state after an action. Pure; unknown keys change nothing. */
export function reduce(state: State, action: Action): State {
  // The types cannot express that each step gets an action of its own kind.
  const step: (state: State, action: never) => State = STEPS[action.kind];
  const stepped = step(state, action as never);
  if (stepped === state) return state;
  const next = followList(state, stepped);
  // Another table has its own cursor.
  const isSame = tableId(state.table) === tableId(next.table);
  const followed = isSame ? { ...next, table: followCursor(state, next) } : next;
  const table = clampCursor(followed, tableHeight(followed));
  return table === next.table ? next : { ...followed, table };
}

const STEPS: Steps = {
  view: (state, { action }) => act(state, action),
  edit: (state, { key }) => EDITS[contextOf(state)]?.(state, key) ?? state,
  'set-line': (state, { line }) =>
    withPrompt({ ...state, focus: 'prompt' }, setLine(state.prompt, line)),
  menu: (state, action) => withPrompt(state, openMenu(state.prompt, action)),
  problem: (state, { problem }) => withPrompt(state, { ...state.prompt, menu: undefined, problem }),
  history: (state, { lines }) => withPrompt(state, setHistory(state.prompt, lines)),
  facts: (state, { facts }) => ({ ...state, ...facts }),
  fleet: (state, { fleet }) => ({ ...state, fleet: keepSelected(state.fleet, fleet) }),
  table: (state, { source }) => entered(state, source),
  'table-withdrawn': (state, { command }) => withdrawn(state, command),
  'table-source': (state, { source }) => sourced(state, source),
  reads(state, { reads }) {
    const read = withTable(state, addReads(state.table, reads));
    return withTable(read, dropLostMarks(read, state.table.reads));
  },
  /** Ignores rows for a filter that has changed since. */
  'apply-filter'(state, { filter: applied }) {
    const { table } = state;
    if (table.filter.parsed !== applied) return state;
    return withTable(state, { ...table, filter: { ...table.filter, applied } });
  },
  'changes-seen'(state, { isKept = false }) {
    const { table } = state;
    const kept = table.changes && { ...table.changes, before: new Map(), isOfRun: false };
    return withTable(state, { ...table, changes: isKept ? kept : undefined });
  },
  watch: (state, { everyMs }) => withTable(state, { ...state.table, watchMs: everyMs }),
  work: (state, { work }) => (state.work ? { ...state, work: { ...state.work, ...work } } : state),
  log: (state, { lines, old = [] }) =>
    lines.length + old.length === 0 ? state : withLog(state, appended(state.log, old, lines)),
  'log-hide': (state, { lines }) => withLog(state, { current: without(state.log.current, lines) }),
  'roll-out': (state, { rollOut }) => openedByLine({ ...state, rollOut }, { kind: 'roll-out' }),
  result: (state, { result }) =>
    changeRollOut(withTable(state, addResult(state.table, result)), {
      results: [...(state.rollOut?.results ?? []), result],
    }),
  'roll-out-change': (state, { change }) => changeRollOut(state, change),
  'view-over': (state, { overlay }) => openedByLine(state, overlay),
  ...FORM_STEPS,
  ask: (state, { question }) => ({ ...state, questions: [...state.questions, question] }),
  'open-question': (state, { id }) =>
    changeQuestion(state, (question) => (question.id === id ? { isOpen: true } : {})),
  // A complaint clears the answer.
  complain: (state, { text }) =>
    changeQuestion(editAnswer(state, { kind: 'set', line: '' }), () => ({ complaint: text })),
  answered: (state, action) => ({
    ...state,
    questions: state.questions.filter(({ id }) => id !== action.id),
  }),
};

function withPrompt(state: State, prompt: State['prompt']): State {
  return { ...state, prompt };
}

function withTable(state: State, table: State['table']): State {
  return { ...state, table };
}

function withLog(state: State, log: Partial<State['log']>): State {
  return { ...state, log: { ...state.log, ...log } };
}

function changeRollOut(state: State, change: Partial<RollOutState>): State {
  const { rollOut } = state;
  return rollOut === undefined ? state : { ...state, rollOut: { ...rollOut, ...change } };
}

/** Opens a view for a line. Only keys move the focus: further typing stays at the prompt. */
function openedByLine(state: State, overlay: Overlay): State {
  return { ...opened({ ...state, focus: 'table' }, overlay), focus: state.focus };
}

/** Keeps the old list object if the devices are the same, so that memoized results stay valid. */
function keepSelected(old: State['fleet'], next: State['fleet']): State['fleet'] {
  const isSame = isDeepStrictEqual(old.selected, next.selected);
  return isSame ? { ...next, selected: old.selected } : next;
}

type Edit = (state: State, key: EditKey) => State;

const editLine: Edit = (state, key) => ({ ...state, prompt: editPrompt(state.prompt, key) });

const editField: Edit = (state, key) =>
  state.form === undefined ? state : { ...state, form: editForm(state.form, key) };

const editAnswer: Edit = (state, key) =>
  changeQuestion(state, ({ editing }) => ({ complaint: undefined, editing: edit(editing, key) }));

/** How to edit, by context. Other contexts take no text. */
const EDITS: Readonly<Partial<Record<Context, Edit>>> = {
  plan: editAnswer,
  question: editAnswer,
  filter: (state, key) => withTable(state, { ...state.table, filter: editFilter(state, key) }),
  form: editField,
  'form-choice': editField,
  'form-pick': editField,
  search: editLine,
  menu: editLine,
  'empty-prompt': editLine,
  prompt: editLine,
  find: editFind,
  palette: editFind,
  // A user who types the next line can continue.
  waiting: (state, key) => (isTypedOn(state) ? editLine(state, key) : state),
};

/** The view that a key opens from anywhere. */
const OPENED = {
  help: () => ({ kind: 'help', top: 0 }),
  palette: paletteOf,
  messages: messagesOf,
  'roll-out': () => ({ kind: 'roll-out' }),
  devices: () => ({ kind: 'devices', cursor: 0 }),
  questions: () => NO_MARKS,
} satisfies Partial<Record<ViewAction, (state: State) => Overlay>>;

const goTable = (state: State): State =>
  withPrompt({ ...state, focus: 'table' }, { ...state.prompt, menu: undefined });

const OTHERS = {
  'go-table': goTable,
  'press-in-table': goTable,
  'leave-prompt': (state) =>
    isTypedView(state) ? { ...closed(state), focus: 'table' } : goTable(state),
  'close-typed': (state) => ({ ...closed(state), focus: 'prompt' }),
  // A form takes all keys, so it closes.
  'go-prompt': (state) => ({
    ...(state.form === undefined ? state : closed(state)),
    focus: 'prompt',
  }),
  back(state) {
    const { table } = state;
    if (table.filter.editing.line !== NO_FILTER.editing.line) {
      return withTable(state, { ...table, filter: NO_FILTER });
    }
    if (table.marks.size > 0) return withTable(state, { ...table, marks: new Map() });
    return state.backStack.length > 0 ? closed(state) : state;
  },
  pane: (state) => ({ ...state, isPaneHidden: !state.isPaneHidden }),
  close: (state) =>
    hasFind(state) && state.overlay.kind !== 'palette' ? clearedFind(state) : closed(state),
  details(state) {
    const shown = shownView(state);
    const isOwn = shown?.view.details !== undefined;
    const over = isOwn ? shown.view.details?.(shown.over, state) : detailsOfTable(state);
    return over ? opened(state, over) : state;
  },
  trouble: devicesInTrouble,
  // Only the view of drift takes these.
  whole: (state) => state,
  left: (state) => state,
  right: (state) => state,
  find: openedFind,
  'keep-find': keptFind,
  'clear-find': clearedFind,
  'next-found': (state) => nextFound(state, 1),
  'previous-found': (state) => nextFound(state, -1),
  unfold: (state) =>
    changeQuestion(state, (question) => ({
      isUnfolded: question.unfolded !== undefined && !question.isUnfolded,
      top: 0,
    })),
  'close-form': closeForm,
} satisfies Partial<Record<ViewAction, (state: State) => State>>;

function act(state: State, action: ViewAction): State {
  const { table } = state;
  const shown = shownView(state);
  const special = shown?.view.act?.(shown.over, state, action);
  if (special !== undefined) return special;
  const isOver = shown !== undefined || state.questions.length > 0;
  if (has(MOVES, action) && isOver) return scrolled(state, action);
  if ((action === 'sort' || action === 'reverse') && shown !== undefined)
    return sortedList(state, action);
  if (has(MOVES, action)) {
    const by = MOVES[action](Math.max(2, tableHeight(state)));
    return { ...state, table: { ...table, cursor: Math.max(0, table.cursor + by) } };
  }
  if (has(TABLE_ACTIONS, action)) return { ...state, table: TABLE_ACTIONS[action](state) };
  if (has(PROMPT_ACTIONS, action)) return withPrompt(state, PROMPT_ACTIONS[action](state.prompt));
  if (has(OPENED, action)) return opened(state, OPENED[action](state));
  if (has(OTHERS, action)) return OTHERS[action](state);
  return state.form === undefined ? state : { ...state, form: formAfter(state.form, action) };
}

function has<K extends string>(table: Readonly<Record<K, unknown>>, action: string): action is K {
  return Object.hasOwn(table, action);
}

const LOG_LIMIT = 2_000;

/** Appends lines, and removes those in `dropped` wherever they are. A repeated message is shown once. */
function appended(
  log: State['log'],
  dropped: readonly LogLine[],
  lines: readonly LogLine[],
): State['log'] {
  const isSaidAgain = ({ text }: LogLine): boolean => lines.some((one) => one.text === text);
  return {
    current: [...without(log.current, dropped).filter((one) => !isSaidAgain(one)), ...lines],
    all: [...without(log.all, dropped), ...lines].slice(-LOG_LIMIT),
  };
}

function without(lines: readonly LogLine[], dropped: readonly LogLine[]): readonly LogLine[] {
  return dropped.length === 0 ? lines : lines.filter((line) => !dropped.includes(line));
}
