import { layoutOf } from '../../src/tui/screen/layout.ts';
import { textOfLine } from '../../src/tui/screen/theme.ts';
import type { State } from '../../src/tui/state.ts';
import { planTextLines } from '../../src/tui/views/plan-lines.ts';

/** The texts of the box of a question: its edges, and the lines in it. */
export function questionLines(state: State): string[] {
  const { question } = layoutOf(state);
  if (question === undefined) return [];
  const { title, scroll, texts, width, top, height, asked } = question;
  const seen = planTextLines(texts, width).slice(top, top + height);
  return [title, scroll, ...[...seen, ...asked].map(textOfLine)];
}

/** Rows of the screen that the boxes take. */
export function boxRows(state: State): number {
  const { question } = layoutOf(state);
  if (question === undefined) return 0;
  return question.height + question.asked.length + (question.hasEdges ? 2 : 0);
}
