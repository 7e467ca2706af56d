import { parseLine } from '../../shell/grammar/parse.ts';
import type { Line } from '../editor/line.ts';
import { setLine } from './reduce-prompt.ts';
import type { PromptState } from '../state.ts';

/** What Alt-. put in: the word, from which line of history, and the line without and with it. */
export interface LastArgument {
  readonly at: number;
  readonly word: string;
  readonly base: Line;
  readonly line: Line;
}

/** The last word of the line before, at the cursor; again, in its place that of an older line. */
export function putLastArgument(prompt: PromptState): PromptState {
  const { history, editing, lastArgument } = prompt;
  // Any other key has made another line.
  const put = lastArgument?.line === editing.line ? lastArgument : undefined;
  const base = put?.base ?? editing.line;
  for (let at = (put?.at ?? history.length) - 1; at >= 0; at--) {
    const word = lastWord(history[at] ?? '');
    if (word === '' || word === put?.word) continue;
    const next = setLine(prompt, { ...base, before: base.before + word });
    return { ...next, lastArgument: { at, word, base, line: next.editing.line } };
  }
  return prompt;
}

/** As it was typed, with its quotes. */
function lastWord(line: string): string {
  const last = parseLine(line).words.at(-1);
  return last === undefined ? '' : line.slice(last.start, last.end);
}
