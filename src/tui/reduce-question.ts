import type { MoveAction } from './actions.ts';
import { questionWindow } from './screen/layout.ts';
import { edit, type EditKey } from './editor/line.ts';
import { movedTop } from './table/moved-top.ts';
import type { OpenQuestion, State } from './state.ts';

/** Changes the question that is asked; the others wait. */
export function changeQuestion(
  state: State,
  change: (question: OpenQuestion) => OpenQuestion,
): State {
  const [first, ...others] = state.questions;
  return first === undefined ? state : { ...state, questions: [change(first), ...others] };
}

/** A key that edits the answer. */
export function editAnswer(state: State, key: EditKey): State {
  return changeQuestion(state, (question) => ({
    ...question,
    complaint: undefined,
    editing: edit(question.editing, key),
  }));
}

/** The answer will not do: says why, and takes another one. */
export function complained(state: State, text: string): State {
  return changeQuestion(state, (question) => ({
    ...question,
    complaint: text,
    editing: edit(question.editing, { kind: 'set', line: '' }),
  }));
}

export function scrolledQuestion(state: State, action: MoveAction): State {
  return changeQuestion(state, (question) => {
    const { height, depth } = questionWindow(state, question);
    return { ...question, top: movedTop(question.top, action, height, depth) };
  });
}
