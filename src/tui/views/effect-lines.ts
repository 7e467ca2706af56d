import type { Effect } from '../keys/key-binding.ts';
import type { State } from '../state.ts';
import {
  deleteLine,
  deviceLine,
  driftLine,
  editTextLine,
  jumpLine,
  resourceLine,
  runLine,
  useLine,
} from '../table/commands.ts';
import { questionLine } from './questions-list.ts';

/** The lines that a key runs. `index`: which of its keys it was. */
type LinesOf = (state: State, index: number) => readonly (string | undefined)[];

/** Every key that does the same as a line, and nothing else. */
const LINES = {
  'edit-text': (state) => [editTextLine(state)],
  delete: (state) => [deleteLine(state)],
  undo: () => ['undo'],
  runs: () => ['runs'],
  devices: () => ['devices'],
  resources: () => ['resources'],
  drift: (state) => [driftLine(state)],
  'compare-again': (state) => [driftLine(state)],
  'open-device': (state) => [deviceLine(state, 'open-device')],
  'connect-device': (state) => [deviceLine(state, 'connect-device')],
  'disconnect-device': (state) => [deviceLine(state, 'disconnect-device')],
  'trust-device': (state) => [deviceLine(state, 'trust-device')],
  'accept-questions': (state) => [questionLine(state, 'accept')],
  'decline-questions': (state) => [questionLine(state, 'decline')],
  'open-resource': (state) => [resourceLine(state)],
  'show-run': (state) => [runLine(state, 'show-run')],
  'resume-run': (state) => [runLine(state, 'resume-run')],
  'retry-run': (state) => [runLine(state, 'retry-run')],
  'undo-run': (state) => [runLine(state, 'undo-run')],
  'report-run': (state) => [runLine(state, 'report-run')],
  'jump-device': (state, index) => [jumpLine(state, index)],
  'go-on': (state, index) => [state.nextSteps[index]?.line],
  'first-demo': () => ['demo'],
  'first-help': () => ['help'],
  'all-devices': () => ['use all'],
  'next-device': (state) => [useLine(state, 1)],
  'previous-device': (state) => [useLine(state, -1)],
} as const satisfies Partial<Record<Effect, LinesOf>>;

/** An effect that is a line, run as if it had been typed. */
export type LineEffect = keyof typeof LINES;

export function isLineEffect(effect: Effect): effect is LineEffect {
  return Object.hasOwn(LINES, effect);
}

/** The lines for the state as it is; none where nothing is under the cursor. */
export function effectLines(effect: LineEffect, state: State, index: number): readonly string[] {
  const linesOf: LinesOf = LINES[effect];
  return linesOf(state, index).filter((line) => line !== undefined);
}
