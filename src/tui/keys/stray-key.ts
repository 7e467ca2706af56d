import { contextOf, keyNameOf } from './keymap.ts';
import type { Context, State } from '../state.ts';

const ACTED_IN: readonly Context[] = [
  'table',
  'overlay',
  'runs',
  'devices',
  'resources',
  'questions',
  'drift',
];

/** Whether keys move and act there, and none is typed into a line. */
export function isActedIn(context: Context): boolean {
  return ACTED_IN.includes(context);
}

/**
 * What to say of a key that means nothing where the focus is: who types a command there has to go to
 * the prompt first. Undefined where keys are typed.
 */
export function strayText(state: State): string | undefined {
  const context = contextOf(state);
  if (!isActedIn(context)) return undefined;
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
