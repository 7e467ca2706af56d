import type { MoveAction, ViewAction } from './keys/key-binding.ts';
import { NO_FIND, type Find, type OpenQuestion, type State } from './state.ts';
import { questionBox } from './screen/layout.ts';
import { edit, type EditKey } from './editor/line.ts';
import { movedTop, sought } from './views/view.ts';

/** Changes the current question; the others wait. */
export function changeQuestion(
  state: State,
  change: (question: OpenQuestion) => OpenQuestion,
): State {
  const [first, ...others] = state.questions;
  return first === undefined ? state : { ...state, questions: [change(first), ...others] };
}

export function editAnswer(state: State, key: EditKey): State {
  return changeQuestion(state, (question) => ({
    ...question,
    complaint: undefined,
    editing: edit(question.editing, key),
  }));
}

/** Rejects the answer with a reason, and clears it. */
export function rejected(state: State, text: string): State {
  return changeQuestion(state, (question) => ({
    ...question,
    complaint: text,
    editing: edit(question.editing, { kind: 'set', line: '' }),
  }));
}

export function scrolledQuestion(state: State, action: MoveAction): State {
  return changeQuestion(state, (question) => {
    const { height, depth } = questionBox(question, state.size);
    return { ...question, top: movedTop(question.top, action, height, depth) };
  });
}

const FIND_ACTIONS = ['find', 'keep-find', 'clear-find', 'next-found', 'previous-found'] as const;

type FindAction = (typeof FIND_ACTIONS)[number];

export function isFindAction(action: ViewAction): action is FindAction {
  return FIND_ACTIONS.some((one) => one === action);
}

/** `/` in a plan: all lines stay, and the plan scrolls to the match. */
export function searchPlan(state: State, action: FindAction): State {
  const changed = (change: (find: Find) => Find): State =>
    changeQuestion(state, (question) => ({ ...question, find: change(question.find) }));
  switch (action) {
    case 'find':
      return changed(() => ({ ...NO_FIND, isOpen: true }));
    case 'keep-find':
      return changed((find) => ({ ...find, isOpen: false }));
    case 'clear-find':
      return changed(() => NO_FIND);
    case 'next-found':
      return searchedPlan(state, (find) => find, 1);
    case 'previous-found':
      return searchedPlan(state, (find) => find, -1);
  }
}

/** Scrolls to the first match from the top of the window; `by`: to the next or previous one. */
export function searchedPlan(
  state: State,
  change: (find: Find) => Find,
  by: 0 | 1 | -1 = 0,
): State {
  return changeQuestion(state, (question) => {
    const find = change(question.find);
    const { details, height, depth } = questionBox(question, state.size);
    const { at, top } = sought(details, find, { top: question.top, height }, by);
    return { ...question, find: { ...find, at }, top: Math.min(depth, top) };
  });
}
