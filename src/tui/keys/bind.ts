import type { Context, KeyBinding, State } from '../state.ts';
import type { Effect, Facts, Key, Line, Start, ViewAction } from './key-binding.ts';

/* Tables of keys are made with these: one place, one row for each key. */

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

/** A key that runs a line. */
export function lineKey(
  keys: Key<State>['keys'],
  action: string,
  label: string,
  run: Line<State>['run'],
  facts: Facts<State> & Omit<Line<State>, 'run'> = {},
): Key<State> {
  return { keys, action, label, run, ...facts };
}

/** A key that begins a line at the prompt. */
export function startKey(
  keys: Key<State>['keys'],
  action: string,
  label: string,
  start: Start<State>['start'],
  facts: Facts<State> = {},
): Key<State> {
  return { keys, action, label, start, ...facts };
}
