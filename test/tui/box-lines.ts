import { layoutOf } from '../../src/tui/screen/layout.ts';
import { textOfLine } from '../../src/tui/screen/theme.ts';
import type { State } from '../../src/tui/state.ts';

/** The texts of the box of a question: its edges, and the lines in it. */
export function questionLines(state: State): string[] {
  const { question } = layoutOf(state);
  if (question === undefined) return [];
  return [question.title, question.scroll, ...question.lines.map(textOfLine)];
}

/** Rows of the screen that the boxes take. */
export function boxRows(state: State): number {
  const { question } = layoutOf(state);
  const edges = question?.hasEdges === true ? 2 : 0;
  return (question?.lines.length ?? 0) + edges;
}
