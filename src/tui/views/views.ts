import type { Invocation } from '../../shell/command.ts';
import type { DriftOutput, TableOutput } from '../../shell/output.ts';
import type { Overlay, State } from '../state.ts';
import { memoized } from '../store.ts';
import type { TextLine } from '../screen/theme.ts';
import { DETAILS } from './details.ts';
import { DEVICES } from './devices.ts';
import { DRIFT } from './drift.ts';
import { HELP } from './help.ts';
import { PAGER } from './pager.ts';
import { PALETTE } from './palette.ts';
import { QUESTIONS } from './questions.ts';
import { RESOURCES } from './resources.ts';
import { ROLL_OUT } from './roll-out.ts';
import { RUNS } from './runs.ts';
import { CHANGE, TIME_LINE } from './time-line.ts';
import { type ListView, type Over, type OverOf, type View } from './view.ts';

/** All views over the table. The help shows their keys in this order. */
const VIEWS: { readonly [K in Over['kind']]: View<OverOf<K>> } = {
  runs: RUNS,
  'time-line': TIME_LINE,
  change: CHANGE,
  devices: DEVICES,
  resources: RESOURCES,
  questions: QUESTIONS,
  drift: DRIFT,
  pager: PAGER,
  help: HELP,
  palette: PALETTE,
  'roll-out': ROLL_OUT,
  details: DETAILS,
};

const ALL: readonly View[] = Object.values(VIEWS);

export const VIEW_KEYS = ALL.flatMap(({ keys = [] }) => keys);

export function viewOf({ kind }: Over): View {
  return VIEWS[kind];
}

/** The view over the table; undefined while the table is visible. */
export function shownView({ overlay }: { readonly overlay: Overlay }) {
  return overlay.kind === 'none' ? undefined : { over: overlay, view: viewOf(overlay) };
}

export function listView(state: State): ListView | undefined {
  const shown = shownView(state);
  return shown?.view.list?.(shown.over, state);
}

/** The lines of a text view. Cached, because the bars and the body need them in each frame. */
export const viewLines = memoized((state: State): readonly TextLine[] => {
  const shown = shownView(state);
  return shown?.view.lines?.(shown.over, state) ?? [];
});

/** The view for a command's output, and the message if it lists nothing. */
export function viewFor(output: TableOutput | DriftOutput, invocation: Invocation, line: string) {
  for (const view of ALL) {
    const over = view.opening?.(output, invocation, line);
    if (over !== undefined) return { over, nothing: view.nothing ?? 'nothing to list' };
  }
  return undefined;
}
