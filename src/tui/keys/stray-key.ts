import { contextOf, keyNameOf } from './keymap.ts';
import type { Context } from './key-binding.ts';
import type { State } from '../state.ts';

/** Where keys move and act, and none is typed into a line. */
const NOT_TYPED_IN: readonly Context[] = [
  'table',
  'overlay',
  'runs',
  'devices',
  'resources',
  'questions',
  'drift',
];

/**
 * What to say of a key that means nothing where the focus is: who types a command there has to go to
 * the prompt first. Undefined where keys are typed.
 */
export function strayText(state: State): string | undefined {
  const context = contextOf(state);
  if (!NOT_TYPED_IN.includes(context)) return undefined;
  const ways = [
    ['go-prompt', 'leads to the prompt'],
    ['help', 'lists the keys'],
  ] as const;
  const said = ways.flatMap(([action, what]) => {
    const key = keyNameOf(action, context, state.keymap);
    return key === undefined ? [] : [`"${key}" ${what}`];
  });
  return ['that key does nothing here', said.join(', ')].filter(Boolean).join('; ');
}
