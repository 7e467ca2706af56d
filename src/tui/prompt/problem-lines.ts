import { visible } from '../../text/visible.ts';
import type { LineProblem } from '../state.ts';
import { wrapText } from '../screen/wrap.ts';

/** What is wrong with a line and what was meant, under the `^` that points at it. */
export function problemLines(problem: LineProblem, columns: number): string[] {
  const { suggestions, message } = problem;
  const meant = suggestions.map((text) => `'${visible(text)}'`).join(' or ');
  const text = suggestions.length > 0 ? `${message}; did you mean ${meant}?` : message;
  return wrapText(text, columns - 2);
}
