import { FIRST_STEPS } from '../../shell/help/first-run.ts';
import { fit, widthOf } from '../../text/width.ts';
import { visible } from '../../text/visible.ts';
import { lineText } from '../editor/line.ts';
import type { Context, Keymap, State } from '../state.ts';

/** Whether the keys of the first screen hold: nothing is connected, typed or running. */
export function offersFirstSteps(state: State): boolean {
  const { firstRun, nextSteps, fleet, work, prompt } = state;
  return (
    (firstRun !== undefined || nextSteps.length > 0) &&
    fleet.devices.length === 0 &&
    work === undefined &&
    lineText(prompt.editing.line) === ''
  );
}

/** What one can begin with, where the table will be: each step with its key, while that holds. */
export function firstStepRows(state: State): string[] {
  const hasKeys = state.focus === 'prompt' && offersFirstSteps(state);
  const isNext = state.nextSteps.length > 0;
  const steps = isNext ? state.nextSteps : FIRST_STEPS;
  const { columns } = state.size;
  const shown = steps.map(({ line, summary }) => [visible(line), visible(summary)] as const);
  const width = Math.min(
    Math.floor(columns * 0.6),
    Math.max(...shown.map(([line]) => widthOf(line))),
  );
  const keyAt = (index: number): string | undefined =>
    isNext ? keysOf('go-on', state.keymap)[index] : keyOf(steps[index]?.line ?? '', state.keymap);
  return [
    '',
    `No device is connected yet. ${hasKeys ? 'Press a key, or type the words:' : 'Type one of these:'}`,
    '',
    ...shown.map(([line, summary], index) => {
      const key = hasKeys ? (keyAt(index) ?? '') : '';
      return `  ${hasKeys ? `${fit(key, 2)} ` : ''}${fit(line, width)}  ${summary}`;
    }),
    ...(state.firstRun === undefined || isNext
      ? []
      : ['', `An inventory of your own goes to ${visible(state.firstRun.inventory)}.`]),
  ];
}

function keysOf(context: Context, keymap: Keymap): readonly string[] {
  return keymap.find((binding) => binding.context === context)?.keys ?? [];
}

function keyOf(line: string, keymap: Keymap): string | undefined {
  return keymap.find(({ context, command }) => context === 'first-run' && command === line)
    ?.keys[0];
}
