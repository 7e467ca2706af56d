import { fit, widthOf } from '../../text/width.ts';
import { EDIT_KEYS } from '../editor/line.ts';
import { disabledReason } from '../keys/disabled-keys.ts';
import type { Context, State, KeyBinding } from '../state.ts';
import { contextOf, keyText } from '../keys/keymap.ts';
import { wrapText } from '../screen/wrap.ts';

export const KEY_SECTIONS: readonly {
  readonly context: Context | 'anywhere';
  readonly title: string;
}[] = [
  { context: 'table', title: 'In the table' },
  { context: 'prompt', title: 'At the prompt' },
  { context: 'empty-prompt', title: 'At the prompt, while nothing is typed' },
  { context: 'first-run', title: 'While nothing is set up yet' },
  { context: 'go-on', title: 'While nothing is connected, and there is something to go on with' },
  { context: 'menu', title: 'While proposals are open' },
  { context: 'search', title: 'While searching in history' },
  { context: 'filter', title: 'While typing a filter' },
  { context: 'form', title: 'In a form' },
  { context: 'form-switch', title: 'On a field that is true or false' },
  { context: 'form-choice', title: 'On a field with choices' },
  { context: 'form-pick', title: 'While choices are open' },
  { context: 'form-run', title: 'On the command of a form' },
  { context: 'question', title: 'When something is asked' },
  { context: 'plan', title: 'When a plan is shown' },
  { context: 'plan-find', title: 'While searching in a plan' },
  { context: 'runs', title: 'In the list of runs' },
  { context: 'devices', title: 'In the list of devices' },
  { context: 'resources', title: 'In the list of resources' },
  { context: 'questions', title: 'In the list of questions' },
  { context: 'drift', title: 'While devices are compared' },
  { context: 'find', title: 'While searching in a view' },
  { context: 'overlay', title: 'In texts like this one, and in lists' },
  { context: 'anywhere', title: 'Everywhere' },
];

const KEYS_WIDTH = 18;

/** All keys with what they do, the command that does the same, and why some do nothing now. */
export function helpLines(state: State): string[] {
  const width = state.size.columns - 2;
  const here = contextBelow(state);
  const [first, others] = [true, false].map((isHere) =>
    KEY_SECTIONS.filter(({ context }) => (context === here) === isHere),
  );
  const sections = [...(first ?? []), ...(others ?? [])].flatMap(({ context, title }) => [
    title,
    ...state.keymap
      .filter((binding) => binding.context === context)
      .flatMap((binding) => bindingLines(binding, state, width)),
    '',
  ]);
  return [
    'Commands are typed at the prompt: "help" lists them, "help user add" explains one.',
    '',
    ...sections,
    'Where a line is typed, as in emacs and bash',
    ...EDIT_KEYS.map(({ keys, label }) => {
      const names = keys.map(keyText).join(' ');
      const isLong = widthOf(names) > KEYS_WIDTH;
      return `  ${isLong ? names : fit(names, KEYS_WIDTH)} ${label}`;
    }),
  ].flatMap((line) => wrapText(line, width));
}

/** Where one was when the help was opened: its keys come first. */
function contextBelow(state: State): Context {
  const place = state.trail.at(-1);
  if (state.overlay.kind !== 'help' || place === undefined) return contextOf(state);
  return contextOf({ ...state, focus: place.focus, overlay: place.overlay });
}

function bindingLines(binding: KeyBinding, state: State, width: number): string[] {
  const keys = binding.keys.length === 0 ? '(no key)' : binding.keys.map(keyText).join(' ');
  const command = binding.command === undefined ? '' : `  (${binding.command})`;
  const reason = disabledReason(binding.action, state);
  const why = reason === undefined ? '' : `; not now: ${reason}`;
  const room = width - KEYS_WIDTH - 3;
  const isLong = widthOf(keys) > KEYS_WIDTH;
  const lines = wrapText(binding.label + command + why, room);
  const first = isLong ? '' : (lines.shift() ?? '');
  const head = `  ${isLong ? keys : fit(keys, KEYS_WIDTH)} ${first}`.trimEnd();
  return [head, ...lines.map((line) => ' '.repeat(KEYS_WIDTH + 3) + line)];
}
