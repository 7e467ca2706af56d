import { fit } from '../output/width.ts';
import { KEYMAP, type Context } from './key-bindings.ts';
import { keyText } from './keymap.ts';
import { wrapText } from './wrap.ts';

const SECTIONS: readonly { readonly context: Context | 'anywhere'; readonly title: string }[] = [
  { context: 'table', title: 'In the table' },
  { context: 'prompt', title: 'At the prompt' },
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
  { context: 'runs', title: 'In the list of runs' },
  { context: 'overlay', title: 'In texts like this one' },
  { context: 'anywhere', title: 'Everywhere' },
];

const EDITING =
  'The line is edited as in emacs and bash: ctrl-a and ctrl-e, ctrl-w, ctrl-k, ctrl-u and ctrl-y, ' +
  'alt-b, alt-f and alt-d, ctrl-t, ctrl-_ takes back.';

/** All keys with what they do and the command that does the same. */
export function helpLines(width: number): string[] {
  const keysWidth = 18;
  const sections = SECTIONS.flatMap(({ context, title }) => [
    title,
    ...KEYMAP.filter((binding) => binding.context === context).flatMap((binding) => {
      const keys = fit(binding.keys.map(keyText).join(' '), keysWidth);
      const command = binding.command === undefined ? '' : `  (${binding.command})`;
      const [first = '', ...rest] = wrapText(binding.label + command, width - keysWidth - 3);
      return [`  ${keys} ${first}`, ...rest.map((line) => ' '.repeat(keysWidth + 3) + line)];
    }),
    '',
  ]);
  return [
    'Commands are typed at the prompt: "help" lists them, "help user add" explains one.',
    '',
    ...sections,
    EDITING,
  ].flatMap((line) => wrapText(line, width));
}
