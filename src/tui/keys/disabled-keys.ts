import type { ViewAction } from './key-binding.ts';
import type { Effect } from './key-binding.ts';
import { lineText } from '../editor/line.ts';
import type { State } from '../state.ts';
import { tableRows } from '../table/rows.ts';
import { driftRows } from '../views/drift-list.ts';
import { chosenQuestions, currentQuestion } from '../views/questions-list.ts';
import { listView } from '../views/list-view.ts';
import { listed } from '../views/listed.ts';

type Reason = (state: State) => string | undefined;

const noDevice: Reason = ({ fleet }) =>
  fleet.devices.length === 0 ? 'no device is connected: ":" and "connect ADDRESS"' : undefined;

const readOnly: Reason = ({ fleet }) =>
  fleet.isReadOnly ? 'read-only: nothing may be changed' : undefined;

const noRow: Reason = (state) => {
  if (tableRows(state).rows.length > 0) return undefined;
  const { filter, commandFilter } = state.table;
  const isFiltered = filter.parsed.terms.length > 0 || commandFilter !== '';
  return isFiltered ? 'no record matches the filter' : 'there is no record here';
};

const nothingMarked: Reason = (state) =>
  state.table.marks.size > 0
    ? undefined
    : noRow(state) && 'nothing is marked, and no record is here';

const oneDevice: Reason = ({ fleet }) =>
  fleet.devices.length < 2 ? 'only one device is connected' : undefined;

const oneSelected: Reason = ({ fleet }) =>
  fleet.selected.length < 2 ? 'one device cannot be compared: select two or more' : undefined;

const noText: Reason = ({ overlay }) =>
  'cursor' in overlay ? 'a list shows nothing else' : undefined;

const noList: Reason = ({ overlay }) =>
  'cursor' in overlay || overlay.kind === 'none' ? undefined : 'a text stays in its order';

const nothingFound: Reason = ({ find, questions: [question] }) =>
  lineText((question?.find ?? find).editing.line) === ''
    ? 'nothing was searched for: "/" does'
    : undefined;

const noRun: Reason = (state) =>
  state.overlay.kind === 'runs' && listed(state)?.rows.length === 0
    ? 'there is no run here'
    : undefined;

const noQuestion: Reason = ({ overlay, fleet }) =>
  overlay.kind === 'questions' && fleet.questions.length === 0
    ? 'nothing waits for an answer'
    : undefined;

/** Its connection would be opened anew between what was planned and what is sent. */
const isWritten: Reason = (state) => {
  const name = chosenQuestions(state).find((one) => state.work?.writes.includes(one.name))?.name;
  return name && `${name} is being written to: answer it when that has ended`;
};

const cannotMark: Reason = (state) => {
  if (state.overlay.kind !== 'questions') return firstOf(noDevice, noRow)(state);
  return currentQuestion(state)?.kind === 'changed'
    ? 'a changed certificate is replaced by itself: compare, and accept it here'
    : noQuestion(state);
};

/** What the devices offer, as far as they have said so. */
function notOffered(action: 'add' | 'set' | 'delete'): Reason {
  return ({ fleet, table }) => fleet.denied.get(table.view.resource)?.[action];
}

function firstOf(...reasons: readonly Reason[]): Reason {
  return (state) => {
    for (const reason of reasons) {
      const text = reason(state);
      if (text !== undefined) return text;
    }
    return undefined;
  };
}

const detailsReason: Reason = (state) => {
  const { overlay } = state;
  if (overlay.kind !== 'drift') return firstOf(noDevice, noRow)(state);
  return driftRows(overlay, state.find).length === 0 ? 'nothing differs' : undefined;
};

/** Texts have at least a line, and the help asks here while it is made: they are not looked at. */
const nothingToPage: Reason = (state) => {
  if (state.overlay.kind === 'none') return firstOf(noDevice, noRow)(state);
  const list = listView(state);
  return list?.count === 0 ? list.empty : undefined;
};

const change = firstOf(noDevice, readOnly, noRow, notOffered('set'));
const create = firstOf(noDevice, readOnly, notOffered('add'));

const REASONS: Readonly<Partial<Record<ViewAction | Effect, Reason>>> = {
  add: create,
  'add-form': create,
  'edit-record': change,
  'edit-form': change,
  'edit-text': firstOf(noDevice, readOnly, nothingMarked, notOffered('set')),
  delete: firstOf(noDevice, readOnly, nothingMarked, notOffered('delete')),
  undo: firstOf(noDevice, readOnly),
  devices: noDevice,
  resources: noDevice,
  drift: firstOf(noDevice, oneSelected),
  'open-device': noDevice,
  'connect-device': noDevice,
  'disconnect-device': noDevice,
  'trust-device': noDevice,
  sort: noList,
  reverse: noList,
  'only-found': firstOf(noText, nothingFound),
  'next-found': nothingFound,
  'previous-found': nothingFound,
  'resume-run': firstOf(noRun, readOnly),
  'retry-run': firstOf(noRun, readOnly),
  'undo-run': firstOf(noRun, readOnly),
  'show-run': noRun,
  'report-run': noRun,
  copy: firstOf(noDevice, nothingMarked),
  details: detailsReason,
  questions: ({ questions }) => (questions.length > 0 ? 'this is to be answered first' : undefined),
  'accept-questions': firstOf(noQuestion, isWritten),
  'decline-questions': noQuestion,
  mark: cannotMark,
  'mark-all': (state) =>
    state.overlay.kind === 'questions' ? noQuestion(state) : firstOf(noDevice, noRow)(state),
  refresh: noDevice,
  'page-out': nothingToPage,
  export: noDevice,
  filter: noDevice,
  fold: firstOf(noDevice, oneDevice),
  'next-device': firstOf(noDevice, oneDevice),
  'previous-device': firstOf(noDevice, oneDevice),
  'all-devices': noDevice,
  'jump-device': noDevice,
};

/** Why a key would do nothing now, in words for the status line; undefined: it does what it says. */
export function disabledReason(action: ViewAction | Effect, state: State): string | undefined {
  return REASONS[action]?.(state);
}
