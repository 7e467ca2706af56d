import { hideSecrets } from '../../shell/access/hide-secrets.ts';
import type { PromptState } from '../state.ts';

/**
 * How the newest line of the history goes on that begins as the one that is typed; '' when there is
 * none, or something else is to be seen at the end of the line. Never with a secret.
 */
export function ghostOf(prompt: PromptState): string {
  const { editing, history, recall, search, menu, problem } = prompt;
  const typed = editing.line.before;
  if (typed.trim() === '' || editing.line.after !== '') return '';
  if (recall !== undefined || search !== undefined || menu !== undefined) return '';
  if (problem !== undefined || typed.includes('\n')) return '';
  const line = history.findLast(
    (one) => one.length > typed.length && one.startsWith(typed) && hideSecrets(one) === one,
  );
  return line?.slice(typed.length) ?? '';
}

/** Its first word, with the blanks in front of it. */
export function firstWord(ghost: string): string {
  return /^\s*\S+/.exec(ghost)?.[0] ?? ghost;
}

/** What a key that moves to the right takes of the ghost: nothing where there is more of the line. */
export function takenOf(prompt: PromptState, kind: string): string {
  if (kind === 'right' || kind === 'end') return ghostOf(prompt);
  return kind === 'word-right' ? firstWord(ghostOf(prompt)) : '';
}
