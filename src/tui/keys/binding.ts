import type { Context, KeyBinding, State } from '../state.ts';
import type { Effect, Facts, Key, LineFacts, ViewAction } from './key-binding.ts';
import { lineText } from '../editor/line.ts';
import { shownDevices, tableRows } from '../table/rows.ts';

/* Helpers for tables of keys: one row for each key. */

export function keysOf(
  context: Context,
  place: string,
  keys: readonly Key<State>[],
): readonly KeyBinding[] {
  return keys.map((one) => ({ ...one, context, place }));
}

export function key(
  keys: Key<State>['keys'],
  action: ViewAction | Effect,
  label: string,
  facts: Facts<State> = {},
): Key<State> {
  return { keys, action, label, ...facts };
}

export function lineKey(
  keys: Key<State>['keys'],
  action: string,
  label: string,
  run: LineFacts<State>['run'],
  facts: Facts<State> & Omit<LineFacts<State>, 'run'> = {},
): Key<State> {
  return { keys, action, label, run, ...facts };
}

/* Reasons why keys do nothing now, which apply in several places. */

export type Reason = (state: State) => string | undefined;

export const noDevice: Reason = ({ fleet }) =>
  fleet.devices.length === 0 ? 'no device is connected: type ":" and "connect ADDRESS"' : undefined;

export const readOnly: Reason = ({ fleet }) =>
  fleet.isReadOnly ? 'read-only: no changes are allowed' : undefined;

/** Only a present record can be changed. */
const isPast: Reason = ({ table }) =>
  table.view.isPast ? 'this was read earlier: esc goes back to what is so now' : undefined;

const noRecord: Reason = (state) => {
  if (tableRows(state).rows.length > 0) return undefined;
  const { filter, commandFilter } = state.table;
  const isFiltered = filter.parsed.terms.length > 0 || commandFilter !== '';
  return isFiltered ? 'no record matches the filter' : 'no record here';
};

const nothingChosen: Reason = (state) => {
  const { marks } = state.table;
  if (marks.size === 0) return noRecord(state) && 'no marked record, and no record here';
  return shownDevices(state).some((name) => marks.has(name))
    ? undefined
    : 'the marked records are on devices that are not selected';
};

const oneConnected: Reason = ({ fleet }) =>
  fleet.devices.length < 2 ? 'only one device is connected' : undefined;

const oneSelected: Reason = ({ fleet }) =>
  fleet.selected.length < 2 ? 'a comparison needs two or more devices: select more' : undefined;

/** The help is allowed, because it calls this for the view that it covers. */
export const noList: Reason = ({ overlay }) =>
  'cursor' in overlay || overlay.kind === 'none' || overlay.kind === 'help'
    ? undefined
    : 'only lists can be sorted';

export const noLines: Reason = ({ overlay }) =>
  overlay.kind === 'roll-out' ? 'the messages have the lines of a run: m' : undefined;

export const nothingFound: Reason = ({ find, questions: [question] }) =>
  lineText((question?.find ?? find).editing.line) === ''
    ? 'no search yet: "/" starts one'
    : undefined;

export const isAsked: Reason = ({ questions }) =>
  questions.length > 0 ? 'answer this question first' : undefined;

/** Why the devices do not offer a write, as far as known. */
function notOffered(action: 'add' | 'set' | 'delete'): Reason {
  return ({ fleet, table }) => fleet.denied.get(table.view.resource)?.[action];
}

export function firstOf(...reasons: readonly Reason[]): Reason {
  return (state) => {
    for (const reason of reasons) {
      const text = reason(state);
      if (text !== undefined) return text;
    }
    return undefined;
  };
}

export const noRow = firstOf(noDevice, noRecord);
export const noRollOut: Reason = ({ rollOut }) =>
  rollOut === undefined ? 'no run on more than three devices yet' : undefined;
export const noTrouble = firstOf(noDevice, ({ fleet }) =>
  fleet.devices.every(({ kind }) => kind === 'ready') ? 'every device responds' : undefined,
);
export const nothingMarked = firstOf(noDevice, nothingChosen);
export const oneDevice = firstOf(noDevice, oneConnected);
export const nothingToCompare = firstOf(noDevice, oneSelected);
export const noUndo = firstOf(noDevice, readOnly);
export const noAdd = firstOf(noUndo, notOffered('add'));
export const noSetOfMarked = firstOf(noUndo, isPast, nothingChosen, notOffered('set'));
export const noDelete = firstOf(noUndo, isPast, nothingChosen, notOffered('delete'));
