import { FIRST_STEPS } from '../../shell/help/first-run.ts';
import { fit, widthOf } from '../../output/width.ts';
import { visible } from '../../visible.ts';
import { lineText } from '../editor/line.ts';
import type { Keymap } from '../keys/key-binding.ts';
import type { State } from '../state.ts';

/** Whether the keys of the first run hold: nothing is set up, connected, typed or running. */
export function offersFirstSteps(state: State): boolean {
  const { firstRun, fleet, work, prompt } = state;
  return (
    firstRun !== undefined &&
    fleet.devices.length === 0 &&
    work === undefined &&
    lineText(prompt.editing.line) === ''
  );
}

/** What one can begin with, where the table will be: each step with its key, while that holds. */
export function firstStepRows(state: State): string[] {
  const hasKeys = state.focus === 'prompt' && offersFirstSteps(state);
  const width = Math.max(...FIRST_STEPS.map(({ line }) => widthOf(line)));
  return [
    '',
    `No device is connected yet. ${hasKeys ? 'Press a key, or type the words:' : 'Type one of these:'}`,
    '',
    ...FIRST_STEPS.map(({ line, summary }) => {
      const key = hasKeys ? (keyOf(line, state.keymap) ?? '') : '';
      return `  ${hasKeys ? `${fit(key, 2)} ` : ''}${fit(line, width)}  ${summary}`;
    }),
    ...(state.firstRun === undefined
      ? []
      : ['', `An inventory of your own goes to ${visible(state.firstRun.inventory)}.`]),
  ];
}

function keyOf(line: string, keymap: Keymap): string | undefined {
  return keymap.find(({ context, command }) => context === 'first-run' && command === line)
    ?.keys[0];
}
