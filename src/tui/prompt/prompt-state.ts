import type { Completion } from '../../shell/completion/complete.ts';
import type { Editing } from '../editor/line.ts';

export interface PromptState {
  readonly editing: Editing;
  /** The oldest line first. */
  readonly history: readonly string[];
  /** While the user browses the history: the index, and the line that was typed before. */
  readonly recall: { readonly at: number; readonly draft: string } | undefined;
  readonly search: HistorySearch | undefined;
  readonly menu: Menu | undefined;
  /** What is wrong with the line; cleared by the next key. */
  readonly problem: LineProblem | undefined;
}

export interface LineProblem {
  readonly message: string;
  /** In UTF-16 units from 0. */
  readonly column: number | undefined;
  readonly suggestions: readonly string[];
}

/** Ctrl-R: `at` is the index of the match in the history. */
export interface HistorySearch {
  readonly query: string;
  readonly at: number | undefined;
}

export interface Menu {
  readonly completion: Completion;
  /** The line at the time of completion. */
  readonly line: string;
  /** Whether a pause has opened it, not Tab. */
  readonly isOffered?: boolean | undefined;
  /** Index of the chosen proposal; undefined until Tab is pressed again. */
  readonly chosen: number | undefined;
}
